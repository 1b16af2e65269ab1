"""Tool calls put together from deltas, whatever a server calls a delta."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ProviderEvent, ToolCall, ToolCallDelta, ToolCallStart
from chat.protocol.text import clean_json, clean_text, is_deep


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    index: int | None = None
    pieces: list[str] = field(default_factory=list)
    started: bool = False  # its `ToolCallStart` was given
    metadata: JsonObject | None = None


class CallCollector:
    """The calls of one answer, in the order in which they began."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        # The last call of each id and of each index.
        self._by_id: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, deltas: list[Any]) -> Iterator[ProviderEvent]:
        """Take the call deltas of one chunk; positions stand in where indexes are missing."""
        several = len(deltas) > 1
        for position, delta in enumerate(deltas):
            if isinstance(delta, dict):
                yield from self._take(delta, position if several else None)

    def finish(self) -> Iterator[ToolCall]:
        """The complete calls, with their arguments or with what is wrong with them."""
        for call in self._calls:
            if call.name:
                yield complete_call(call.id, call.name, "".join(call.pieces), call.metadata)

    def _take(self, delta: dict[str, Any], position: int | None) -> Iterator[ProviderEvent]:
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        call = self._find(delta, function, position)
        name = function.get("name")
        if not call.name and isinstance(name, str):
            call.name = clean_text(name).strip()
        if isinstance(extra := delta.get("extra_content"), dict):
            call.metadata = {"extra_content": clean_json(extra)}
        piece = _argument_text(function.get("arguments"))
        if piece:
            call.pieces.append(piece)
        if call.name and not call.started:
            call.started = True
            call.id = call.id or f"call_{uuid4().hex}"
            yield ToolCallStart(call.id, call.name)
            piece = "".join(call.pieces)
        if call.started and piece:
            yield ToolCallDelta(call.id, clean_text(piece))

    def _find(self, delta: dict[str, Any], function: dict[str, Any], position: int | None) -> _Call:
        """The call a delta belongs to: by index, unless its id says it is another one."""
        index, id_ = delta.get("index"), delta.get("id")
        index = index if type(index) is int else None
        id_ = clean_text(id_) if isinstance(id_, str) else ""
        known = self._known(index if index is not None else position, id_)
        if known is None and index is None and not id_ and not function.get("name"):
            known = self._calls[-1] if self._calls else None
        if known is None:
            known = _Call(index=index if index is not None else position)
            self._calls.append(known)
            if known.index is not None:
                self._by_index[known.index] = known
        if id_ and not known.id and not known.started:
            known.id = id_
            self._by_id[id_] = known
        return known

    def _known(self, index: int | None, id_: str) -> _Call | None:
        same = self._by_id.get(id_) if id_ else None
        if same is not None and (index is None or same.index in (None, index)):
            return same
        at_index = None if index is None else self._by_index.get(index)
        if at_index is not None and id_ and at_index.id and at_index.id != id_:
            return None
        return at_index


def complete_call(
    call_id: str, name: str, raw: str, metadata: JsonObject | None = None
) -> ToolCall:
    """A call with its arguments parsed; a fault in them goes back to the model, not raised."""
    raw = clean_text(raw)
    try:
        arguments = _parse_arguments(raw)
    except (ValueError, RecursionError) as error:
        fault = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        return ToolCall(call_id, name, {}, raw, f"The arguments are not usable: {fault}", metadata)
    return ToolCall(call_id, name, clean_json(arguments), raw, "", metadata)


def _argument_text(arguments: object) -> str:
    match arguments:
        case str():
            return arguments
        case dict() | list():
            return json.dumps(arguments, ensure_ascii=False)
        case _:
            return ""


def _parse_arguments(raw: str) -> JsonObject:
    """The arguments in a text: nothing is `{}`, and JSON inside a JSON string is read too."""
    if not raw.strip():
        return {}
    value = _parse_value(raw.strip())
    if isinstance(value, str):
        value = _parse_value(value.strip()) if value.strip() else {}
    if is_deep(value):
        raise RecursionError
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError("they must be a JSON object")
    return value


_decoder = json.JSONDecoder()


def _parse_value(text: str) -> Any:
    """A JSON value. Some servers write several in a row: then the only one that is not empty."""
    values: list[Any] = []
    at = 0
    while at < len(text):
        value, at = _decoder.raw_decode(text, at)
        while at < len(text) and text[at].isspace():
            at += 1
        if value not in values:
            values.append(value)
        if len(values) > 2:
            break
    not_empty = [value for value in values if value != {}] or values[:1]
    if len(not_empty) > 1:
        raise ValueError("several objects instead of one")
    return not_empty[0]
