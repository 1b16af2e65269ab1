"""ToolMessage2: out and in again, and nothing lost on the way (B1 … B4)."""

import pytest

from chat.formats.tool_message_parts import from_tool_messages, to_tool_messages
from chat.formats.tool_messages import pair
from chat.formats.tool_results import display_to_wire, result_from_wire
from chat.protocol import tool_state
from chat.protocol.displays import (
    DiffDisplay,
    JsonDisplay,
    SearchDisplay,
    SumDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
    read_display,
)
from chat.protocol.factories import (
    create_answer,
    create_completed,
    create_error,
    create_file_part,
    create_pending,
    create_reasoning_part,
    create_step_finish_part,
    create_step_start_part,
    create_text_part,
    create_tool_part,
    create_user_message,
)
from chat.protocol.ids import new_id
from chat.protocol.messages import ModelRef, WithParts
from chat.protocol.notes import StateNotes, with_state_notes
from chat.protocol.parts import Tokens, ToolPart

S, M = new_id(), new_id()
STEP = TodoItem(id="1", content="a", status="completed", priority="low")
DISPLAYS = [
    TextDisplay(text="seen"),
    DiffDisplay(path="a.py", before="x", after="y"),
    TodoDisplay(items=(STEP,), before=()),
    SumDisplay(expression="1+2", result="3"),
    SearchDisplay(query="q"),
    JsonDisplay(value={"a": [1]}),
]


def a_conversation():
    image = create_file_part(S, M, "image/png", "data:image/png;base64,AA==")
    notes = with_state_notes(None, StateNotes(display=DISPLAYS[1]))
    shown = create_completed({"a": 1}, "read", "", notes, 1, 2)
    tools = {
        "c1": shown.model_copy(update={"attachments": (image,)}),
        "c2": create_error({"b": 2}, "boom", 1, 2),
        "c3": tool_state.abort(create_pending({}, ""), 5),
    }
    parts = [
        create_step_start_part(S, M),
        create_reasoning_part(S, M, "hm"),
        create_text_part(S, M, "Let me see."),
        *(create_tool_part(S, M, call, "t", state) for call, state in tools.items()),
        create_step_finish_part(S, M, "tool-calls", 0, Tokens(input=5, output=2)),
        create_step_start_part(S, M),
        create_text_part(S, M, "Done."),
    ]
    asked = create_user_message(S, "go")
    model = ModelRef(provider_id="p", model_id="m")
    return [asked, create_answer(S, asked.info.id, model=model, parts=parts)]


def bare(message: WithParts):
    """A message without its ids, times and step ends, which the wire does not carry."""
    gone = {"id", "session_id", "message_id", "time", "tokens", "cost"}
    parts = [part for part in message.parts if part.type != "step-finish"]
    return [part.model_dump(exclude=gone | {"state"}) | state(part) for part in parts]


def state(part):
    if not isinstance(part, ToolPart):
        return {}
    form = part.state.model_dump(exclude={"time"})
    form["attachments"] = [file["url"] for file in form.get("attachments") or ()]
    return {"state": form}


def test_the_wire_has_one_message_with_all_results_after_their_calls():
    """B1."""
    wire = to_tool_messages(a_conversation())
    assert [message["role"] for message in wire] == ["user", "assistant", "tool", "assistant"]
    assert [message["parentUuid"] for message in wire] == [None] + [m["uuid"] for m in wire[:-1]]
    results = wire[2]["content"]
    assert [part["toolCallId"] for part in results] == ["c1", "c2", "c3"]
    assert set(results[0]) == {"type", "toolCallId", "toolName", "input", "result"}
    assert results[1]["result"] == {"llmContent": "boom", "isError": True}
    assert results[2]["result"]["llmContent"] == "[Request interrupted by user]"
    assert wire[1]["usage"] == {"input_tokens": 5, "output_tokens": 2}


def test_what_went_out_comes_in_again():
    """B1, B3."""
    before = a_conversation()
    after = from_tool_messages(to_tool_messages(before), S)
    assert after.faults == ()
    assert [bare(message) for message in after.messages] == [bare(message) for message in before]
    assert pair(to_tool_messages(before)).messages[1]["content"][2]["state"] == "tool_result"


