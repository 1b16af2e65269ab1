"""What staff try who may do something, and want to do more."""

from typing import Any

import pytest
from django.contrib import admin as django_admin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import (
    CharField,
    Field,
    FileField,
    ForeignKey,
    JSONField,
    Model,
    TextField,
)
from django.test import Client
from django.urls import reverse

from chat.models import (
    AuditEntry,
    Folder,
    Generation,
    Invitation,
    LanguageModel,
    Part,
    Profile,
    Prompt,
    Provider,
)
from chat.services.catalog.defaults import ensure_defaults
from chat.services.pool import close_connections
from tests.support import factories as make
from tests.support.world import KEY, secrets_in

SECRET = "My diary of hens"
TEXTS = (CharField, FileField, JSONField, TextField)


def grant(person: User, *rights: str) -> None:
    person.user_permissions.add(*Permission.objects.filter(codename__in=rights))


def grant_view(person: User, model: type[Model]) -> None:
    """To see these rows, and no others."""
    person.user_permissions.clear()
    grant(person, f"view_{model._meta.model_name}")


def page_of(row: Model) -> str:
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_change"
    return reverse(name, args=[row.pk])


def list_of(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


# --- reading without a reason -----------------------------------------------------


@pytest.mark.parametrize(
    ("model", "lookup"),
    [
        ("part", "text__contains"),
        ("part", "message__parts__text__startswith"),
        ("part", "data__icontains"),
        ("part", "conversation__title__contains"),
        ("message", "parts__text__contains"),
        ("message", "system__contains"),
        ("conversation", "messages__parts__text__contains"),
        ("queuedmessage", "text__contains"),
        ("attachment", "message__parts__text__contains"),
        ("folder", "instructions__contains"),
        ("prompt", "text__contains"),
        ("profile", "instructions__contains"),
        ("user", "profile__instructions__contains"),
        ("provider", "extra_headers__icontains"),
        ("sharelink", "messages__icontains"),
        ("requestlog", "headers__icontains"),
    ],
)
def test_a_list_does_not_tell_what_stands_in_a_row(admin: Client, model: str, lookup: str) -> None:
    """Narrowed by a column that its filters do not name, it would: letter by letter."""
    talk = make.a_conversation(make.a_user("olivia"), title=SECRET)
    make.a_message_with_parts(talk, text=SECRET)
    app = "auth" if model == "user" else "chat"
    address = reverse(f"admin:{app}_{model}_changelist")
    assert admin.get(address, {lookup: "My"}).status_code == 400


def test_no_list_is_narrowed_by_words(admin: Client) -> None:
    """All columns of all lists, but for those that stand beside the list as a filter."""
    open_to = {
        (model._meta.label, field.name)
        for model, rows in django_admin.site._registry.items()
        for field in model._meta.get_fields()
        if isinstance(field, TEXTS) and isinstance(field, Field)
        and field.name not in {each for each in rows.list_filter if isinstance(each, str)}
        and not field.primary_key
        and rows.lookup_allowed(f"{field.name}__startswith", "x", None)  # type: ignore[arg-type]
    }  # fmt: skip
    assert open_to == set()


@pytest.mark.parametrize("narrowed", ["message__id", "conversation__id", "conversation_id"])
def test_a_list_is_still_narrowed_by_what_its_rows_belong_to(admin: Client, narrowed: str) -> None:
    talk = make.a_conversation()
    make.a_message_with_parts(talk)
    part = Part.objects.get()
    value = part.message_id if narrowed.startswith("message") else talk.pk
    assert admin.get(list_of(Part), {narrowed: str(value)}).status_code == 200


def test_what_people_wrote_for_themselves_is_not_shown(admin: Client) -> None:
    """Their prompts, the instructions of their folders, and those for every answer."""
    olivia = make.a_user("olivia")
    Profile.objects.create(user=olivia, instructions=SECRET)
    prompt = Prompt.objects.create(owner=olivia, name="hens", text=SECRET)
    folder = Folder.objects.create(owner=olivia, name="Hens", instructions=SECRET)
    for row in (prompt, folder, olivia, Profile.objects.get(user=olivia)):
        page = admin.get(page_of(row))
        assert page.status_code == 200
        assert SECRET not in page.content.decode(), row
    assert admin.post(page_of(prompt), {"name": "hens", "text": "Mine"}).status_code == 403
    assert Prompt.objects.get().text == SECRET
    found = admin.get(list_of(Prompt), {"q": "diary"}).content.decode()
    assert "/hens" not in found
    shared = Prompt.objects.create(name="all", text="For everybody")
    assert "For everybody" in admin.get(page_of(shared)).content.decode()


def test_saving_a_person_keeps_their_instructions(admin: Client) -> None:
    olivia = make.a_user("olivia")
    profile = Profile.objects.create(user=olivia, instructions=SECRET)
    given = {"user": str(olivia.pk), "theme": "dark", "language": "", "time_zone": ""}
    assert admin.post(page_of(profile), given).status_code == 302
    profile.refresh_from_db()
    assert (profile.theme, profile.instructions) == ("dark", SECRET)


# --- one right taken for another --------------------------------------------------


def test_adding_providers_is_no_right_to_change_one(client: Client, staff: User) -> None:
    """Whoever connects a model again at the same address gives it another key."""
    provider = make.a_provider(
        name="Acme", kind="openai", base_url="http://127.0.0.1:9/v1", api_key=KEY, enabled=False
    )
    grant(staff, "add_provider")
    client.force_login(staff)
    given = {"kind": "openai", "base_url": provider.base_url, "api_key": "sk-mine-0123456789"}
    page = client.post(f"{reverse('admin:connect')}?preset=custom", given)
    assert "you may not change it" in page.content.decode()
    provider.refresh_from_db()
    assert (provider.enabled, str(provider.api_key)) == (False, KEY)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["front", "list", "conversation"])
