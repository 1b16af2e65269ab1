"""XML calls that were saved as text, and `[tool Result]` texts, made calls and results again (C4).

Only what is certain is changed: complete calls of known tools outside code, and results that
follow them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chat.formats.xml_call import XmlGrammar
from chat.formats.xml_events import CallEnded
from chat.formats.xml_history import schemas_of
from chat.formats.xml_tools import XmlToolParser
from chat.formats.xml_values import parse_values
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import new_id
from chat.protocol.interfaces import ToolSpec

# How results are headed when the tool's name was not known.
_NAMELESS = ("tool", "Unknown Tool")


@dataclass(frozen=True, slots=True)
class FoundCall:
    call_id: str
    name: str
    input: JsonObject


@dataclass(frozen=True, slots=True)
class FoundResult:
    call: FoundCall
    text: str


class CallFinder:
    """Finds calls in texts, and the results that answer them."""

    def __init__(
        self, tools: Sequence[ToolSpec], make_id: Callable[[], str] = lambda: f"xml_{new_id()}"
    ) -> None:
        self._schemas = schemas_of(tools)
        self._grammar = XmlGrammar.of(tools)
        self._make_id = make_id
        self._waiting: list[FoundCall] = []

    def in_answer(self, text: str) -> list[str | FoundCall]:
        """The text cut at its calls; one piece, unchanged, when it has no complete call."""
        if len(text) > self._grammar.max_message:
            return [text]
        parser = XmlToolParser(self._grammar, self._make_id)
        events = parser.feed(text) + parser.close()
        ends = [event for event in events if isinstance(event, CallEnded)]
        if not ends or any(end.fault for end in ends):
            return [text]
        calls = {end.call_id: self._found(end) for end in ends}
        pieces = list(_pieces(text, calls, ends))
        self._waiting += calls.values()
        return pieces

    def next_answer(self) -> None:
        """Results answer the calls of the answer before them only."""
        self._waiting.clear()

    def in_question(self, text: str) -> list[str | FoundResult]:
        """The text cut at its results; a result counts only when its call waits for it."""
        pieces: list[str | FoundResult] = []
        rest = text
        while (found := self._result(rest)) is not None:
            result, rest = found
            pieces.append(result)
        return [*pieces, rest] if rest.strip() or not pieces else pieces

    def _found(self, end: CallEnded) -> FoundCall:
        return FoundCall(
            end.call_id, end.name, parse_values(end.values, self._schemas.get(end.name))
        )

    def _result(self, text: str) -> tuple[FoundResult, str] | None:
        for index, call in enumerate(self._waiting):
            opening = _heading(call.name).match(text)
            if opening is None:
                continue
            del self._waiting[index]
            after = text[opening.end() :]
            ends = [
                found.start() for one in self._waiting if (found := _next_heading(one.name, after))
            ]
            end = min(ends, default=len(after))
            output = after[:end].rstrip("\n") if end < len(after) else after
            return FoundResult(call, output), after[end:]
        return None


def _heading(name: str) -> re.Pattern[str]:
    names = "|".join(map(re.escape, (name, *_NAMELESS)))
    return re.compile(rf"\s*\[(?:{names}) Result\]\n\n")


def _next_heading(name: str, text: str) -> re.Match[str] | None:
    """A result that follows another one in the same text is headed by its tool's name."""
    return re.search(rf"^\[{re.escape(name)} Result\]$", text, re.MULTILINE)


def _pieces(
    text: str, calls: dict[str, FoundCall], ends: Sequence[CallEnded]
) -> Iterator[str | FoundCall]:
    at = 0
    for end in ends:
        if before := text[at : end.start].strip():
            yield before
        yield calls[end.call_id]
        at = end.end
    if after := text[at:].strip():
        yield after


def repair_blocks(messages: Sequence[JsonObject], tools: Sequence[ToolSpec]) -> list[JsonObject]:
    """The same for a history of blocks, as other chats keep it."""
    finder = CallFinder(tools)
    return [_repaired(message, finder) for message in messages]


def _repaired(message: JsonObject, finder: CallFinder) -> JsonObject:
    content = message["content"]
    if message["role"] == "assistant":
        finder.next_answer()
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    repaired = [one for block in blocks for one in _block(block, message["role"], finder)]
    return message if repaired == blocks else {**message, "content": repaired}


def _block(block: JsonObject, role: str, finder: CallFinder) -> Iterator[JsonObject]:
    if block["type"] != "text":
        yield block
        return
    text = block["text"]
    pieces = finder.in_answer(text) if role == "assistant" else finder.in_question(text)
    for piece in pieces:
        match piece:
            case FoundCall():
                call = {"id": piece.call_id, "name": piece.name, "input": piece.input}
                yield {"type": "tool_use", **call}
            case FoundResult():
                key = piece.call.call_id
                yield {"type": "tool_result", "tool_use_id": key, "content": piece.text}
            case _:
                yield block if piece == text else {"type": "text", "text": piece}
