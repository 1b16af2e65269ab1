"""One message: the same HTML on the page, live, on catch-up, in the admin and in an export."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from chat.protocol.messages import AnswerInfo, Status, UserInfo, WithParts
from chat.protocol.parts import (
    FilePart,
    Part,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolPart,
)
from chat.rendering import dom, times
from chat.rendering.feet import Retry, foot_html, work_html
from chat.rendering.prose import prose, thought
from chat.rendering.reader import Reader
from chat.rendering.sizes import file_size
from chat.rendering.tool_cards import broken_card_html, safe_url, tool_card_html

MessageState = Literal["streaming", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class BrokenPart:
    """A stored part that no longer validates."""

    position: int
    type: str


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message with the positions of its parts, when they are not simply 0, 1, 2 …"""

    message: WithParts
    positions: tuple[int, ...] | None = None
    broken: tuple[BrokenPart, ...] = ()


def message_state(status: Status) -> MessageState:
    match status:
        case "pending" | "streaming":
            return "streaming"
        case "success":
            return "done"
        case "cancelled":
            return "stopped"
        case "error":
            return "failed"
        case _:
            assert_never(status)


def message_html(
    message: WithParts | ShownMessage,
    reader: Reader,
    *,
    editing: bool = False,
    retry: Retry | None = None,
    cursors: bool = False,
) -> SafeString:
    """The whole message; a loaded page is also told how much it shows of what still grows."""
    shown = ShownMessage(message) if isinstance(message, WithParts) else message
    info = shown.message.info
    position = info.position
    values: dict[str, Any] = {
        "info": info,
        "reader": reader,
        "element": dom.message_id(position),
        "body": dom.body_id(position),
    }
    with reader.speaking():
        if isinstance(info, UserInfo):
            values |= _said(shown, reader) | {"editing": editing, "text": shown.message.text}
            if info.summary and info.summary.body:
                values["summary"] = prose(info.summary.body, dom.summary_id(position)).html
            return _draw("chat/said.html", values)
        parts = mark_safe("".join(_parts(shown, info, reader, cursors)))
        values |= {
            "state": message_state(info.status),
            "parts": parts,
            "work_id": dom.work_id(info.position),
            "work": work_html(shown.message, reader),
            "foot": foot_html(shown.message, reader, retry=retry),
        }
        return _draw("chat/answer.html", values)


def part_html(
    part: Part,
    message: int,
    position: int,
    reader: Reader,
    *,
    is_open: bool = False,
    cursor: bool = False,
) -> SafeString:
    """One part of an answer; step marks draw nothing."""
    match part:
        case TextPart():
            return _text_html(part, dom.part_id(message, position), reader, is_open, cursor)
        case ReasoningPart():
            return _thinking_html(part, message, position, reader, is_open, cursor)
        case ToolPart():
            return tool_card_html(part, message, position, reader)
        case FilePart():
            return file_html(part, dom.part_id(message, position), reader)
        case StepStartPart() | StepFinishPart():
            return SafeString("")
        case _:
            assert_never(part)


def file_html(part: FilePart, element: str, reader: Reader) -> SafeString:
    """A picture, or a chip with the name of the file."""
    own = part.url.startswith("/") and not part.url.startswith(("//", "/\\"))
    url = part.url if own else safe_url(part.url)
    inline = part.url.startswith(("data:image/png;", "data:image/jpeg;", "data:image/webp;"))
    picture = part.mime.startswith("image/") and (own or inline)
    values = {
        "id": element,
        "url": url,
        "picture": part.url if picture else "",
        "name": part.filename or part.mime,
        "size": "" if part.size is None else file_size(part.size),
    }
    with reader.speaking():
        return _draw("chat/file.html", values)


def is_growing(part: Part, *, streaming: bool) -> bool:
    """Whether more of this part may come: a text of a running answer that has not ended."""
    match part:
        case TextPart():
            return streaming and (part.time is None or part.time.end is None)
        case ReasoningPart():
            return streaming and part.time.end is None
        case _:
            return False


def _parts(shown: ShownMessage, info: AnswerInfo, reader: Reader, cursors: bool) -> Iterator[str]:
    parts = shown.message.parts
    positions = shown.positions or tuple(range(len(parts)))
    streaming = message_state(info.status) == "streaming"
    drawn: list[tuple[int, str]] = [
        (broken.position, broken_card_html(info.position, broken.position, broken.type, reader))
        for broken in shown.broken
    ]
    for part, position in zip(parts, positions, strict=True):
        growing = is_growing(part, streaming=streaming)
        html = part_html(part, info.position, position, reader, is_open=growing, cursor=cursors)
        drawn.append((position, html))
    return (html for _position, html in sorted(drawn, key=lambda pair: pair[0]))


def _said(shown: ShownMessage, reader: Reader) -> dict[str, Any]:
    """What a person said: plain text as typed, and the files that came with it."""
    message = shown.message.info.position
    parts = shown.message.parts
    placed = list(zip(shown.positions or range(len(parts)), parts, strict=True))
    return {
        "files": [
            file_html(part, dom.part_id(message, position), reader)
            for position, part in placed
            if isinstance(part, FilePart)
        ],
        "texts": [
            {"id": dom.part_id(message, position), "part": part}
            for position, part in placed
            if isinstance(part, TextPart)
        ],
    }


def _text_html(
    part: TextPart, element: str, reader: Reader, growing: bool, cursor: bool
) -> SafeString:
    with reader.speaking():
        shown = prose(part.text, element, is_open=growing)
    length = format_html(' data-n="{}"', shown.length) if growing and cursor else ""
    mark = " synthetic" if part.synthetic else ""
    return format_html(
        '<div class="markdown{}" id="{}"{}>{}</div>', mark, element, length, shown.html
    )


def _thinking_html(
    part: ReasoningPart,
    message: int,
    position: int,
    reader: Reader,
    growing: bool,
    cursor: bool,
) -> SafeString:
    key = dom.thought_id(message, position)
    end = part.time.end
    with reader.speaking():
        values = {
            "id": dom.part_id(message, position),
            "text_id": key,
            "running": growing,
            "cursor": growing and cursor,
            "since": part.time.start,
            "clock": times.clock(reader.now - part.time.start),
            "duration": "" if end is None else times.clock(max(end - part.time.start, 1000)),
            "thought": thought(part.text, key, is_open=growing),
        }
        return _draw("chat/thinking.html", values)


def _draw(template: str, values: dict[str, Any]) -> SafeString:
    return SafeString(render_to_string(template, values).strip())