@pytest.mark.parametrize("may", [True, False])
def test_stopping_takes_one_right_everywhere_and_is_written_down(
    way: str, may: bool, client: Client
) -> None:
    staff = make.a_user("sam", is_staff=True)
    # As much as one needs to come so far, and the right to change the row.
    grant(staff, "view_generation", "change_generation", "view_conversation")
    if may:
        grant(staff, "stop_generation")
    client.force_login(staff)
    run = make.a_generation()
    addresses: dict[str, tuple[str, dict[str, Any]]] = {
        "front": (reverse("admin:stop_answer", args=[run.pk]), {}),
        "list": (list_of(Generation), {"action": "stop", "_selected_action": [str(run.pk)]}),
        "conversation": (
            reverse("admin:chat_conversation_act", args=[run.conversation_id, "stop"]),
            {},
        ),
    }
    address, given = addresses[way]
    client.post(address, given)
    run.refresh_from_db()
    close_connections()
    assert bool(run.stop_requested_by) is may
    assert [entry.verb for entry in AuditEntry.objects.all()] == (["stop"] if may else [])


@pytest.mark.parametrize("rights", [(), ("view_requestlog",)])
def test_an_invitation_is_handed_out_by_whoever_has_what_it_gives(
    rights: tuple[str, ...], client: Client, staff: User
) -> None:
    """Whoever reads its link can make themselves an account with all of it."""
    auditors = Group.objects.create(name="log readers")
    auditors.permissions.set(Permission.objects.filter(codename="view_requestlog"))
    client.force_login(make.a_superuser("root"))
    given = {"note": "Ivan", "groups": [auditors.pk], "days": "7"}
    page = client.post(reverse("admin:chat_invitation_add"), given, follow=True).content.decode()
    assert "/accounts/invitation/" in page
    grant(staff, "view_invitation", "add_invitation", *rights)
    client.force_login(staff)
    page = client.get(page_of(Invitation.objects.get())).content.decode()
    assert "Ivan" in page
    assert ("/accounts/invitation/" in page) is bool(rights)


