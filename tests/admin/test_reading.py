"""Reading and touching what is somebody else's: a right for each verb, a reason, and a trace."""

import logging
import zlib
from typing import Any

import pytest
from django.contrib import admin as django_admin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from lxml import html  # type: ignore[import-untyped]

from chat.models import (
    Attachment,
    AuditEntry,
    BackgroundCall,
    Budget,
    Conversation,
    Feedback,
    Generation,
    Message,
    Part,
    Profile,
    Provider,
    QueuedMessage,
    RequestLog,
    ShareLink,
    View,
)
from chat.services import Caller
from chat.services.catalog.defaults import ensure_defaults
from tests.support import factories as make
from tests.support.page import LivePage
from tests.support.reading import give_reason
from tests.support.turn_rows import write_send

pytestmark = pytest.mark.django_db

SECRET = "canary-9f2c-hens"


@pytest.fixture
def talk() -> Conversation:
    olivia = make.a_user("olivia")
    talk = make.a_conversation(olivia, title="A talk")
    make.a_message_with_parts(talk, text=SECRET)
    return talk


def grant(user: User, *names: str) -> None:
    user.user_permissions.add(*Permission.objects.filter(codename__in=names))


def page_of(row: Any) -> str:
    return reverse(f"admin:chat_{row._meta.model_name}_change", args=[row.pk])


def is_marked(client: Client) -> bool:
    """Whether the pages of a person say that an administrator has read something of theirs."""
    mark = LivePage(client.get("/").content.decode()).by_id("was-read")
    assert "An administrator has read" in mark.get("title", "")
    return "hidden" not in mark.attrib


def test_it_takes_a_right_and_a_reason_and_the_owner_sees_it(
    client: Client, staff: User, talk: Conversation
) -> None:
    grant(staff, "view_conversation", "view_message", "view_part")
    client.force_login(staff)
    pages = [page_of(talk), page_of(Message.objects.get()), page_of(Part.objects.get())]
    assert [client.get(page).status_code for page in pages] == [403] * 3
    grant(staff, "read_conversation")
    for page in pages:
        asked = client.get(page, follow=True)
        assert SECRET not in asked.content.decode()
        assert "Why do you need to read this?" in asked.content.decode()
    [(address, _)] = asked.redirect_chain
    assert client.post(address, {"reason": ""}).status_code == 200
    assert not AuditEntry.objects.exists()
    led = client.post(address, {"reason": "Ticket 12"})
    assert (led.status_code, led["location"]) == (302, pages[-1])
    for page in pages:
        assert SECRET in client.get(page).content.decode()
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.verb, entry.owner, entry.reason) == (
        *("sam", "read", "olivia"),
        "Ticket 12",
    )
    # The reason was given for this conversation, not for another.
    other = make.a_conversation(talk.owner)
    assert client.get(page_of(other)).status_code == 302

    client.force_login(talk.owner)
    assert Profile.objects.get(user=talk.owner).was_read
    assert is_marked(client)
    told = client.get("/readings/").content.decode()
    assert "sam" in told
    assert "Ticket 12" in told
    assert "A talk" in told
    assert not is_marked(client)


def asked_again(page: Any) -> dict[str, str]:
    """What the form that asks for a reason sends by itself."""
    [form] = html.fromstring(page.content.decode()).find_class("reason")
    return {field.name: field.value for field in form.xpath(".//input[@type='hidden']")}


