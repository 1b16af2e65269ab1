"""The answer that is being written, as one page shows it: brought forward, never drawn again."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.html import escape

from chat.protocol.events import Event
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.parts import (
    FilePart,
    OpenSpan,
    Part,
    ReasoningPart,
    Span,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolPart,
)
from chat.protocol.validation import part_from_json
from chat.rendering import dom, swap
from chat.rendering.feet import Retry, foot_html, work_html
from chat.rendering.live_text import LiveText
from chat.rendering.messages import is_growing, part_html
from chat.rendering.pages import status_text
from chat.rendering.reader import Reader
from chat.rendering.tool_cards import card_state

# Below this a text is drawn in a millisecond or two.
LONG_TEXT = 4000

_RANK = {"pending": 0, "running": 1, "completed": 2, "error": 2}


class Gap(Exception):
    """Something was missed: the page must be brought forward from what is stored."""


class LiveAnswer:
    """Knows which parts the page has, how long its open texts are, and how its tools stand."""

    def __init__(self, info: AnswerInfo, reader: Reader) -> None:
        self.info = info
        self.reader = reader
        self.parts: dict[int, Part] = {}
        self.open: dict[int, LiveText] = {}
        # Parts that the page shows in another state than any we can go on from.
        self.stale: set[int] = set()
        self.retrying = False

    @property
    def position(self) -> int:
        return self.info.position

    def message(self) -> WithParts:
        return WithParts(info=self.info, parts=tuple(self.parts[n] for n in sorted(self.parts)))

    @classmethod
    def as_shown(
        cls, message: WithParts, shown: Mapping[int, int | str], reader: Reader
    ) -> "LiveAnswer":
        """An answer that a page shows as running, with these lengths and states of its parts."""
        assert isinstance(message.info, AnswerInfo)
        answer = cls(message.info.model_copy(update={"status": "streaming"}), reader)
        for position, part in enumerate(message.parts):
            state = shown.get(position)
            if isinstance(state, int) and isinstance(part, TextPart | ReasoningPart):
                answer._assume_open(part, position, state)
            elif state is not None and _same_state(part, str(state)):
                answer.parts[position] = part
        answer.stale = set(shown) - set(answer.parts)
        return answer

    @classmethod
    def as_drawn(cls, message: WithParts, reader: Reader) -> "LiveAnswer":
        """An answer that was just drawn as it is."""
        shown = {position: _drawn_state(part) for position, part in enumerate(message.parts)}
        return cls.as_shown(message, shown, reader)

    def _assume_open(self, part: TextPart | ReasoningPart, position: int, length: int) -> None:
        if length <= len(part.text):
            text = LiveText(part, self.position, position)
            text.skip(part.text[:length])
            self.open[position] = text
            self.parts[position] = part

    # --- from what is stored ------------------------------------------------------

    def forward(self, message: WithParts) -> Iterator[str]:
        """The fragments from what is shown to a newer state of the message."""
        assert isinstance(message.info, AnswerInfo)
        streaming = message.info.status == "streaming"
        for position, part in enumerate(message.parts):
            growing = is_growing(part, streaming=streaming)
            yield from self._forward_part(part, position, growing)
        if message.info != self.info:
            self.info = message.info
            yield from self._end()

    def is_beyond(self, message: WithParts) -> bool:
        """Whether the page shows more than was kept: the end of what a dead process wrote."""
        assert isinstance(message.info, AnswerInfo)
        if message.info.status == "streaming":
            return False
        lengths = {position: text.length for position, text in self.open.items()}
        for position, part in self.parts.items():
            if isinstance(part, TextPart | ReasoningPart):
                lengths.setdefault(position, len(part.text))
        kept = [len(getattr(part, "text", "")) for part in message.parts]
        return any(
            position >= len(kept) or length > kept[position] for position, length in lengths.items()
        ) or any(position >= len(kept) for position in self.parts)

    def _forward_part(self, part: Part, position: int, growing: bool) -> Iterator[str]:
        text = self.open.get(position)
        if text is not None and isinstance(part, TextPart | ReasoningPart):
            if len(part.text) > text.length:
                yield text.grow(part.text[text.length :])
            if not growing:
                yield from self._close(part, position)
        elif position not in self.parts:
            yield from self._add(part, position, growing)
        elif self.parts[position] != part and not isinstance(part, TextPart | ReasoningPart):
            yield from self._exchange(part, position)

    # --- from events --------------------------------------------------------------

    def hear(self, event: Event) -> Iterator[str]:
        """The fragments of one event; it raises `Gap` where something before it is missing."""
        if self.retrying and event.name != "chat:retry":
            self.retrying = False
            yield swap.replace(foot_html(self.message(), self.reader))
        match event.name:
            case "chat:chunk" | "chat:thinking":
                yield from self._hear_text(event.body, is_text=event.name == "chat:chunk")
            case "chat:tool" | "chat:step":
                part = part_from_json(event.body["part"])
                yield from self._forward_part(part, event.body["position"], growing=False)
            case "chat:retry":
                retry = Retry(
                    key=event.body["error_key"],
                    attempt=event.body["attempt"],
                    attempts=event.body["attempts"],
                    wait=event.body["wait"],
                )
                self.retrying = True
                yield swap.replace(foot_html(self.message(), self.reader, retry=retry))
            case "chat:complete" | "chat:stopped" | "chat:error":
                yield from self._hear_end(event.body)

    def _hear_text(self, body: Mapping[str, Any], *, is_text: bool) -> Iterator[str]:
        position, offset, delta = body["position"], body["offset"], body["delta"]
        text = self.open.get(position)
        if text is None and position in self.parts:
            return
        if text is None:
            if offset:
                raise Gap
            part = self._new_text(body, is_text=is_text)
            yield from self._add(part, position, growing=True)
        elif offset > text.length:
            raise Gap
        elif offset + len(delta) > text.length:
            yield text.grow(delta[text.length - offset :])
        if body.get("done"):
            yield from self._close(self._whole_text(position, body), position)

    def _new_text(self, body: Mapping[str, Any], *, is_text: bool) -> TextPart | ReasoningPart:
        ids = {
            "id": body["part_id"],
            "session_id": self.info.session_id,
            "message_id": self.info.id,
            "text": body["delta"],
        }
        start = body.get("time", {}).get("start", self.reader.now)
        if is_text:
            return TextPart(**ids, time=OpenSpan(start=start))
        return ReasoningPart(**ids, time=Span(start=start))

    def _whole_text(self, position: int, body: Mapping[str, Any]) -> TextPart | ReasoningPart:
        text = self.open[position]
        span = body.get("time", {})
        time = OpenSpan(**span) if isinstance(text.part, TextPart) else Span(**span)
        return text.part.model_copy(update={"text": text.stream.text(), "time": time})

    def _hear_end(self, body: Mapping[str, Any]) -> Iterator[str]:
        if "info" not in body or self.open:
            raise Gap
        self.info = AnswerInfo.model_validate(body["info"], strict=False)
        yield from self._end()

    def ends_long_text(self, body: Mapping[str, Any]) -> bool:
        """Whether a long text is drawn once more, with its code coloured."""
        text = self.open.get(body["position"])
        return text is not None and text.length + len(body["delta"]) >= LONG_TEXT

    # --- the fragments ------------------------------------------------------------

    def _add(self, part: Part, position: int, growing: bool) -> Iterator[str]:
        self.parts[position] = part
        html = part_html(part, self.position, position, self.reader, is_open=growing)
        if growing and isinstance(part, TextPart | ReasoningPart):
            text = LiveText(part, self.position, position)
            text.skip(part.text)
            self.open[position] = text
            yield swap.cursor(text.element, text.length)
        if html and position in self.stale:
            yield swap.replace(html)
        elif html:
            yield swap.append(dom.body_id(self.position), html)
        self.stale.discard(position)
        if isinstance(part, ReasoningPart | ToolPart):
            yield self._announce(part)

    def _announce(self, part: ReasoningPart | ToolPart) -> str:
        """What is being done, for who cannot see it; the words themselves are never read out."""
        tool = part.tool if isinstance(part, ToolPart) else ""
        words = status_text("using" if tool else "thinking", self.reader, tool)
        return swap.inner(dom.STATUS, escape(words))

    def _close(self, part: TextPart | ReasoningPart, position: int) -> Iterator[str]:
        """A text ends as it is; a thought is drawn as markdown, with how long it took."""
        text = self.open.pop(position)
        self.parts[position] = part
        yield swap.closed(text.element)
        if isinstance(part, TextPart):
            yield text.finish()
        else:
            yield swap.replace(part_html(part, self.position, position, self.reader))

    def _exchange(self, part: Part, position: int) -> Iterator[str]:
        known = self.parts[position]
        if isinstance(part, ToolPart) and isinstance(known, ToolPart) and _is_older(part, known):
            return
        self.parts[position] = part
        html = part_html(part, self.position, position, self.reader)
        if html:
            yield swap.replace(html)

    def _end(self) -> Iterator[str]:
        message = self.message()
        # Nothing new before an old sibling: where there is mathematics, Chromium would style all
        # of the answer anew.
        if work := work_html(message, self.reader):
            yield swap.inner(dom.work_id(self.position), work)
        yield swap.remove(dom.foot_id(self.position))
        yield swap.append(dom.message_id(self.position), foot_html(message, self.reader))


def _is_older(part: ToolPart, known: ToolPart) -> bool:
    return _RANK[part.state.status] < _RANK[known.state.status]


def _drawn_state(part: Part) -> int | str:
    if isinstance(part, TextPart | ReasoningPart) and is_growing(part, streaming=True):
        return len(part.text)
    return card_state(part.state) if isinstance(part, ToolPart) else "done"


def _same_state(part: Part, state: str) -> bool:
    """Whether a page that says a part is in this state need not be told about it."""
    match part:
        case ToolPart():
            return card_state(part.state) == state
        case TextPart() | ReasoningPart() | FilePart():
            return state == "done"
        case StepStartPart() | StepFinishPart():
            return True