def test_a_result_with_no_call_is_told_of_and_kept():
    """B2."""
    lost = {
        "type": "tool-result",
        "toolCallId": "zz",
        "toolName": "read",
        "input": {"p": 1},
        "result": {"llmContent": "r"},
    }
    imported = from_tool_messages([{"role": "tool", "content": [lost]}], S)
    faults = [fault.as_json() for fault in imported.faults]
    assert faults == [{"code": "no_matching_tool_use", "toolCallId": "zz"}]
    [part] = imported.messages[-1].tools
    assert (part.tool, part.state.output, part.metadata) == ("read", "r", {"unpaired": True})


def test_a_second_result_for_a_call_is_kept_under_an_id_of_its_own():
    call = {"type": "tool_use", "id": "k", "name": "read", "input": {}}
    result = {"type": "tool-result", "toolCallId": "k", "toolName": "read", "input": {}}
    answers = [{**result, "result": {"llmContent": text}} for text in ("one", "two")]
    imported = from_tool_messages(
        [{"role": "assistant", "content": [call]}, {"role": "tool", "content": answers}], S
    )
    outputs = {part.call_id: part.state.output for part in imported.messages[0].tools}
    assert list(outputs.values()) == ["one", "two"]
    assert len(outputs) == 2


def test_a_call_without_a_result_is_imported_as_interrupted():
    call = {"type": "tool_use", "id": "k", "name": "read", "input": [1]}
    imported = from_tool_messages([{"role": "assistant", "content": [call]}], S)
    [part] = imported.messages[0].tools
    assert (part.state.status, part.state.metadata) == ("error", {"interrupted": True})
    assert part.state.input == {"value": [1]}


def test_plain_and_mixed_contents_are_read():
    wire = [
        {"role": "system", "content": "ignored"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image", "data": "data:,", "mimeType": "image/gif"},
            ],
        },
        {"role": "assistant", "content": "plain\x00"},
    ]
    asked, answered = from_tool_messages(wire, S).messages
    assert [part.type for part in asked.parts] == ["text", "file"]
    assert (asked.parts[1].mime, answered.text) == ("image/gif", "plain")
    assert to_tool_messages([asked])[0]["content"][1]["type"] == "image"


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.type)
def test_a_display_is_the_same_after_a_trip_over_the_wire(display):
    """B4."""
    assert read_display(display_to_wire(display), {}) == display


@pytest.mark.parametrize("unknown", [{"type": "hologram"}, ["x"], 7, {"type": "sum"}])
def test_a_display_nobody_knows_is_shown_as_json(unknown):
    assert read_display(unknown, {}) == JsonDisplay(value=unknown)


def test_a_side_of_a_diff_may_be_the_name_of_an_argument():
    wire = {
        "type": "diff_viewer",
        "filePath": "a",
        "originalContent": "",
        "newContent": {"inputKey": "content"},
    }
    shown = read_display(wire, {"content": "new"})
    assert (shown.before, shown.after) == ("", "new")


def test_todos_without_ids_or_with_odd_states_are_read():
    wire = {"type": "todo_read", "todos": [{"content": "a", "status": "blocked"}, {"content": "b"}]}
    items = read_display(wire, {}).items
    assert [(item.id, item.status, item.priority) for item in items] == [
        ("1", "pending", "medium"),
        ("2", "pending", "medium"),
    ]


@pytest.mark.parametrize(
    ("wire", "text"),
    [("plain", "plain"), (None, ""), ({"llmContent": {"a": 1}}, '{"a": 1}'), ([1], "[1]")],
)
def test_results_of_any_form_have_a_text(wire, text):
    assert result_from_wire(wire, {}, S, M).text == text


def test_a_result_of_texts_and_images_is_taken_apart():
    content = [
        {"type": "text", "text": "a"},
        {"type": "image", "data": "AA==", "mimeType": "image/png"},
        {"type": "text", "text": "b"},
    ]
    result = result_from_wire({"llmContent": content}, {}, S, M)
    assert result.text == "a\nb"
    assert [file.url for file in result.attachments] == ["data:image/png;base64,AA=="]
