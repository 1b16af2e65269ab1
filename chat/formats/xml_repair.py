"""XML calls that were saved as text, and `[tool Result]` texts, made calls and results again (C4).

Only what is certain is changed: complete calls outside code, and results that follow them. A call
is certain if its tool is known here, or if a result of the same name is in the next message.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
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
_HEADING = re.compile(r"^\[([A-Za-z_][\w.-]*) Result\]$", re.MULTILINE)
_FIRST_HEADING = re.compile(r"\s*\[[A-Za-z_][\w.-]* Result\]\n\n")
_OPENING = re.compile(r"\s*\[(.+?) Result\]\n\n")
_ANY_HEADING = re.compile(r"^\[(.+) Result\]$", re.MULTILINE)
# An answer that has more calls is a page or a file.
_MOST_CALLS = 1000
# A text that has more kinds of them is no call, but a page or a file; so is one with as many kinds
# of headings.
_MOST_TAGS = 100
_TAG = re.compile(r"<([A-Za-z_][\w.-]*)>")
_END = re.compile(r"</([A-Za-z_][\w.-]*)>")


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
        self._tools = tuple(tools)
        self._schemas = schemas_of(tools)
        self._grammar = XmlGrammar.of(tools)
        self._make_id = make_id
        self._waiting: list[FoundCall] = []
        # How many results of tools that are not known here follow the answer, by their names.
        self._results: Counter[str] = Counter()

    def next_answer(self, following: Iterable[str] = ()) -> None:
        """Results answer the calls of the answer before them only. What is said in the next message
        may tell of tools that are not known here."""
        self._waiting.clear()
        self._results = self._headed(following)

    def in_answer(self, text: str) -> list[str | FoundCall]:
        """The text cut at its calls; one piece, unchanged, when it has no complete call."""
        if len(text) > self._grammar.max_message:
            return [text]
        ends = self._answered(text) or self._ends(text, self._grammar)
        if not ends or len(ends) + len(self._waiting) > _MOST_CALLS:
            return [text]
        calls = {end.call_id: self._found(end) for end in ends}
        pieces = list(_pieces(text, calls, ends))
        self._waiting += calls.values()
        return pieces

    def in_question(self, text: str) -> list[str | FoundResult]:
        """The text cut at its results; a result counts only when its call waits for it."""
        pieces: list[str | FoundResult] = []
        rest = text
        while (found := self._result(rest)) is not None:
            result, rest = found
            pieces.append(result)
        return [*pieces, rest] if rest.strip() or not pieces else pieces

    def _headed(self, texts: Iterable[str]) -> Counter[str]:
        """How often each tool that is not known here heads a result."""
        results: Counter[str] = Counter()
        for text in texts:
            if not _FIRST_HEADING.match(text):
                continue
            for found in _HEADING.finditer(text):
                if found[1] not in self._grammar.tools and found[1] not in _NAMELESS:
                    results[found[1]] += 1
                if len(results) > _MOST_TAGS:
                    return Counter()
        return results

    def _answered(self, text: str) -> list[CallEnded]:
        """The calls, among them some of tools that nobody knows here, each with its result."""
        results = self._results.copy()
        results.subtract(call.name for call in self._waiting if call.name in results)
        ended = set(_END.findall(text)) if results else set()
        others = [name for name in results if name in ended]
        if not others:
            return []
        # Which parameters they take is seen in the text alone: none of them holds another.
        seen: JsonObject = {tag: {} for tag in _TAG.findall(text) if tag not in results}
        if len(others) + len(seen) > _MOST_TAGS:
            return []
        specs = [ToolSpec(name, "", {"properties": seen}) for name in others]
        kept = []
        for end in self._ends(text, XmlGrammar.of([*self._tools, *specs])):
            if end.name in others:
                if not _is_call(end) or results[end.name] < 1:
                    continue
                results[end.name] -= 1
            kept.append(end)
        return kept

    def _ends(self, text: str, grammar: XmlGrammar) -> list[CallEnded]:
        """The calls in a text, if all of them are whole."""
        parser = XmlToolParser(grammar, self._make_id)
        events = parser.feed(text) + parser.close()
        ends = [event for event in events if isinstance(event, CallEnded)]
        return [] if any(end.fault for end in ends) else ends

    def _found(self, end: CallEnded) -> FoundCall:
        known = end.name in self._schemas
        # Of a tool that is not known here, the values stay the texts that they were written as.
        values = parse_values(end.values, self._schemas[end.name]) if known else dict(end.values)
        return FoundCall(end.call_id, end.name, values)

    def _result(self, text: str) -> tuple[FoundResult, str] | None:
        opening = _OPENING.match(text)
        if opening is None:
            return None
        name = opening[1]
        places = (
            place
            for place, call in enumerate(self._waiting)
            if name in _NAMELESS or name == call.name
        )
        place = next(places, None)
        if place is None:
            return None
        call = self._waiting.pop(place)
        after = text[opening.end() :]
        end = _next_heading(after, {one.name for one in self._waiting})
        output = after[:end].rstrip("\n") if end < len(after) else after
        return FoundResult(call, output), after[end:]


def _is_call(end: CallEnded) -> bool:
    """Whether what stands between the tags are values, or nothing at all, and not a sentence."""
    return bool(end.values) or not end.raw.removesuffix(f"</{end.name}>").strip()


def _next_heading(text: str, names: set[str]) -> int:
    """Where another result begins in the same text, which is headed by its tool's name."""
    starts = (found.start() for found in _ANY_HEADING.finditer(text) if found[1] in names)
    return next(starts, len(text))


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
    following = [*messages[1:], None]
    return [
        _repaired(message, finder, _typed(after))
        for message, after in zip(messages, following, strict=True)
    ]


def _typed(message: JsonObject | None) -> list[str]:
    """The texts of a message of the user's side."""
    if message is None or message["role"] != "user":
        return []
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block["type"] == "text"]


def _repaired(message: JsonObject, finder: CallFinder, following: list[str]) -> JsonObject:
    content = message["content"]
    if message["role"] == "assistant":
        finder.next_answer(following)
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    repaired = [one for block in blocks for one in _block(block, message["role"], finder)]
    return message if repaired == blocks else {**message, "content": repaired}


def _block(block: JsonObject, role: str, finder: CallFinder) -> Iterator[JsonObject]:
    if block["type"] != "text":
        yield block
        return
    text = block["text"]
    is_answer = role == "assistant"
    pieces = finder.in_answer(text) if is_answer else finder.in_question(text)
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
