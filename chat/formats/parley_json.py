"""Parley's own files: a conversation with everything in it, as one JSON object.

The object is written with one message or file in each line, so a long one is written, and read
again, without ever being in memory as a whole. Ids are those of the server that wrote it; whoever
reads it gives new ones.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from chat.protocol.frozen import Frozen, JsonObject
from chat.protocol.messages import ModelRef, WithParts, message_to_json
from chat.protocol.text import has_too_many

FORMAT: Final = "parley.v2"
# Of a line that is read; the longest have a file in them.
LONGEST_LINE: Final = 100_000_000
TOO_LONG: Final = "…"

Section = Literal["files", "messages", "queue"]
SECTIONS: Final[tuple[Section, ...]] = ("files", "messages", "queue")


class _Read(Frozen):
    """What a later version adds is passed over."""

    model_config = ConfigDict(extra="ignore")


class FolderDetails(_Read):
    name: str
    instructions: str = ""


class ChatDetails(_Read):
    """What is known of a conversation besides its messages."""

    id: str = ""
    title: str = ""
    titled_by_hand: bool = Field(False, alias="titledByHand")
    created: AwareDatetime | None = None
    updated: AwareDatetime | None = None
    pinned: bool = False
    archived: AwareDatetime | None = None
    folder: FolderDetails | None = None
    agent: str = ""
    model: ModelRef | None = None
    effort: str = ""
    tools_off: tuple[str, ...] = Field((), alias="toolsOff")
    tool_style: Literal["", "json", "xml"] = Field("", alias="toolStyle")
    prompt_language: str = Field("", alias="promptLanguage")


class Place(_Read):
    """Where a message stands among the versions of a conversation, and when it was written."""

    parent: str = ""
    # Of an earlier text: the message that has another one now.
    copy_of: str = Field("", alias="copyOf")
    created: AwareDatetime | None = None
    updated: AwareDatetime | None = None
    completed: AwareDatetime | None = None
    # Since when it is no longer the version that is shown.
    archived: AwareDatetime | None = None


class ExportedFile(_Read):
    """A file: in the JSON itself (`data`, base64), or beside it in the archive (`path`)."""

    id: str
    mime: str = ""
    filename: str = ""
    size: int = 0
    data: str | None = None
    path: str | None = None


# --- writing ----------------------------------------------------------------------


def file_pieces(
    details: ChatDetails,
    files: Iterable[ExportedFile],
    messages: Iterable[tuple[WithParts, Place]],
    queue: Iterable[WithParts],
) -> Iterator[str]:
    """The text of the file, piece by piece."""
    head = {"format": FORMAT, **_json(details)}
    yield _line(head)[:-1]
    sections: dict[Section, Iterable[JsonObject]] = {
        "files": map(_json, files),
        "messages": ({"place": _json(place), **message_to_json(each)} for each, place in messages),
        "queue": map(message_to_json, queue),
    }
    for name in SECTIONS:
        yield f',\n"{name}": ['
        between = "\n"
        for each in sections[name]:
            yield between + _line(each)
            between = ",\n"
        yield "\n]"
    yield "}\n"


def _json(value: Frozen) -> JsonObject:
    return value.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _line(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- reading ----------------------------------------------------------------------


def head_of(line: str) -> JsonObject | None:
    """What the first line of a file says, if the file is written by lines."""
    if not line.startswith('{"format": "parley.'):
        return None
    try:
        head = json.loads(line.rstrip().removesuffix(",") + "}")
    except (ValueError, RecursionError):
        return None
    return head if isinstance(head, dict) else None


def lines_of(chunks: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in pieces; only a line feed ends one. In the place of one that
    is too long comes what is no JSON."""
    pieces: list[str] = []
    length = 0
    for chunk in chunks:
        *ended, rest = chunk.split("\n")
        for piece in ended:
            yield "".join((*pieces, piece)) if length + len(piece) <= LONGEST_LINE else TOO_LONG
            pieces.clear()
            length = 0
        length += len(rest)
        if length > LONGEST_LINE:
            pieces.clear()
        else:
            pieces.append(rest)
    if length:
        yield "".join(pieces) if length <= LONGEST_LINE else TOO_LONG


class BadLine(Exception):
    """A line that is not JSON."""


def entry_in(line: str) -> Section | JsonObject | None:
    """What a line adds: the name of the section that begins, or an entry of it."""
    text = line.strip().removesuffix(",")
    for name in SECTIONS:
        if text == f'"{name}": [':
            return name
    if not text.startswith("{"):
        if text.strip("]}"):
            raise BadLine
        return None
    if has_too_many(text):
        raise BadLine
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise BadLine from None
    return value if isinstance(value, dict) else None