def test_what_was_entered_outlives_the_reason(
    client: Client, staff: User, talk: Conversation
) -> None:
    """On the page of a part, which is what there is without scripts."""
    grant(staff, "view_part", "read_conversation", "edit_conversation")
    client.force_login(staff)
    part = Part.objects.get()
    written = {"text": '<b>"Hens"</b>\r\n\r\nand eggs ', "data": "{}", "_continue": "1"}
    asked = client.post(page_of(part), written)
    kept = asked_again(asked)
    assert SECRET not in asked.content.decode()
    again = client.post(page_of(part), {**kept, "again-reason": "?"})
    assert {**asked_again(again), "csrfmiddlewaretoken": ""} == {**kept, "csrfmiddlewaretoken": ""}
    assert not AuditEntry.objects.exists()
    saved = client.post(page_of(part), {**kept, "again-reason": "Ticket 12"})
    assert (saved.status_code, saved["location"]) == (302, page_of(part))
    part.refresh_from_db()
    assert part.text == '<b>"Hens"</b>\n\nand eggs '
    told = AuditEntry.objects.order_by("pk").values_list("verb", "reason")
    assert list(told) == [("read", "Ticket 12"), ("edit", "Ticket 12")]


def test_so_does_the_text_that_is_to_be_redacted(
    client: Client, staff: User, talk: Conversation
) -> None:
    grant(staff, "view_conversation", "redact_conversation")
    client.force_login(staff)
    address = reverse("admin:chat_conversation_act", args=[talk.pk, "redact"])
    assert client.post(address, {"text": SECRET}).status_code == 403, "it takes the right to read"
    grant(staff, "read_conversation")
    kept = asked_again(client.post(address, {"text": SECRET}))
    done = client.post(address, {**kept, "again-reason": "Ticket 12"}, follow=True)
    assert "Replaced in" in done.content.decode()
    assert SECRET not in Part.objects.get().text


def test_what_was_sent_is_seen_with_the_reason_and_told_once(
    client: Client, staff: User, rows: dict[type[Model], Any]
) -> None:
    talk, request = rows[Conversation], rows[RequestLog]
    grant(staff, "read_conversation", "view_requestlog")
    client.force_login(staff)
    asking = reverse("admin:chat_auditentry_reason", args=[talk.pk])
    for reason in ("Ticket 12", "Ticket 13"):
        client.post(asking, {"reason": reason})
        for _ in range(2):
            assert client.get(page_of(request)).status_code == 200
    told = AuditEntry.objects.filter(verb="requests").order_by("at")
    assert list(told.values_list("actor", "owner", "reason", "object_id")) == [
        ("sam", "olivia", reason, str(talk.pk)) for reason in ("Ticket 12", "Ticket 13")
    ]
    client.force_login(talk.owner)
    page = client.get("/readings/").content.decode()
    assert page.count("查看发送内容") == 2


def test_what_was_sent_for_oneself_is_no_reading(admin: Client) -> None:
    root = User.objects.get(username="root")
    mine = RequestLog.objects.create(
        conversation=make.a_conversation(root), url="https://acme.example/v1/chat",
        began=timezone.now(), sent=zlib.compress(b"{}"), received=zlib.compress(b""),
    )  # fmt: skip
    assert admin.get(page_of(mine)).status_code == 200
    assert not AuditEntry.objects.exists()


def test_a_reason_leads_to_no_other_site(admin: Client, talk: Conversation) -> None:
    address = reverse("admin:chat_auditentry_reason", args=[talk.pk])
    for wanted in ("https://evil.example/", "//evil.example", "/logout/"):
        led = admin.post(f"{address}?next={wanted}", {"reason": "Ticket"})
        assert led["location"] == page_of(talk)


def test_ones_own_takes_no_reason(admin: Client) -> None:
    mine = make.a_conversation(User.objects.get(username="root"))
    assert admin.get(page_of(mine)).status_code == 200
    assert not AuditEntry.objects.exists()


def test_lists_show_and_find_no_words(admin: Client, talk: Conversation) -> None:
    make.a_queued_message(talk, text=SECRET)
    for name in ("message", "part", "queuedmessage"):
        address = reverse(f"admin:chat_{name}_changelist")
        assert SECRET not in admin.get(address).content.decode()
        assert admin.get(address, {"q": SECRET}).context["cl"].result_count == 0


OF_A_CONVERSATION = {
    *(Message, Part, Feedback, Generation, View, ShareLink, QueuedMessage, RequestLog),
    BackgroundCall,
}
OF_ROW = ("change", "history", "delete")


