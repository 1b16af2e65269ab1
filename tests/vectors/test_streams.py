"""Model streams folded into parts, against the reference cases (A2, A3, E2)."""

from typing import Any

import pytest

from chat.engine.assembly import Assembly
from chat.engine.changes import Change
from chat.engine.repetition import repeated_call
from chat.engine.usage import last_tokens, total_cost
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
from chat.providers.token_counts import count_tokens
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


class Outcome:
    """What a stream has come to: one method for each thing that the cases expect."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.parts = reader.assembly.parts()
        self.tools = {part.call_id: part for part in self.parts if isinstance(part, ToolPart)}
        self.thoughts = [part.text for part in self.parts if isinstance(part, ReasoningPart)]
        info = reader.message().info
        assert isinstance(info, AnswerInfo)
        self.info = info

    def check(self, key: str, expected: Any) -> None:
        actual = getattr(self, f"of_{key}", None)
        assert actual, f"unknown form: expect {key}"
        assert actual(expected) == expected

    def of_part_types(self, _: Any) -> list[str]:
        return [part.type for part in self.parts]

    def of_text(self, _: Any) -> list[str]:
        return [part.text for part in self.parts if isinstance(part, TextPart)]

    def of_reasoning(self, _: Any) -> list[str]:
        return self.thoughts

    def of_tool(self, calls: dict[str, str]) -> dict[str, str]:
        return {call: self.tools[call].state.status for call in calls}

    def of_tool_input(self, calls: dict[str, Any]) -> dict[str, Any]:
        return {call: self.tools[call].state.input for call in calls}

    def of_tool_output(self, calls: dict[str, str]) -> dict[str, str]:
        states = {call: self.tools[call].state for call in calls}
        return {
            call: state.output for call, state in states.items() if isinstance(state, ToolCompleted)
        }

    def of_tool_error(self, calls: dict[str, str]) -> dict[str, str]:
        states = {call: self.tools[call].state for call in calls}
        return {call: state.error for call, state in states.items() if isinstance(state, ToolError)}

    def of_tool_part_count(self, _: int) -> int:
        return len(self.tools)

    def of_finish(self, _: str) -> str:
        return [part.reason for part in self.parts if isinstance(part, StepFinishPart)][-1]

    def of_message_error(self, _: Any) -> str | None:
        return self.info.error.name if self.info.error else None

    def of_message_completed(self, _: bool) -> bool:
        return self.info.time.completed is not None

    def of_all_parts_have_end(self, _: bool) -> bool:
        return all(has_ended(part) for part in self.parts)

    def of_session_status(self, _: str) -> str:
        return "idle" if self.info.time.completed else "busy"

    def of_some_reasoning_text(self, text: str) -> Any:
        return text if text in self.thoughts else self.thoughts

    def of_no_reasoning_text(self, text: str) -> Any:
        return self.thoughts if text in self.thoughts else text

    def of_message_cost(self, _: float) -> float:
        cost = float(total_cost(self.parts))
        assert self.info.cost == cost
        return cost

    def of_message_tokens(self, _: Any) -> dict[str, Any]:
        tokens = last_tokens(self.parts).model_dump()
        assert self.info.tokens.model_dump() == tokens
        return tokens

    def of_doom_loop(self, _: Any) -> Any:
        return self.reader.circle


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
    outcome = Outcome(reader)
    for key, expected in case["expect"].items():
        outcome.check(key, expected)
