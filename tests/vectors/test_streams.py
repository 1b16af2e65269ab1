"""Model streams folded into parts, against the reference cases (A2, A3, E2)."""

from typing import Any

import pytest

from chat.engine.assembly import Assembly
from chat.engine.changes import Change
from chat.engine.repetition import repeated_call
from chat.engine.usage import count_tokens, last_tokens, total_cost
from chat.protocol.factories import create_answer
from chat.protocol.ids import new_id
from chat.protocol.interfaces import (
    Finish,
    ProviderEvent,
    ReasoningDelta,
    Retrying,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    ToolResult,
    Usage,
)
from chat.protocol.messages import AnswerInfo, WithParts, finish_answer
from chat.protocol.parts import ReasoningPart, StepFinishPart, TextPart, Tokens, ToolPart
from chat.protocol.tool_state import ToolCompleted, ToolError
from tests.vectors.cases import cases, only


class Reader:
    """Plays the events of a case, which name their texts, to an assembly, which does not."""

    def __init__(self) -> None:
        self.assembly = Assembly(new_id(), new_id(), clock=lambda: 1000)
        self.changes: list[Change] = []
        self.started: set[str] = set()
        self.aborted = False
        self.circle = False

    def play(self, event: dict[str, Any]) -> None:
        kind = event["type"]
        method = getattr(self, "on_" + kind.replace("-", "_"), None)
        assert method, f"unknown form: event {kind}"
        method(event)
        self.circle = self.circle or repeated_call(self.assembly.parts()) is not None

    def apply(self, event: ProviderEvent) -> None:
        self.changes += self.assembly.apply(event)

    def on_step_start(self, event):
        only(event, "type")
        self.changes += self.assembly.open_step()

    def on_step_finish(self, event):
        only(event, "type", "reason", "usage", "cost", "tokens")
        used = event.get("usage") or {}
        only(used, "inputTokens", "outputTokens", "reasoningTokens")
        tokens = count_tokens(
            input=used.get("inputTokens", 0),
            output=used.get("outputTokens", 0),
            reasoning=used.get("reasoningTokens", 0),
        )
        if "tokens" in event:
            tokens = Tokens.model_validate(event["tokens"])
        self.apply(Usage(tokens, event.get("cost")))
        self.apply(Finish(event["reason"]))
        self.changes += self.assembly.close_step()

    def on_text_start(self, event):
        only(event, "type", "id")
        self.started.add(event["id"])

    def on_text_delta(self, event):
        only(event, "type", "id", "text")
        if event["id"] in self.started:
            self.apply(TextDelta(event["text"]))

    def on_text_end(self, event):
        only(event, "type", "id")
        self.started.discard(event["id"])

    on_reasoning_start = on_text_start
    on_reasoning_end = on_text_end

    def on_reasoning_delta(self, event):
        only(event, "type", "id", "text")
        if event["id"] in self.started:
            self.apply(ReasoningDelta(event["text"]))

    def on_tool_input_start(self, event):
        only(event, "type", "id", "name")
        self.apply(ToolCallStart(event["id"], event["name"]))

    def on_tool_input_delta(self, event):
        only(event, "type", "id", "text", "delta")
        self.apply(ToolCallDelta(event["id"], event.get("text", event.get("delta", ""))))

    def on_tool_input_end(self, event):
        only(event, "type", "id")

    def on_tool_call(self, event):
        only(event, "type", "id", "name", "input")
        self.apply(ToolCall(event["id"], event["name"], event["input"]))

    def on_tool_result(self, event):
        only(event, "type", "id", "output")
        output = event["output"]
        output = {"output": output} if isinstance(output, str) else output
        only(output, "output", "title", "metadata")
        result = ToolResult(output["output"], title=output.get("title", ""))
        self.changes += self.assembly.finish_tool(event["id"], result)

    def on_tool_error(self, event):
        only(event, "type", "id", "error")
        error = event["error"]
        text = error if isinstance(error, str) else error.get("message", str(error))
        self.changes += self.assembly.fail_tool(event["id"], text)

    def on_tool_progress(self, event):
        only(event, "type", "id", "title", "metadata")
        self.changes += self.assembly.update_tool(
            event["id"], title=event.get("title"), metadata=event.get("metadata")
        )

    on_tool_metadata = on_tool_progress

    def on_provider_error(self, event):
        only(event, "type", "retryable", "message")

    def on_retry(self, event):
        only(event, "type")
        self.started.clear()
        self.apply(Retrying("error.chat_generation_failed", 1, 5, 0.0))

    def on_abort(self, event):
        only(event, "type")
        self.changes += self.assembly.abort()
        self.aborted = True

    def message(self) -> WithParts:
        assembly = self.assembly
        answer = create_answer(assembly.session_id, None, parts=assembly.parts())
        return finish_answer(answer, 2000, status="cancelled" if self.aborted else "success")


def check(reader: Reader, key: str, value: Any) -> None:
    parts = reader.assembly.parts()
    tools = {part.call_id: part for part in parts if isinstance(part, ToolPart)}
    thoughts = [part.text for part in parts if isinstance(part, ReasoningPart)]
    info = reader.message().info
    assert isinstance(info, AnswerInfo)
    actual: Any
    match key:
        case "part_types":
            actual = [part.type for part in parts]
        case "text":
            actual = [part.text for part in parts if isinstance(part, TextPart)]
        case "reasoning":
            actual = thoughts
        case "tool":
            actual = {call: tools[call].state.status for call in value}
        case "tool_input":
            actual = {call: tools[call].state.input for call in value}
        case "tool_output":
            states = {call: tools[call].state for call in value}
            actual = {c: s.output for c, s in states.items() if isinstance(s, ToolCompleted)}
        case "tool_error":
            states = {call: tools[call].state for call in value}
            actual = {c: s.error for c, s in states.items() if isinstance(s, ToolError)}
        case "tool_part_count":
            actual = len(tools)
        case "finish":
            actual = [part.reason for part in parts if isinstance(part, StepFinishPart)][-1]
        case "message_error":
            actual = info.error.name if info.error else None
        case "message_completed":
            actual = info.time.completed is not None
        case "all_parts_have_end":
            actual = all(has_ended(part) for part in parts)
        case "session_status":
            actual = "idle" if info.time.completed else "busy"
        case "some_reasoning_text":
            actual = value if value in thoughts else thoughts
        case "no_reasoning_text":
            actual = thoughts if value in thoughts else value
        case "message_cost":
            actual = float(total_cost(parts))
            assert info.cost == actual
        case "message_tokens":
            actual = last_tokens(parts).model_dump()
            assert info.tokens.model_dump() == actual
        case "doom_loop":
            actual = reader.circle
        case _:
            pytest.fail(f"unknown form: expect {key}")
    assert actual == value


def has_ended(part: Any) -> bool:
    if isinstance(part, ToolPart):
        return isinstance(part.state, ToolCompleted | ToolError)
    if isinstance(part, TextPart | ReasoningPart):
        return part.time is not None and part.time.end is not None
    return True


@pytest.mark.parametrize("case", cases("tool_state_and_parts", "stream_cases"))
def test_a_stream_becomes_parts(case):
    only(case, "events", "expect")
    reader = Reader()
    for event in case["events"]:
        reader.play(event)
    for key, value in case["expect"].items():
        check(reader, key, value)
