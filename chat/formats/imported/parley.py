"""Parley's own export, read back: the same messages, under ids of their own."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from chat.formats.imported.items import (
    Began,
    Ended,
    GivenFile,
    Item,
    Known,
    PlacedMessage,
    Skipped,
    WaitingMessage,
)
from chat.formats.parley_json import (
    FORMAT,
    SECTIONS,
    BadLine,
    ChatDetails,
    ExportedFile,
    Place,
    Section,
    entry_in,
    lines_of,
)
from chat.protocol import tool_state
from chat.protocol.errors import PartError
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import new_id, now_ms
from chat.protocol.messages import WithParts, message_from_json
from chat.protocol.parts import Part, ToolPart
from chat.protocol.text import clean_json, is_deep
from chat.protocol.tool_state import ToolCompleted, ToolPending, ToolRunning

# Without earlier versions, files and what waits.
FIRST_FORMAT = "parley.v1"
UNREADABLE = (ValidationError, PartError, TypeError, ValueError)


def read_lines(head: JsonObject, chunks: Iterable[str]) -> Iterator[Item]:
    """A file as we write it: its first line is the head, then come the sections line by line."""
    reader = _Reader(clean_json(head))
    yield from reader.begin()
    section: Section = "files"
    lines = ((number, line) for number, line in enumerate(lines_of(chunks), 1) if line.strip())
    _first, last = next(lines, None), ""
    for number, last in lines:
        try:
            entry = entry_in(last)
        except BadLine:
            yield Skipped("line_not_json", str(number))
            continue
        if isinstance(entry, str):
            section = entry
        elif entry is not None and is_deep(entry):
            yield Skipped("line_not_json", str(number))
        elif entry is not None:
            yield from reader.add(section, clean_json(entry))
    is_whole = last.strip() == "]}"
    if not is_whole:
        yield from reader.cut_off()
    yield from reader.end(is_whole=is_whole)


def read_value(value: JsonObject, *, is_whole: bool = True) -> Iterator[Item]:
    """The same of a file that somebody has written in another way, and of the first format."""
    reader = _Reader(value)
    yield from reader.begin()
    for section in SECTIONS:
        entries = value.get(section)
        for entry in entries if isinstance(entries, list) else ():
            yield from reader.add(section, entry)
    yield from reader.end(is_whole=is_whole)


class _Reader:
    """One conversation; its messages get new ids, for the old ones may be those of rows here."""

    def __init__(self, head: JsonObject) -> None:
        self._head = head
        self._form = str(head.get("format"))
        self._external_id = str(head.get("id") or "")
        self._session_id = new_id()
        # The new ids, also of messages that have not come yet.
        self._ids: defaultdict[str, str] = defaultdict(new_id)
        self._seen: set[str] = set()
        self._numbers = dict.fromkeys(SECTIONS, 0)

    def begin(self) -> Iterator[Item]:
        if self._form not in (FORMAT, FIRST_FORMAT):
            yield Skipped("file_too_new", self._form)
            return
        yield Began(self._session_id, "parley")
        yield Known(self._external_id, self._details())

    def add(self, section: Section, entry: Any) -> Iterator[Item]:
        if self._form == FIRST_FORMAT and section != "messages":
            return
        if self._form not in (FORMAT, FIRST_FORMAT):
            return
        self._numbers[section] += 1
        try:
            yield self._read(section, entry)
        except UNREADABLE:
            number = str(self._numbers[section])
            lost = "file_refused" if section == "files" else "message_not_understood"
            yield Skipped(lost, number)

    def cut_off(self) -> Iterator[Item]:
        if self._form in (FORMAT, FIRST_FORMAT):
            yield Skipped("file_cut_off", str(self._numbers["messages"]))

    def end(self, *, is_whole: bool) -> Iterator[Item]:
        if self._form not in (FORMAT, FIRST_FORMAT):
            return
        yield Ended(self._external_id, str(self._head.get("title") or ""), is_whole=is_whole)

    def _details(self) -> ChatDetails | None:
        if self._form == FIRST_FORMAT:
            return None
        try:
            return ChatDetails.model_validate(self._head, strict=False)
        except UNREADABLE:
            return ChatDetails(id=self._external_id, title=str(self._head.get("title") or ""))

    def _read(self, section: Section, entry: Any) -> Item:
        if section == "files":
            return GivenFile(ExportedFile.model_validate(entry, strict=False))
        if not isinstance(entry, dict):
            raise TypeError
        values = {key: value for key, value in entry.items() if key != "place"}
        message = message_from_json(values)
        moved = _moved(message, self._session_id, self._new_id(message.info.id))
        if section == "queue":
            return WaitingMessage(moved)
        if self._form == FIRST_FORMAT:
            return moved
        place = Place.model_validate(entry.get("place") or {}, strict=False)
        parent, copy_of = (self._ids[key] if key else "" for key in (place.parent, place.copy_of))
        return PlacedMessage(moved, place.model_copy(update={"parent": parent, "copy_of": copy_of}))

    def _new_id(self, key: str) -> str:
        """The new id of a message; whoever comes second under an old one is named by nobody."""
        if key in self._seen:
            return new_id()
        self._seen.add(key)
        return self._ids[key]


def _moved(message: WithParts, session_id: str, message_id: str) -> WithParts:
    ids = {"session_id": session_id, "message_id": message_id}
    parts = []
    for part in message.parts:
        moved = _ended(part).model_copy(update={"id": new_id(), **ids})
        state = getattr(moved, "state", None)
        if isinstance(state, ToolCompleted) and state.attachments:
            files = tuple(
                file.model_copy(update={"id": new_id(), **ids}) for file in state.attachments
            )
            state = state.model_copy(update={"attachments": files})
            moved = moved.model_copy(update={"state": state})
        parts.append(moved)
    info = message.info.model_copy(update={"id": message_id, "session_id": session_id})
    return WithParts(info=info, parts=tuple(parts))


def _ended(part: Part) -> Part:
    """An export may have been made in the middle of an answer: nothing of it runs any more."""
    if isinstance(part, ToolPart) and isinstance(part.state, ToolPending | ToolRunning):
        return part.model_copy(update={"state": tool_state.abort(part.state, now_ms())})
    return part
