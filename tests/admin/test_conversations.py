"""A conversation in the administration: listed, inspected, amended in place, redacted (F3)."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import (
    AuditEntry,
    Conversation,
    Feedback,
    Message,
    Part,
    RequestLog,
    SearchEntry,
)
from chat.services import Caller, open_export_of
from chat.services.conversations.export import as_json
from chat.services.conversations.search_index import index_conversation
from tests.admin.test_pages import MOST_QUERIES
from tests.support import factories as make
from tests.support.traces import tables_with

SECRET = "4111 1111"


def why(client: Client, talk: Conversation) -> None:
    """Say why one reads it, as everybody has to."""
    asking = reverse("admin:chat_auditentry_reason", args=[talk.pk])
    client.post(asking, {"reason": "A customer asked for it."})


def act(client: Client, talk: Conversation, verb: str, **data: str) -> str:
    address = reverse("admin:chat_conversation_act", args=[talk.pk, verb])
    return client.post(address, data, follow=True).content.decode()


@pytest.fixture
def talk(db: None) -> Conversation:
    """A question with a secret, its answer with a tool call, and an earlier version of it."""
    talk = make.a_conversation(make.a_user("olivia"), title=f"Card {SECRET}")
    make.a_message_with_parts(talk, "user", f"Mine is {SECRET}.")
    answer = make.a_message(talk, "assistant", input_tokens=1000, output_tokens=234, cost=0.5)
    make.a_tool_part(answer, make.a_finished_call(f"Found {SECRET}", expression=SECRET))
    make.a_text_part(answer, f"It is {SECRET}!")
    old = make.a_message(talk, "assistant", archived_at=timezone.now())
    make.a_text_part(old, f"An earlier {SECRET}.")
    make.a_feedback(answer, comment=f"Not {SECRET}")
    make.a_queued_message(talk, text=f"Next {SECRET}")
    index_conversation(talk)
    return talk


def test_the_list_says_what_each_took(admin: Client, talk: Conversation) -> None:
    page = admin.get(reverse("admin:chat_conversation_changelist")).content.decode()
    assert "1,234" in page
    assert "$0.5000" in page


@pytest.mark.parametrize("state", ["running", "failed", "archived", "deleted"])
def test_the_list_can_be_narrowed_to_a_state(admin: Client, talk: Conversation, state: str) -> None:
    rows = reverse("admin:chat_conversation_changelist")
    assert admin.get(rows, {"state": state}).context["cl"].result_count == 0
    other = make.a_conversation()
    now = timezone.now()
    match state:
        case "running":
            make.a_generation(make.a_message(other, "assistant", status="streaming"))
        case "failed":
            make.a_message(other, "assistant", status="error", completed_at=now)
        case _:
            Conversation.objects.filter(pk=other.pk).update(**{f"{state}_at": now})
    assert list(admin.get(rows, {"state": state}).context["cl"].result_list) == [other]


def test_a_page_costs_few_queries(
    admin: Client, talk: Conversation, django_assert_max_num_queries: Any
) -> None:
    why(admin, talk)
    address = reverse("admin:chat_conversation_change", args=[talk.pk])
    admin.get(address)
    with django_assert_max_num_queries(MOST_QUERIES):
        assert admin.get(address).status_code == 200


def test_a_part_is_inspected_and_amended_in_place(admin: Client, talk: Conversation) -> None:
    part = Part.objects.get(text__startswith="It is")
    address = reverse("admin:chat_part_inspect", args=[part.pk])
    assert admin.get(address).status_code == 302, "it takes a reason"
    why(admin, talk)
    shown = admin.get(address).content.decode()
    assert "text" in shown
    assert str(part.pk) in shown
    assert admin.post(address, {"text": "It is hidden.", "data": "{}"}).status_code == 204
    part.refresh_from_db()
    assert part.text == "It is hidden."
    assert "root edited" in " ".join(admin.get(address).content.decode().split())
    assert AuditEntry.objects.filter(verb="edit", object_id=str(part.pk)).count() == 1


@pytest.mark.parametrize(("language", "words"), [("en", "breaks BR-"), ("zh-hans", "BR-")])
def test_what_breaks_a_rule_is_refused_with_its_number(
    admin: Client, talk: Conversation, language: str, words: str
) -> None:
    why(admin, talk)
    part = Part.objects.get(type="tool")
    address = reverse("admin:chat_part_inspect", args=[part.pk])
    broken = part.as_json()
    broken["state"] = {**broken["state"], "status": "running"}
    given = {"text": "", "data": json.dumps({"state": broken["state"]})}
    refused = admin.post(address, given, headers={"accept-language": language})
    assert refused.status_code == 422
    assert words in refused.content.decode()
    part.refresh_from_db()
    assert part.tool_status == "completed"


def test_a_redacted_text_is_nowhere_any_more(admin: Client, talk: Conversation) -> None:
    """In versions, calls, title, queue, feedback, the search index, and so in every export."""
    why(admin, talk)
    admin.post(
        reverse("admin:chat_conversation_change", args=[talk.pk]),
        {"title": f"Again {SECRET}", "agent": "", "model": ""},
        follow=True,
    )
    page = act(admin, talk, "redact", text=SECRET)
    assert "Replaced in" in page
    assert SECRET not in page
    talk.refresh_from_db()
    chat = open_export_of(Caller(talk.owner_id, "root"), talk)
    stored = [
        talk.title,
        *Part.objects.values_list("text", flat=True),
        *(json.dumps(data) for data in Part.objects.values_list("data", flat=True)),
        *Feedback.objects.values_list("comment", flat=True),
        *talk.queued.values_list("text", flat=True),
        *SearchEntry.objects.values_list("words", flat=True),
        "".join(as_json(chat, {})),
    ]
    assert not any("4111" in text for text in stored)
    assert list(tables_with(SECRET)) == []
    assert Part.objects.get(type="tool").value().tool == "calculator"
    entry = AuditEntry.objects.get(verb="redact")
    assert SECRET not in json.dumps(entry.details) + entry.reason
    assert entry.details["places"] == 7


def test_nothing_is_redacted_under_a_running_answer(admin: Client, talk: Conversation) -> None:
    why(admin, talk)
    make.a_message(talk, "assistant", status="streaming")
    assert "already answering" in act(admin, talk, "redact", text=SECRET)
    assert "at least two" in act(admin, talk, "redact", text=" x ")
    assert Part.objects.filter(text__contains=SECRET).exists()


def test_it_is_deleted_and_brought_back(admin: Client, talk: Conversation) -> None:
    act(admin, talk, "delete")
    talk.refresh_from_db()
    assert talk.deleted_at
    act(admin, talk, "restore")
    talk.refresh_from_db()
    assert talk.deleted_at is None
    assert AuditEntry.objects.filter(verb__in=("delete", "restore")).count() == 2


def test_an_export_takes_the_right_and_a_reason_and_is_written_down(
    client: Client, staff: User, talk: Conversation
) -> None:
    address = reverse("admin:chat_conversation_export", args=[talk.pk, "markdown"])
    client.force_login(staff)
    assert client.get(address).status_code == 403
    rights = ("export_conversation", "read_conversation", "view_conversation")
    staff.user_permissions.set(Permission.objects.filter(codename__in=rights))
    assert "reason" in client.get(address)["Location"]
    why(client, talk)
    assert f"Mine is {SECRET}." in client.get(address).content.decode()
    entry = AuditEntry.objects.get(verb="export")
    assert (entry.actor, entry.reason) == ("sam", "A customer asked for it.")


def test_temporary_chats_can_neither_be_changed_nor_exported(admin: Client) -> None:
    talk = make.a_conversation(temporary=True)
    part = make.a_text_part(make.a_message(talk, "assistant"))
    for address in (
        reverse("admin:chat_conversation_act", args=[talk.pk, "delete"]),
        reverse("admin:chat_part_inspect", args=[part.pk]),
    ):
        assert admin.post(address).status_code == 404
    export = reverse("admin:chat_conversation_export", args=[talk.pk, "json"])
    assert admin.get(export).status_code == 404
    assert Message.objects.filter(conversation=talk).exists()


def conversation_page(client: Client, talk: Conversation, **query: str) -> str:
    why(client, talk)
    address = reverse("admin:chat_conversation_change", args=[talk.pk])
    return client.get(address, query).content.decode()


def test_earlier_messages_are_a_link_away(admin: Client) -> None:
    talk = make.a_conversation(make.a_user("olivia"))
    make.a_talk(talk, 130)
    latest = conversation_page(admin, talk)
    assert "Text 130" in latest
    assert "Text 30<" not in latest
    assert 'href="?before=31"' in latest
    earlier = conversation_page(admin, talk, before="31")
    assert "Text 30" in earlier
    assert "Text 31<" not in earlier
    assert "?before=" not in earlier.partition('class="read"')[2]
    for hostile in ("x", "-1", "9" * 30, "²"):
        assert "Text 130" in conversation_page(admin, talk, before=hostile)


def test_a_page_says_whose_it_is_and_what_it_took(admin: Client, talk: Conversation) -> None:
    page = conversation_page(admin, talk).partition('class="facts-line"')[2].partition("</dl>")[0]
    for fact in ("olivia", "1,234", "$0.5000"):
        assert fact in page


def test_what_was_sent_for_an_answer_is_a_link_away(
    admin: Client, client: Client, staff: User, talk: Conversation
) -> None:
    answer = talk.messages.filter(role="assistant").first()
    assert answer
    for _ in range(2):
        RequestLog.objects.create(
            conversation=talk, message=answer, url="https://acme.example", began=timezone.now(),
            sent=b"", received=b"",
        )  # fmt: skip
    link = f"{reverse('admin:chat_requestlog_changelist')}?message__id={answer.pk}"
    page = conversation_page(admin, talk)
    assert "What was sent: 2 requests" in page
    assert page.count(link) == 1
    assert admin.get(link).context["cl"].result_count == 2
    rights = ("view_conversation", "read_conversation")
    staff.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client.force_login(staff)
    assert link not in conversation_page(client, talk)


def test_only_what_is_deleted_can_be_deleted_for_good(admin: Client, talk: Conversation) -> None:
    """Two buttons that say the same and do another thing would be a trap."""
    for_good = reverse("admin:chat_conversation_delete", args=[talk.pk])
    assert for_good not in conversation_page(admin, talk)
    act(admin, talk, "delete")
    assert conversation_page(admin, talk).count(for_good) == 1
