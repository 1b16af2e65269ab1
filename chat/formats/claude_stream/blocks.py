"""Which blocks of which model answers were told already.

With partial messages a block comes twice: in pieces, then whole, and whole before its end is
said. Transcripts of resumed sessions repeat what came before. Each word is told once.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from chat.formats.imported import shapes
from chat.formats.imported.updates import Called, Update, Words
from chat.protocol.frozen import JsonObject

Kind = Literal["text", "thinking"]


@dataclass(slots=True)
class _Open:
    """A block that comes in pieces."""

    kind: Literal["text", "thinking", "tool"]
    key: str
    pieces: list[str] = field(default_factory=list)
    call_id: str = ""
    name: str = ""
    # The whole block has come.
    is_whole: bool = False


@dataclass(slots=True)
class _Message:
    open: dict[int, _Open] = field(default_factory=dict)
    # Whole texts and thoughts, by their kind and what they say.
    told: set[tuple[Kind, int]] = field(default_factory=set)
    count: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands: in which model answer, made for which call, and when."""

    message_id: str
    parent: str = ""
    at: int | None = None


class Blocks:
    def __init__(self) -> None:
        self._messages: dict[str, _Message] = {}

    def message(self, message_id: str) -> _Message:
        return self._messages.setdefault(message_id, _Message())

    # --- in pieces ----------------------------------------------------------------

    def start(self, place: Place, index: int, block: JsonObject) -> Iterator[Update]:
        message = self.message(place.message_id)
        match block.get("type"):
            case "text" | "thinking" as kind:
                message.open[index] = _Open(kind, self._key(place, message))
                yield from self._grow(message.open[index], shapes.text(block.get(kind)), place)
            case str(kind) if kind.endswith("tool_use"):
                call_id, name = shapes.text(block.get("id")), shapes.text(block.get("name"))
                message.open[index] = _Open("tool", "", call_id=call_id, name=name)
                if call_id and name:
                    given = shapes.arguments(block.get("input"))
                    yield Called(call_id, name, given, place.parent, is_pending=True, at=place.at)

    def add(self, place: Place, index: int, delta: JsonObject) -> Iterator[Update]:
        block = self.message(place.message_id).open.get(index)
        if block is None or block.is_whole:
            return
        match delta.get("type"):
            case "text_delta" if block.kind == "text":
                yield from self._grow(block, shapes.text(delta.get("text")), place)
            case "thinking_delta" if block.kind == "thinking":
                yield from self._grow(block, shapes.text(delta.get("thinking")), place)
            case "signature_delta" if block.kind == "thinking":
                signature = shapes.text(delta.get("signature"))
                yield Words("thinking", block.key, "", place.parent, signature, place.at)
            case "input_json_delta" if block.kind == "tool":
                block.pieces.append(shapes.text(delta.get("partial_json")))

    def stop(self, place: Place, index: int) -> Iterator[Update]:
        """The arguments of a call are whole; a text needs nothing more."""
        block = self.message(place.message_id).open.get(index)
        if block is None or block.kind != "tool" or block.is_whole or not block.call_id:
            return
        block.is_whole = True
        try:
            given = json.loads("".join(block.pieces) or "{}")
        except (ValueError, RecursionError):
            given = {}
        yield Called(block.call_id, block.name, shapes.arguments(given), place.parent, at=place.at)

    def _grow(self, block: _Open, delta: str, place: Place) -> Iterator[Update]:
        if delta and block.kind != "tool":
            block.pieces.append(delta)
            yield Words(block.kind, block.key, delta, place.parent, at=place.at)

    # --- whole --------------------------------------------------------------------

    def whole(self, place: Place, blocks: list[tuple[Kind, str, str]]) -> Iterator[Update]:
        """The texts and thoughts of one line: of which kind, what they say, and a signature."""
        message = self.message(place.message_id)
        before = frozenset(message.told)
        for kind, words, signature in blocks:
            said = kind, hash((words, signature))
            message.told.add(said)
            block = self._open_block(message, kind)
            if block is not None:
                block.is_whole = True
                so_far = "".join(block.pieces)
                block.pieces.clear()
                rest = words.removeprefix(so_far) if words.startswith(so_far) else ""
                if rest or signature:
                    yield Words(kind, block.key, rest, place.parent, signature, place.at)
            elif said not in before and (words or signature):
                key = self._key(place, message)
                yield Words(kind, key, words, place.parent, signature, place.at)

    def _open_block(self, message: _Message, kind: Kind) -> _Open | None:
        found = (each for each in message.open.values() if each.kind == kind)
        return next((each for each in found if not each.is_whole), None)

    def _key(self, place: Place, message: _Message) -> str:
        message.count += 1
        return f"{place.message_id}:{message.count}"
