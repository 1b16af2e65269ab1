"""The boxes of a part: what is mostly amended, each with what is wrong with it (E2, E3, F3)."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html  # type: ignore[import-untyped]

from chat.models import AuditEntry, Part
from chat.protocol.displays import TextDisplay, display_to_json
from chat.protocol.tool_state import Ended, Started, ToolError, ToolRunning
from tests.support import factories as make
from tests.support.page import LivePage
from tests.support.reading import give_reason


@pytest.fixture
def call(admin: Client) -> Part:
    """A call that has ended, with a display of what it gave."""
    state = make.a_finished_call("4", expression="2+2")
    shown = display_to_json(TextDisplay(text="Four"))
    state = state.model_copy(update={"metadata": {"display": shown, "kept": "as it is"}})
    return make.a_tool_part(make.a_message(role="assistant"), state)


def opened(admin: Client, part: Part) -> dict[str, str]:
    """What the form of a part sends as it stands."""
    give_reason(admin, part.conversation)
    page = admin.get(reverse("admin:chat_part_inspect", args=[part.pk])).content.decode()
    form = html.fromstring(page).forms[0]
    fields = {name: value for name, value in form.fields.items() if value is not None}
    return {name: value.removeprefix("\n") for name, value in fields.items()}


def save(admin: Client, part: Part, language: str = "en", **boxes: str) -> Any:
    sent = {**opened(admin, part), **boxes}
    address = reverse("admin:chat_part_inspect", args=[part.pk])
    return admin.post(address, sent, headers={"accept-language": language})


def state_of(part: Part) -> dict[str, Any]:
    state: dict[str, Any] = Part.objects.get(pk=part.pk).data["state"]
    return state


def test_a_call_has_a_box_for_each_thing_that_is_amended(admin: Client, call: Part) -> None:
    boxes = opened(admin, call)
    assert set(boxes) >= {"input", "output", "display", "data"}
    assert not set(boxes) & {"error", "ignored"}
    assert boxes["output"] == "4"
    assert json.loads(boxes["input"]) == {"expression": "2+2"}
    assert save(admin, call).status_code == 204
    assert not AuditEntry.objects.exists(), "nothing was changed"


def test_arguments_output_and_display_are_amended_by_themselves(admin: Client, call: Part) -> None:
    before = state_of(call)
    assert save(admin, call, output="5\r\nor so").status_code == 204
    state = state_of(call)
    assert state["output"] == "5\nor so"
    # What was shown of the earlier output would hide it.
    assert state["metadata"] == {"kept": "as it is"}
    assert (state["input"], state["time"]) == (before["input"], before["time"])
    shown = {"type": "text", "text": "Five"}
    save(admin, call, output="five", input='{"expression": "2+3"}', display=json.dumps(shown))
    state = state_of(call)
    assert (state["output"], state["input"]) == ("five", {"expression": "2+3"})
    assert state["metadata"] == {"kept": "as it is", "display": shown}
    save(admin, call, display="")
    assert "display" not in state_of(call)["metadata"]
    told = [entry.details["fields"] for entry in AuditEntry.objects.order_by("at", "id")]
    assert told == [["output"], ["display", "input", "output"], ["display"]]


def test_an_empty_line_at_the_start_is_kept(admin: Client, call: Part) -> None:
    """A browser takes the first one of a box away."""
    Part.objects.update(data={**call.data, "state": {**call.data["state"], "output": "\n4"}})
    give_reason(admin, call.conversation)
    page = admin.get(reverse("admin:chat_part_inspect", args=[call.pk]))
    box = LivePage(page.content.decode()).by_id(f"id_output-{call.pk}")
    assert box.text == "\n4"


def test_the_rest_is_amended_beside_the_boxes(admin: Client, call: Part) -> None:
    everything = json.loads(opened(admin, call)["data"])
    everything["state"] |= {"title": "A sum", "output": "not this"}
    assert save(admin, call, data=json.dumps(everything), output="5").status_code == 204
    assert (state_of(call)["title"], state_of(call)["output"]) == ("A sum", "5")


def test_a_failed_call_has_a_box_for_its_error(admin: Client) -> None:
    failed = ToolError(input={}, error="broken", time=Ended(start=1, end=2))
    part = make.a_tool_part(make.a_message(role="assistant"), failed)
    assert "output" not in opened(admin, part)
    assert save(admin, part, error="out of order").status_code == 204
    assert state_of(part)["error"] == "out of order"


def test_a_text_is_ignored_and_sent_again(admin: Client) -> None:
    """E5"""
    part = make.a_text_part(make.a_message(role="assistant"))
    assert save(admin, part, ignored="on").status_code == 204
    assert Part.objects.get().ignored
    address = reverse("admin:chat_part_inspect", args=[part.pk])
    sent = opened(admin, part)
    assert sent.pop("ignored") == "on"
    assert admin.post(address, sent).status_code == 204
    assert not Part.objects.get().ignored


@pytest.mark.parametrize(
    ("boxes", "field", "rule"),
    [
        ({"output": ""}, "output", "BR-09"),
        ({"input": "[1]"}, "input", "3.4"),
        ({"input": "{"}, "input", ""),
        ({"display": "{'a'}"}, "display", ""),
        ({"data": '{"state": {"status": "running"}}'}, "data", "BR-"),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_what_is_wrong_stands_below_its_own_box(
    admin: Client, call: Part, boxes: dict[str, str], field: str, rule: str, language: str
) -> None:
    refused = save(admin, call, language, **boxes)
    assert refused.status_code == 422
    form = html.fromstring(refused.content.decode()).forms[0]
    [box] = form.xpath("//*[@aria-invalid]")
    assert box.get("name") == field
    said = form.get_element_by_id(box.get("aria-describedby")).text_content()
    assert rule in said
    assert said.strip()
    # What was written stays where it was written.
    assert "".join((box.text or "").split()) == "".join(boxes[field].split())
    assert state_of(call)["output"] == "4"
    folded = box.xpath("ancestor::details")
    assert bool(folded) == (field == "data")
    assert all(each.get("open") is not None for each in folded)


def test_a_failed_call_says_what_went_wrong(admin: Client) -> None:
    failed = ToolError(input={}, error="broken", time=Ended(start=1, end=2))
    part = make.a_tool_part(make.a_message(role="assistant"), failed)
    refused = save(admin, part, "zh-hans", error=" ").content.decode()
    assert "state.error 违反 BR-10" in refused


def test_what_has_not_ended_or_cannot_be_read_has_no_boxes(admin: Client) -> None:
    running = ToolRunning(input={}, time=Started(start=1))
    part = make.a_tool_part(make.a_message(role="assistant"), running)
    assert set(opened(admin, part)) == {"csrfmiddlewaretoken", "text", "data"}
    Part.objects.filter(pk=part.pk).update(data=["broken"], tool_status="completed")
    part.refresh_from_db()
    assert opened(admin, part)["output"] == ""


def test_the_page_of_a_part_has_them_too(admin: Client, call: Part) -> None:
    give_reason(admin, call.conversation)
    address = reverse("admin:chat_part_change", args=[call.pk])
    form = html.fromstring(admin.get(address).content.decode()).get_element_by_id("part_form")
    fields = {name: value or "" for name, value in form.fields.items()}
    assert admin.post(address, {**fields, "output": "5"}).status_code == 302
    assert state_of(call)["output"] == "5"