def test_a_title_is_not_seen_where_conversations_are_not(
    client: Client, staff: User, rows: dict[type[Model], Any]
) -> None:
    """Nor the name of a file that goes with a message."""
    talk = rows[Conversation]
    Conversation.objects.update(title=SECRET)
    Attachment.objects.update(filename=f"{SECRET}.txt")
    listed = [model for model in rows if model._meta.app_label == "chat"]
    seen = [model._meta.model_name for model in listed if model not in (Conversation, Attachment)]
    grant(staff, *(f"view_{name}" for name in seen), *(f"delete_{name}" for name in seen))
    client.force_login(staff)
    for model, options in django_admin.site._registry.items():
        if model._meta.model_name not in seen:
            continue
        name = f"admin:chat_{model._meta.model_name}"
        of_row = [reverse(f"{name}_{each}", args=[rows[model].pk]) for each in OF_ROW]
        pages = [client.get(each) for each in (reverse(f"{name}_changelist"), *of_row)]
        for page in pages:
            assert SECRET not in page.content.decode(), page.request["PATH_INFO"]
        assert pages[0].status_code == 200
        found = client.get(reverse(f"{name}_changelist"), {"q": SECRET})
        assert found.context["cl"].result_count == 0, name
        if model in OF_A_CONVERSATION:
            assert str(talk.pk)[-12:] in pages[0].content.decode(), name
            found = client.get(reverse(f"{name}_changelist"), {"q": str(talk.pk)})
            assert found.context["cl"].result_count >= 1, name
        if model in OF_A_CONVERSATION and not getattr(options, "shows_words", False):
            assert str(talk.pk) in pages[1].content.decode(), name


def test_a_page_that_shows_no_conversation_is_listed_as_that(admin: Client) -> None:
    row = View.objects.create(user=make.a_user("olivia"), socket="elsewhere")
    assert "–" in admin.get(reverse("admin:chat_view_changelist")).content.decode()
    assert admin.get(page_of(row)).status_code == 200


def test_editing_takes_a_right_of_its_own(client: Client, staff: User, talk: Conversation) -> None:
    part = Part.objects.get()
    grant(staff, "read_conversation", "view_part", "change_part")
    client.force_login(staff)
    give_reason(client, talk)
    client.force_login(staff)
    assert client.post(page_of(part), {"text": "Mine", "data": "{}"}).status_code == 403
    grant(staff, "edit_conversation")
    client.force_login(staff)
    client.post(page_of(part), {"text": "Mine", "data": "{}"})
    part.refresh_from_db()
    assert part.text == "Mine"
    entry = AuditEntry.objects.get()
    assert (entry.verb, entry.kind, entry.owner, entry.reason) == (
        *("edit", "chat.part"),
        *("olivia", "Asked to"),
    )
    assert "Mine" not in str(entry.details)


def test_keys_rights_budgets_and_deletions_are_written_down(admin: Client) -> None:
    sam = make.a_user("sam")
    budget = Budget.objects.create(tokens_per_day=1)
    provider = make.a_provider(name="Acme", api_key="sk-canary-1234567")
    for row in (sam, budget, provider):
        make_deleted = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_delete",
                               args=[row.pk])  # fmt: skip
        admin.post(make_deleted, {"post": "yes"})
    admin.post(reverse("admin:chat_budget_add"), {"tokens_per_day": "5"})
    red = Group.objects.create(name="Red")
    admin.post(
        reverse("admin:auth_group_change", args=[red.pk]),
        {"name": "Red", "permissions": [Permission.objects.get(codename="view_budget").pk]},
    )
    found = list(AuditEntry.objects.order_by("id").values_list("verb", "kind", "name"))
    assert found == [
        ("delete", "auth.user", "sam"),
        ("delete", "chat.budget", "Everybody"),
        ("delete", "chat.provider", "Acme"),
        ("add", "chat.budget", "Everybody"),
        ("role", "auth.group", "Red"),
    ]
    assert AuditEntry.objects.get(verb="role").details == {"fields": ["permissions"]}
    assert not Provider.objects.exists()


