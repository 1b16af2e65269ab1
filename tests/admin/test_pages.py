"""Every page of the administration opens, in both languages, and under the strict policy (F3)."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin as django_admin
from django.contrib.admin import ModelAdmin
from django.contrib.auth.models import Permission, User
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.admin.groups import GROUPS, UNLISTED, Rows
from chat.models import (
    Attempt,
    AuditEntry,
    CatalogStamp,
    Conversation,
    DailyUsage,
    Example,
    Feedback,
    Generation,
    Installation,
    Invitation,
    LogIn,
    Message,
    ModelAdjustment,
    Part,
    Process,
    Profile,
    Provider,
    RequestLog,
    Reservation,
    SearchEntry,
    ShareLink,
    ToolSetting,
)
from tests.support import factories as make
from tests.support.pages import faults_of
from tests.support.reading import give_reason
from tests.support.world import secrets_in

MODELS = sorted(django_admin.site._registry, key=lambda model: model._meta.label)
# What any page of the administration may ask of the database.
MOST_QUERIES = 25
# Well below: what a message is drawn with may become more.
MOST_OF_A_TRANSCRIPT = 18
WRITTEN_BY_HAND = {
    *("provider", "languagemodel", "agent", "toolsetting", "searchengine"),
    *("user", "group", "profile", "prompt", "budget", "invitation"),
}


def addresses(rows: dict[type[Model], Any], model: type[Model]) -> Iterator[str]:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    yield reverse(f"{name}_changelist")
    yield reverse(f"{name}_change", args=[rows[model].pk])
    yield reverse(f"{name}_history", args=[rows[model].pk])
    if model not in (AuditEntry, Invitation):
        yield reverse(f"{name}_delete", args=[rows[model].pk])
    if model._meta.model_name in WRITTEN_BY_HAND:
        yield reverse(f"{name}_add")


def test_every_row_of_the_chat_is_in_the_administration() -> None:
    """A13, F3: all but examples, which stand with their agent, and adjustments, which stand with
    their model, log-ins, which are their person's, and the search index, the stamp of the catalog,
    the mark of this installation and counters of attempts, which say nothing that they do not."""
    rows = set(apps.get_app_config("chat").get_models())
    assert rows - set(MODELS) == {
        *(Example, ModelAdjustment, SearchEntry, CatalogStamp, Reservation, Attempt, LogIn),
        Installation,
    }


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.model_name)
def test_every_page_opens_and_keeps_the_policy(
    model: type[Model], language: str, admin: Client, rows: dict[type[Model], Any]
) -> None:
    for address in addresses(rows, model):
        response = admin.get(address, headers={"accept-language": language})
        page = response.content.decode()
        assert response.status_code == 200, address
        assert list(faults_of(page)) == [], address
        assert f'lang="{language}"' in page.replace("zh-Hans", "zh-hans"), address
        assert secrets_in(page) == [], address


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.model_name)
def test_what_the_program_writes_cannot_be_added_by_hand(
    model: type[Model], admin: Client, rows: dict[type[Model], Any]
) -> None:
    name = model._meta.model_name
    response = admin.get(reverse(f"admin:{model._meta.app_label}_{name}_add"))
    assert response.status_code == (200 if name in WRITTEN_BY_HAND else 403)


SEARCHED = {
    "provider": "Acme", "languagemodel": "acme-1", "agent": "An agent", "toolsetting": "calcul",
    "conversation": "hens", "message": "{message}", "part": "calcul", "generation": "olivia",
    "process": "here", "view": "olivia", "attachment": "note.txt", "profile": "olivia",
    "user": "olivia", "group": "Help", "queuedmessage": "olivia",
    "feedback": "Too short", "backgroundcall": "olivia", "folder": "eggs", "prompt": "hens",
    "searchengine": "brave", "dailyusage": "olivia", "auditentry": "olivia", "budget": "olivia",
    "requestlog": "acme",
    "sharelink": "olivia", "invitation": "Ivan",
}  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.model_name)
def test_every_list_can_be_searched(
    model: type[Model], admin: Client, rows: dict[type[Model], Any]
) -> None:
    name = model._meta.model_name
    address = reverse(f"admin:{model._meta.app_label}_{name}_changelist")
    sought = SEARCHED[name or ""].format(message=rows[Message].pk)
    found = admin.get(address, {"q": sought}).context["cl"].result_count
    assert found >= 1
    assert admin.get(address, {"q": "no such thing"}).context["cl"].result_count == 0


@pytest.mark.parametrize("model", [Conversation, Generation, Part], ids=lambda m: m.__name__)
def test_a_row_is_found_by_its_id(
    model: type[Model], admin: Client, rows: dict[type[Model], Any]
) -> None:
    """Logs and events name rows by id."""
    address = reverse(f"admin:chat_{model._meta.model_name}_changelist")
    assert admin.get(address, {"q": str(rows[model].pk)}).context["cl"].result_count == 1


def more_rows(number: int) -> None:
    for _ in range(number):
        talk = make.a_conversation(agent=make.an_agent())
        said = make.a_message_with_parts(talk)
        answer = make.a_message(talk, "assistant", status="streaming")
        run = make.a_generation(answer, user=talk.owner, process=make.a_process())
        make.a_view(talk, process=run.process)
        make.an_attachment(talk.owner, said)
        make.a_background_call(talk)
        make.a_feedback(answer)
        ShareLink.objects.create(
            conversation=talk, token_hash=talk.pk.hex, live=True, with_thinking=True,
            with_tools=True,
        )  # fmt: skip
        AuditEntry.objects.create(actor="root", verb="read", owner=talk.owner.username)
        RequestLog.objects.create(
            conversation=talk, message=answer, url="https://acme.example", began=timezone.now(),
            sent=b"", received=b"",
        )  # fmt: skip
        Profile.objects.create(user=talk.owner)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.model_name)
def test_a_longer_list_costs_no_more_queries(
    model: type[Model], admin: Client, django_assert_max_num_queries: Any
) -> None:
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    more_rows(3)
    admin.get(address)
    with django_assert_max_num_queries(MOST_QUERIES) as few:
        admin.get(address)
    count = len(few)
    more_rows(20)
    # New agents: the catalog, which knows what everything is called, is read anew once.
    admin.get(address)
    with django_assert_max_num_queries(count):
        admin.get(address)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.model_name)
def test_staff_without_permission_see_nothing(
    model: type[Model], client: Client, staff: User, rows: dict[type[Model], Any]
) -> None:
    client.force_login(staff)
    for address in addresses(rows, model):
        assert client.get(address).status_code == 403


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.model_name)
def test_everybody_else_is_sent_to_log_in(
    model: type[Model], client: Client, rows: dict[type[Model], Any]
) -> None:
    for user in (None, make.a_user()):
        if user:
            client.force_login(user)
        for address in addresses(rows, model):
            response = client.get(address)
            assert response.status_code == 302
            assert "/login/" in response["Location"]


def test_reading_a_transcript_takes_the_right_to_read_conversations(
    client: Client, staff: User, rows: dict[type[Model], Any]
) -> None:
    rights = ("view_conversation", "read_conversation")
    staff.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client.force_login(staff)
    page = client.get(reverse("admin:chat_conversation_change", args=[rows[Conversation].pk]))
    assert page.status_code == 200
    assert client.post(page.request["PATH_INFO"], {"title": "mine"}).status_code == 403


def test_the_transcript_is_drawn_in_order_and_escaped(
    admin: Client, rows: dict[type[Model], Any]
) -> None:
    """F3: the same partials as the chat draw it."""
    talk = rows[Conversation]
    page = admin.get(reverse("admin:chat_conversation_change", args=[talk.pk])).content.decode()
    assert "<i>2+2</i>" not in page
    assert page.index("&lt;i&gt;2+2&lt;/i&gt;") < page.index("<strong>4</strong>")
    for part in Part.objects.all():
        assert reverse("admin:chat_part_change", args=[part.pk]) in page


def test_a_long_transcript_costs_no_more_queries(
    admin: Client, django_assert_max_num_queries: Any
) -> None:
    short, long = make.a_conversation(), make.a_conversation()
    make.a_talk(short, 2)
    called = make.a_conversation(agent=make.an_agent(make.a_model()))
    make.a_message_with_parts(called, "assistant", "42", [make.a_finished_call()])
    make.a_talk(long, 90)
    give_reason(admin, short, long, called)
    admin.get(reverse("admin:chat_conversation_change", args=[short.pk]))
    with django_assert_max_num_queries(MOST_OF_A_TRANSCRIPT):
        admin.get(reverse("admin:chat_conversation_change", args=[called.pk]))
    with django_assert_max_num_queries(MOST_OF_A_TRANSCRIPT) as few:
        admin.get(reverse("admin:chat_conversation_change", args=[short.pk]))
    with django_assert_max_num_queries(len(few)):
        page = admin.get(reverse("admin:chat_conversation_change", args=[long.pk]))
    assert b"Text 90" in page.content


def test_a_part_that_cannot_be_read_is_no_error(
    admin: Client, rows: dict[type[Model], Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "chat.models.part")
    Part.objects.filter(type="tool").update(data={"state": {"status": "exploded"}})
    for part in Part.objects.all():
        assert admin.get(reverse("admin:chat_part_change", args=[part.pk])).status_code == 200
    address = reverse("admin:chat_conversation_change", args=[rows[Conversation].pk])
    assert "This part cannot be shown" in admin.get(address).content.decode()


def test_tools_are_switched_in_the_list(admin: Client) -> None:
    """A16"""
    row = make.a_tool_setting("calculator")
    admin.post(
        reverse("admin:chat_toolsetting_changelist"),
        {
            "form-TOTAL_FORMS": 1,
            "form-INITIAL_FORMS": 1,
            "form-0-id": str(row.pk),
            "_save": "Save",
        },
    )
    assert not ToolSetting.objects.get().enabled


def test_every_row_has_its_place_in_the_column() -> None:
    """F3: grouped by what one wants to do; what is left out is reached from something else."""
    listed = [entry.label for group in GROUPS for entry in group.entries if isinstance(entry, Rows)]
    assert sorted([*listed, *UNLISTED]) == sorted(model._meta.label for model in MODELS)


def test_the_column_shows_only_what_one_may_open(client: Client, staff: User) -> None:
    staff.user_permissions.set(Permission.objects.filter(codename="view_agent"))
    client.force_login(staff)
    page = client.get("/admin/").content.decode()
    assert "/admin/chat/agent/" in page
    assert "/admin/chat/provider/" not in page
    assert "Django" not in page


def test_it_speaks_the_language_that_its_reader_has_chosen(admin: Client) -> None:
    """A13: in a browser that asks for another, too."""
    Profile.objects.create(user=User.objects.get(username="root"), language="zh-hans")
    page = admin.get("/admin/", headers={"accept-language": "en"}).content.decode()
    assert 'lang="zh-Hans"' in page
    assert "返回聊天" in page


def test_what_cannot_be_changed_offers_nothing_to_save(
    admin: Client, rows: dict[type[Model], Any]
) -> None:
    for model in (Generation, Process, DailyUsage, Message, ShareLink, Feedback):
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
        page = admin.get(reverse(name, args=[rows[model].pk])).content.decode()
        assert 'name="_save"' not in page, name
        assert "Change " not in page.partition("<main")[2], name


@pytest.mark.parametrize(
    ("name", "leading"),
    [
        ("message", "conversation"), ("part", "conversation"), ("dailyusage", "dailyusage"),
        ("profile", "user"), ("auditentry", "auditentry"),
    ],
)  # fmt: skip
def test_the_column_says_where_one_is(
    admin: Client, rows: dict[type[Model], Any], name: str, leading: str
) -> None:
    """Also on the pages of what it does not list."""
    page = admin.get(reverse(f"admin:chat_{name}_changelist")).context
    assert page["here"].url.split("/")[3] == leading


def test_asking_for_a_reason_is_about_conversations(
    admin: Client, rows: dict[type[Model], Any]
) -> None:
    asked = reverse("admin:chat_auditentry_reason", args=[rows[Conversation].pk])
    page = admin.get(asked)
    assert page.context["here"].url == reverse("admin:chat_conversation_changelist")


def test_every_list_shows_more_than_a_name() -> None:
    for model, options in django_admin.site._registry.items():
        if model._meta.app_label == "chat":
            assert len(options.list_display) > 1
            assert options.search_fields
            assert isinstance(options, ModelAdmin)
    assert Provider in django_admin.site._registry
