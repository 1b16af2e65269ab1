"""Parts are amended under the rules of parts, and every open page gets to know (E2, E3, F3)."""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Message, Part
from chat.protocol.errors import ChatError, InvalidStateTransition, PartValidationError
from chat.protocol.tool_state import Started, ToolPending, ToolRunning
from chat.services.upkeep.amend import amend_part, amendable
from tests.support import factories as make
from tests.support.reading import give_reason

Change = Callable[[dict[str, Any]], Any]


def post(admin: Client, part: Part, text: str | None = None, change: Change | None = None) -> Any:
    """Send the part's form with a change to its data."""
    give_reason(admin, part.conversation)
    data = deepcopy(amendable(part))
    if change:
        change(data)
    return admin.post(
        reverse("admin:chat_part_change", args=[part.pk]),
        {"text": part.text if text is None else text, "data": json.dumps(data)},
    )


def an_answer(**fields: Any) -> Message:
    return make.a_message(role="assistant", **fields)


def set_in(*path: str, to: Any) -> Change:
    def change(data: dict[str, Any]) -> None:
        for name in path[:-1]:
            data = data[name]
        data[path[-1]] = to

    return change


def without(*path: str) -> Change:
    def change(data: dict[str, Any]) -> None:
        for name in path[:-1]:
            data = data[name]
        del data[path[-1]]

    return change


def test_a_text_is_amended_and_the_revision_goes_up(admin: Client) -> None:
    part = make.a_text_part(an_answer(), "4 is teh answer")
    response = post(admin, part, text="4 is the\r\nanswer")
    assert response.status_code == 302
    assert Part.objects.get().text == "4 is the\nanswer"
    assert Conversation.objects.get().rev == 1


def test_saving_without_a_change_is_no_new_revision(admin: Client) -> None:
    part = make.a_text_part(an_answer(), "as it was")
    assert post(admin, part).status_code == 302
    assert Conversation.objects.get().rev == 0


def test_an_ended_call_may_get_another_output(admin: Client) -> None:
    part = make.a_tool_part(an_answer())
    assert post(admin, part, change=set_in("state", "output", to="5")).status_code == 302
    amended = Part.objects.get()
    assert amended.data["state"]["output"] == "5"
    assert (amended.tool, amended.call_id, amended.position) == (part.tool, part.call_id, 0)
    assert Conversation.objects.get().rev == 1


def test_columns_follow_the_data(admin: Client) -> None:
    """E5: `ignored` decides what is sent to the model."""
    part = make.a_text_part(an_answer())
    post(admin, part, change=lambda data: data.update(ignored=True, synthetic=True))
    amended = Part.objects.get()
    assert amended.ignored
    assert amended.synthetic


FAILED = {"status": "error", "input": {}, "error": "x", "time": {"start": 1, "end": 2}}
REFUSED: dict[str, tuple[Change, str, str]] = {
    "empty output": (set_in("state", "output", to=""), "state.output", "BR-09"),
    "output that is no text": (set_in("state", "output", to=4), "state.output", "BR-09"),
    "no end": (without("state", "time", "end"), "state.time.end", "BR-08"),
    "no time": (without("state", "time"), "state.time", "BR-08"),
    "unknown state": (set_in("state", "status", to="exploded"), "state.status", "BR-05"),
    "another state": (
        set_in("state", to=FAILED),
        "state.status",
        "BR-05",
    ),
    "back to running": (
        set_in("state", to={"status": "running", "input": {}, "time": {"start": 1}}),
        "state.status",
        "BR-05",
    ),
    "a field of its own": (set_in("state", "mood", to="good"), "state.mood", "3.4"),
    "no reason": (
        set_in("state", to={**FAILED, "error": " "}),
        "state.error",
        "BR-10",
    ),
}


@pytest.mark.parametrize(("change", "field", "rule"), REFUSED.values(), ids=REFUSED)
def test_an_amendment_that_breaks_a_rule_is_refused_by_field_and_number(
    change: Change, field: str, rule: str, admin: Client
) -> None:
    part = make.a_tool_part(an_answer())
    response = post(admin, part, change=change)
    assert response.status_code == 200
    [error] = response.context["adminform"].form.errors["data"]
    assert field in error
    assert rule in error
    assert rule in response.content.decode()
    assert Part.objects.get().data == part.data
    assert Conversation.objects.get().rev == 0


@pytest.mark.parametrize(("change", "field", "rule"), REFUSED.values(), ids=REFUSED)
def test_on_a_chinese_page_the_refusal_is_chinese(
    change: Change, field: str, rule: str, admin: Client
) -> None:
    """A13: only the field and the rule are called as everywhere."""
    admin.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hans"
    response = post(admin, make.a_tool_part(an_answer()), change=change)
    [error] = response.context["adminform"].form.errors["data"]
    assert error.startswith(f"{field} 违反 {rule}：")
    assert not re.search("[A-Za-z]", error.replace(field, "").replace(rule, ""))