def test_nobody_sets_anything_for_whoever_may_do_more(client: Client, staff: User) -> None:
    root, olivia = make.a_superuser("root"), make.a_user("olivia")
    theirs = Profile.objects.create(user=root, theme="light")
    grant(staff, "view_profile", "add_profile", "change_profile", "delete_profile", "view_user")
    client.force_login(staff)
    given = {"theme": "dark", "language": "", "time_zone": "", "effort": ""}
    assert client.get(page_of(theirs)).status_code == 200
    assert client.post(page_of(theirs), given).status_code == 403
    delete = reverse("admin:chat_profile_delete", args=[root.pk])
    assert client.post(delete, {"post": "yes"}).status_code == 403
    hers = Profile.objects.create(user=olivia, theme="light")
    # Not by giving one's own profile another name either.
    assert client.post(page_of(hers), {**given, "user": "root"}).status_code == 302
    theirs.delete()
    added = client.post(reverse("admin:chat_profile_add"), {**given, "user": "root"})
    assert added.status_code == 403
    assert dict(Profile.objects.values_list("user__username", "theme")) == {"olivia": "dark"}


def test_a_program_is_started_by_superusers_alone(client: Client, staff: User) -> None:
    """Also from the list of models."""
    program = make.a_provider(name="Claude Code", kind="claude_code")
    model = make.a_model(program, model_id="sonnet")
    grant(staff, "view_languagemodel", "change_languagemodel")
    client.force_login(staff)
    chosen = {"action": "test", "_selected_action": [str(model.pk)]}
    page = client.post(list_of(LanguageModel), chosen, follow=True).content.decode()
    assert "does not answer" not in page
    assert "Claude Code is a program, which only superusers may run." in page
    client.force_login(make.a_superuser("root"))
    page = client.post(list_of(LanguageModel), chosen, follow=True).content.decode()
    assert "does not answer" in page


# What is put into an address to see what a page does with it.
ODD = (
    "q=%22", "q=%00", "o=99.-99.x", "p=-1", "p=99999", "all=1", "e=1", "_popup=1",
    "_popup=1&_to_field=id", "_to_field=password", "_to_field=text", "_to_field=api_key",
    "_changelist_filters=q%3D%3Cb%3E", "_facets=True",
    "pk__in=x", "id=x", "created__year=x", "owner__password__startswith=p", "x__y=1",
)  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("odd", ODD)
def test_odd_addresses_are_refused_or_answered(
    odd: str, admin: Client, rows: dict[type[Model], Any]
) -> None:
    for model in django_admin.site._registry:
        page = admin.get(f"{list_of(model)}?{odd}")
        assert page.status_code in (200, 302, 400), (model, page.status_code)
        assert secrets_in(page.content.decode()) == [], model


@pytest.mark.full
def test_what_is_suggested_takes_the_right_to_see_it(
    client: Client, staff: User, rows: dict[type[Model], Any]
) -> None:
    """Django's own page of suggestions, for every column that points to something: whatever is
    given to somebody who may only see the rows that point there."""
    client.force_login(staff)
    for model in django_admin.site._registry:
        grant_view(staff, model)
        for field in model._meta.get_fields():
            if not (isinstance(field, ForeignKey) and field.related_model != model):
                continue
            meta = model._meta
            asked = {
                "app_label": meta.app_label, "model_name": meta.model_name,
                "field_name": field.name, "term": "",
            }  # fmt: skip
            page = client.get(reverse("admin:autocomplete"), asked)
            assert page.status_code in (403, 404), (model, field.name)


# --- what an administrator may do by mistake --------------------------------------


@pytest.mark.django_db
def test_a_second_demo_provider_keeps_no_server_from_starting() -> None:
    ensure_defaults()
    make.a_provider(name="Another", kind="demo")
    ensure_defaults()
    assert Provider.objects.filter(kind="demo").count() == 2
    assert LanguageModel.objects.filter(provider__kind="demo").count() == 1
