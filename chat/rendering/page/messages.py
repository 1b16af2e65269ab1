"""One message: the same HTML on the page, live, on catch-up, in the admin and in an export."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, assert_never

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from chat.protocol.events import Retry
from chat.protocol.messages import AnswerInfo, Info, Status, UserInfo, WithParts
from chat.protocol.notes import is_nested, part_notes
from chat.protocol.parts import (
    FilePart,
    Part,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolPart,
)
from chat.rendering.page import dom, times
from chat.rendering.page.cards import (
    safe_url,
    shown_picture,
    tool_card_html,
    unreadable_card_html,
)
from chat.rendering.page.cards.form import PagesRead
from chat.rendering.page.cards.pages_read import pages_read
from chat.rendering.page.footer import foot_html, work_html
from chat.rendering.page.long_text import is_long
from chat.rendering.page.prose import prose, sources_html, thought
from chat.rendering.page.sizes import file_size
from chat.rendering.reader import Reader
from chat.rendering.stencil import stencil

MessageState = Literal["streaming", "done", "stopped", "failed"]


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
    message: WithParts,
    reader: Reader,
    *,
    editing: bool = False,
    retry: Retry | None = None,
    cursors: bool = False,
) -> SafeString:
    """The whole message; a loaded page is also told how much it shows of what still grows."""
    info = message.info
    with reader.speaking():
        if isinstance(info, UserInfo):
            return _question(message, info, reader, editing)
        fills = _names(info) | {
            "parts": mark_safe("".join(_parts(message, info, reader, cursors))),
            "work_id": dom.work_id(info.position),
            "work": work_html(message, reader),
            "foot": foot_html(message, reader, retry=retry),
        }
        return stencil("chat/answer.html", {}, fills)


def part_html(
    part: Part,
    message: int,
    position: int,
    reader: Reader,
    *,
    is_open: bool = False,
    cursor: bool = False,
    inner: Sequence[ToolPart] = (),
    pages: PagesRead | None = None,
) -> SafeString:
    """One part of a message, a call with those of its sub-agent and, where it is a search, with
    the `pages` that were read; step marks draw nothing."""
    if unreadable := part_notes(part).unreadable:
        return unreadable_card_html(unreadable, message, position, reader)
    match part:
        case TextPart():
            return _text_html(part, dom.part_id(message, position), reader, is_open, cursor)
        case ReasoningPart():
            return _thinking_html(part, message, position, reader, is_open, cursor)
        case ToolPart():
            return tool_card_html(part, message, position, reader, inner, pages or {})
        case FilePart():
            return file_html(part, dom.part_id(message, position), reader)
        case StepStartPart() | StepFinishPart():
            return SafeString("")
        case _:
            assert_never(part)


def file_html(part: FilePart, element: str, reader: Reader) -> SafeString:
    """A picture, or a chip with the name of the file."""
    picture = shown_picture(part)
    own = part.url.startswith("/") and not part.url.startswith(("//", "/\\"))
    values = {
        "id": element,
        "url": part.url if own else safe_url(part.url),
        "picture": picture,
        "name": part.filename or part.mime,
        "size": "" if part.size is None else file_size(part.size),
    }
    with reader.speaking():
        return _draw("chat/file.html", values)


def is_growing(part: Part, *, streaming: bool) -> bool:
    """Whether more of this part may come: a text of a running answer that has not ended."""
    if not streaming or not isinstance(part, TextPart | ReasoningPart):
        return False
    ended = part.time is not None and part.time.end is not None
    return not ended and part_notes(part).unreadable is None


def drawing_order(parts: Mapping[int, Part]) -> list[int]:
    """The positions of an answer's parts in the order in which they are drawn.

    That is their own order, but the calls of a sub-agent stand below the call they were made
    for, also where calls were made side by side.
    """
    outer = {part.call_id: n for n, part in parts.items() if isinstance(part, ToolPart)}
    below: dict[int, list[int]] = {}
    order: list[int] = []
    for position in sorted(parts):
        above = outer.get(part_notes(parts[position]).parent_call_id, position)
        if above < position:
            below.setdefault(above, []).append(position)
        else:
            order.append(position)
    return [each for position in order for each in _with_nested(position, below)]


def calls_within(parts: Iterable[Part]) -> dict[str, list[ToolPart]]:
    """The calls that sub-agents have made, by the call that each works for."""
    within: dict[str, list[ToolPart]] = {}
    for part in parts:
        if isinstance(part, ToolPart) and (parent := part_notes(part).parent_call_id):
            within.setdefault(parent, []).append(part)
    return within


def _with_nested(position: int, below: Mapping[int, list[int]]) -> Iterator[int]:
    yield position
    for nested in below.get(position, ()):
        yield from _with_nested(nested, below)


def drawn_above(parts: Mapping[int, Part], position: int) -> int | None:
    """The part below which this one is drawn, where that is not the end of the answer."""
    if not part_notes(parts[position]).parent_call_id:
        return None
    marks = (StepStartPart, StepFinishPart)
    order = [n for n in drawing_order(parts) if not isinstance(parts[n], marks)]
    place = order.index(position)
    return order[place - 1] if 0 < place < len(order) - 1 else None


def _parts(
    message: WithParts, info: AnswerInfo, reader: Reader, cursors: bool
) -> Iterator[SafeString]:
    parts = dict(enumerate(message.parts))
    streaming = message_state(info.status) == "streaming"
    within = calls_within(message.parts)
    pages = pages_read(parts, info.position)
    for position in drawing_order(parts):
        part = parts[position]
        growing = is_growing(part, streaming=streaming)
        inner = within.get(part.call_id, ()) if isinstance(part, ToolPart) else ()
        yield part_html(
            part,
            info.position,
            position,
            reader,
            is_open=growing,
            cursor=cursors,
            inner=inner,
            pages=pages,
        )
        if not growing:
            yield sources_html(part, reader)


def _names(info: Info) -> dict[str, str]:
    """What a message is known by on the page."""
    return {
        "element": dom.message_id(info.position),
        "body": dom.body_id(info.position),
        "info.id": info.id,
        "info.mark": info.mark,
    }


def _question(message: WithParts, info: UserInfo, reader: Reader, editing: bool) -> SafeString:
    """A user's message: its words as Markdown, and the files that came with it."""
    looks = {
        "editing": editing,
        "reader.is_public": reader.is_public,
        "reader.may_act": reader.may_act,
        "info.version": info.version,
        "info.versions": info.versions,
    }
    fills = _names(info) | {
        "info.position": str(info.position),
        "text": message.text if editing else "",
        "said": "" if editing else mark_safe("".join(_said(message, info, reader))),
    }
    return stencil("chat/user_message.html", looks, fills)