@pytest.mark.parametrize(
    "state",
    [ToolPending(input={}, raw=""), ToolRunning(input={}, time=Started(start=1))],
    ids=lambda state: state.status,
)
def test_a_call_that_has_not_ended_is_not_amended(state: Any, admin: Client) -> None:
    """E2: only an ended call may be corrected."""
    part = make.a_tool_part(an_answer(), state)
    response = post(admin, part, change=set_in("state", "input", to={"a": 1}))
    [error] = response.context["adminform"].form.errors["data"]
    assert "BR-05" in error


@pytest.mark.parametrize("data", ["[]", '"text"', "{", "3"])
def test_what_is_no_object_is_refused(data: str, admin: Client) -> None:
    part = make.a_tool_part(an_answer())
    give_reason(admin, part.conversation)
    address = reverse("admin:chat_part_change", args=[part.pk])
    response = admin.post(address, {"text": "", "data": data})
    assert response.status_code == 200
    assert "data" in response.context["adminform"].form.errors


def test_an_answer_that_is_still_written_is_not_amended(admin: Client) -> None:
    """Its run would write over the change."""
    part = make.a_text_part(an_answer(status="streaming"))
    assert post(admin, part, text="mine").status_code == 200
    assert Part.objects.get().text == "Hello"
    with pytest.raises(ChatError):
        amend_part(part, "mine", {})


def test_who_a_part_belongs_to_cannot_be_changed(admin: Client) -> None:
    """BR-01, BR-03, BR-04: these come from the row, whatever the form says."""
    part = make.a_text_part(an_answer())
    other = make.a_message()

    def steal(data: dict[str, Any]) -> None:
        data |= {"id": "1", "messageID": str(other.pk), "type": "reasoning", "ignored": True}

    assert post(admin, part, change=steal).status_code == 302
    amended = Part.objects.get()
    assert (str(amended.pk), amended.type) == (str(part.pk), "text")
    assert str(amended.message_id) == str(part.message_id)


def test_a_part_that_could_not_be_read_can_be_repaired(admin: Client) -> None:
    part = make.a_tool_part(an_answer())
    sound = amendable(part)
    Part.objects.update(data={"state": {"status": "exploded"}})
    part.refresh_from_db()
    assert post(admin, part, change=lambda data: data.update(sound)).status_code == 302
    assert Part.objects.get().value() is not None


def test_what_no_database_can_keep_is_cleaned(admin: Client) -> None:
    part = make.a_text_part(an_answer())
    amend_part(part, "a\x00b\ud800", {"metadata": {"x": "\x00"}})
    amended = Part.objects.get()
    assert amended.text == "ab\ufffd"
    assert amended.data["metadata"] == {"x": ""}


@pytest.mark.django_db
@pytest.mark.both_databases
def test_an_invalid_amendment_changes_neither_part_nor_revision() -> None:
    part = make.a_tool_part(an_answer())
    with pytest.raises(PartValidationError) as fault:
        amend_part(part, "", {"state": {**part.data["state"], "output": ""}})
    assert (fault.value.field, fault.value.rule) == ("state.output", "BR-09")
    with pytest.raises(InvalidStateTransition):
        amend_part(part, "", {"state": {"status": "pending", "input": {}, "raw": ""}})
    assert Conversation.objects.get().rev == 0


def test_a_new_title_is_a_new_revision_and_stays(admin: Client) -> None:
    talk = make.a_conversation(title="Old")
    give_reason(admin, talk)
    address = reverse("admin:chat_conversation_change", args=[talk.pk])
    assert admin.post(address, {"title": "New", "agent": "", "model": ""}).status_code == 302
    talk.refresh_from_db()
    assert (talk.title, talk.rev, talk.titled_by_hand) == ("New", 1, True)


@pytest.mark.parametrize("noun", ["part", "message"])
def test_removing_is_a_new_revision(noun: str, admin: Client) -> None:
    part = make.a_text_part(an_answer())
    row = part if noun == "part" else part.message
    response = admin.post(reverse(f"admin:chat_{noun}_delete", args=[row.pk]), {"post": "yes"})
    assert response.status_code == 302
    assert not Part.objects.exists()
    assert Conversation.objects.get().rev == 1


def test_removing_several_is_a_new_revision_too(admin: Client) -> None:
    parts = [make.a_text_part(an_answer()) for _ in range(2)]
    admin.post(
        reverse("admin:chat_part_changelist"),
        {"action": "delete_selected", "_selected_action": [p.pk for p in parts], "post": "yes"},
    )
    assert list(Conversation.objects.values_list("rev", flat=True)) == [1, 1]
