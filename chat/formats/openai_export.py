"""Parts → messages as OpenAI's API takes them: `tool_calls`, and `role: "tool"`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from chat.protocol.frozen import JsonObject
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.notes import is_nested, part_notes
from chat.protocol.parts import FilePart, Part, ReasoningPart, StepStartPart, TextPart, ToolPart
from chat.protocol.tool_state import ToolCompleted, ToolError

# An API refuses a call that nobody answered.
NO_RESULT = "Tool execution aborted"


def to_openai_messages(message: WithParts) -> Iterator[JsonObject]:
    """A question is one message; of an answer each step is one, then the results of its calls."""
    parts = [part for part in message.parts if not part_notes(part).unreadable]
    if not isinstance(message.info, AnswerInfo):
        if content := _question(parts):
            yield {"role": "user", "content": content}
        return
    # What a sub-agent said and called is of a model of its own.
    own = [part for part in parts if not is_nested(part)]
    for is_mark, group in groupby(own, lambda part: isinstance(part, StepStartPart)):
        for step in () if is_mark else _with_results(group):
            yield from _step(step, message.info.model_id)


def _question(parts: Sequence[Part]) -> str | list[JsonObject]:
    if not any(isinstance(part, FilePart) for part in parts):
        return _joined(parts)
    return [block for part in parts for block in _block(part)]


def _block(part: Part) -> Iterator[JsonObject]:
    match part:
        case TextPart() if part.text:
            yield {"type": "text", "text": part.text}
        case FilePart() if part.mime.startswith("image/"):
            yield {"type": "image_url", "image_url": {"url": part.url}}
        case FilePart():
            file = {"filename": part.filename or part.mime, "file_data": part.url}
            yield {"type": "file", "file": file}


def _with_results(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """A step, cut where words follow calls: what a provider has run itself is gone on from in the
    same step, and the results stand in between."""
    step: list[Part] = []
    for part in parts:
        has_words = isinstance(part, TextPart | ReasoningPart) and part.text.strip()
        if has_words and any(isinstance(before, ToolPart) for before in step):
            yield step
            step = []
        step.append(part)
    yield step


def _step(parts: Sequence[Part], model: str) -> Iterator[JsonObject]:
    calls = [part for part in parts if isinstance(part, ToolPart)]
    thoughts = "\n\n".join(part.text for part in parts if isinstance(part, ReasoningPart))
    text = _joined(parts)
    if not (calls or thoughts or text):
        return
    step: JsonObject = {"role": "assistant", "content": text or None}
    if thoughts:
        step["reasoning_content"] = thoughts
    if calls:
        step["tool_calls"] = list(map(_call, calls))
    if model:
        step["model"] = model
    yield step
    for call in calls:
        yield {"role": "tool", "tool_call_id": call.call_id, "content": _result(call)}


def _call(part: ToolPart) -> JsonObject:
    arguments = json.dumps(part.state.input, ensure_ascii=False)
    function = {"name": part.tool, "arguments": arguments}
    return {"id": part.call_id, "type": "function", "function": function}


def _result(part: ToolPart) -> str:
    match part.state:
        case ToolCompleted(output=result) | ToolError(error=result):
            return result
        case _:
            return NO_RESULT


def _joined(parts: Sequence[Part]) -> str:
    texts = (part.text for part in parts if isinstance(part, TextPart) and not part.ignored)
    return "\n\n".join(text for text in texts if text)