def _said(message: WithParts, info: UserInfo, reader: Reader) -> Iterator[SafeString]:
    """What stands for earlier messages, then the files, then the words."""
    if info.summary and info.summary.body:
        summary = prose(info.summary.body, dom.summary_id(info.position)).html
        yield _draw("chat/summary.html", {"summary": summary})
    texts = []
    for position, part in enumerate(message.parts):
        if part_notes(part).unreadable or isinstance(part, FilePart):
            yield part_html(part, info.position, position, reader)
        elif isinstance(part, TextPart):
            texts.append(_typed(part, dom.part_id(info.position, position)))
    yield from texts


def _typed(part: TextPart, element: str) -> SafeString:
    """What a person wrote, as Markdown, and as it was typed."""
    html = prose(part.text, element).html
    looks = {"synthetic": part.synthetic, "long": is_long(part.text)}
    # Markdown shows nothing of a text that only defines where links lead.
    shown = html or format_html("<p>{}</p>", part.text)
    return stencil("chat/said.html", looks, {"id": element, "typed": part.text, "html": shown})


def _text_html(
    part: TextPart, element: str, reader: Reader, growing: bool, cursor: bool
) -> SafeString:
    with reader.speaking():
        shown = prose(part.text, element, is_open=growing)
    length = format_html(' data-n="{}"', shown.length) if growing and cursor else ""
    mark = (" synthetic" if part.synthetic else "") + (" nested" if is_nested(part) else "")
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
    if end is not None and not part.text.strip():
        # Kept to go back to its model; there is nothing in it for a person.
        return SafeString("")
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