class TestRights:
    """S13: nobody gives what they do not have."""

    @pytest.fixture
    def sam(self, client: Client, staff: User) -> User:
        grant(staff, "view_user", "change_user", "view_group", "change_group", "delete_user")
        client.force_login(staff)
        return staff

    def form(self, person: User, **more: Any) -> dict[str, Any]:
        inline = {f"profile-{n}_FORMS": 0 for n in ("TOTAL", "INITIAL", "MIN_NUM", "MAX_NUM")}
        joined = {"date_joined": "2026-01-01T12:00:00"}
        return {"username": person.username, "is_active": "on", "is_staff": "on", **joined,
                **inline, **more}  # fmt: skip

    def test_staff_cannot_make_themselves_superuser(self, client: Client, sam: User) -> None:
        address = reverse("admin:auth_user_change", args=[sam.pk])
        client.post(address, self.form(sam, is_superuser="on", first_name="Sam"))
        sam.refresh_from_db()
        assert not sam.is_superuser

    def test_staff_give_only_what_they_have(self, client: Client, sam: User) -> None:
        bob = make.a_user("bob")
        address = reverse("admin:auth_user_change", args=[bob.pk])
        theirs, mine = (
            Permission.objects.get(codename=name) for name in ("delete_provider", "change_user")
        )
        rulers = Group.objects.create(name="Rulers")
        rulers.permissions.add(theirs)
        for more in ({"user_permissions": [theirs.pk]}, {"groups": [rulers.pk]}):
            refused = client.post(address, self.form(bob, **more))
            assert refused.context["adminform"].form.errors
        changed = client.post(address, self.form(bob, user_permissions=[mine.pk]))
        assert changed.status_code == 302
        assert list(bob.user_permissions.all()) == [mine]
        group = reverse("admin:auth_group_change", args=[rulers.pk])
        assert client.post(group, {"name": "Mine"}).status_code == 403

    def test_staff_delete_no_group_that_may_do_more(self, client: Client, sam: User) -> None:
        grant(sam, "delete_group")
        client.force_login(sam)
        rulers, helpers = (Group.objects.create(name=name) for name in ("Rulers", "Helpers"))
        rulers.permissions.add(Permission.objects.get(codename="delete_provider"))
        helpers.permissions.add(Permission.objects.get(codename="change_user"))
        chosen = {"action": "delete_selected", "_selected_action": [rulers.pk, helpers.pk]}
        rows = reverse("admin:auth_group_changelist")
        assert client.post(rows, {**chosen, "post": "yes"}).status_code == 403
        for group, status in ((rulers, 403), (helpers, 302)):
            gone = reverse("admin:auth_group_delete", args=[group.pk])
            assert client.post(gone, {"post": "yes"}).status_code == status
        assert list(Group.objects.filter(name__in=("Rulers", "Helpers"))) == [rulers]

    def test_whoever_may_do_more_is_not_touched(self, client: Client, sam: User) -> None:
        root, eve = make.a_superuser("root"), make.a_user("eve", is_staff=True)
        grant(eve, "delete_provider")
        for person in (root, eve):
            address = reverse("admin:auth_user_change", args=[person.pk])
            assert client.post(address, self.form(person)).status_code == 403
            password = reverse("admin:auth_user_password_change", args=[person.pk])
            assert client.get(password).status_code == 403
            gone = reverse("admin:auth_user_delete", args=[person.pk])
            assert client.post(gone, {"post": "yes"}).status_code == 403


def test_no_word_of_a_message_is_in_the_log(
    caplog: pytest.LogCaptureFixture, talk: Conversation, admin: Client
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("django.db.backends").setLevel(logging.INFO)
    ensure_defaults()
    write_send(Caller(talk.owner_id), talk.pk, f"Another {SECRET}")
    admin.get(page_of(talk), follow=True)
    assert SECRET not in caplog.text
