"""The answer that is being written, as one page shows it: brought forward, never drawn again."""

from collections.abc import Iterator, Mapping
from typing import assert_never

from django.utils.html import escape

from chat.protocol.events import (
    Chunk,
    Complete,
    Delta,
    Error,
    Retry,
    Step,
    Stopped,
    Thinking,
    Tool,
)
from chat.protocol.follow import Gap
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.notes import PartNotes, part_notes, with_part_notes
from chat.protocol.parts import (
    OpenSpan,
    Part,
    ReasoningPart,
    Span,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolPart,
)
from chat.protocol.tool_state import ToolCompleted, ToolError
from chat.rendering.live import swap
from chat.rendering.live.once import Once
from chat.rendering.live.text import LiveText, is_long
from chat.rendering.page import dom
from chat.rendering.page.cards import card_state
from chat.rendering.page.cards.pages_read import addresses_of, has_found, pages_read
from chat.rendering.page.footer import foot_html, work_html
from chat.rendering.page.messages import calls_within, drawn_above, is_growing, part_html
from chat.rendering.page.pages import status_text
from chat.rendering.page.prose import sources_html
from chat.rendering.reader import Reader

# Below this a text is drawn in a millisecond or two.
LONG_TEXT = 4000

_RANK = {"pending": 0, "running": 1, "completed": 2, "error": 2}


_last_foot = Once[AnswerInfo](lambda info, reader: foot_html(WithParts(info=info), reader))

# What happens to an answer after its start.
AnswerEvent = Chunk | Thinking | Tool | Step | Retry | Complete | Stopped | Error


class LiveAnswer:
    """Knows which parts the page has, how long its open texts are, and how its tools stand."""

    def __init__(self, info: AnswerInfo, reader: Reader) -> None:
        self.info = info
        self.reader = reader
        self.parts: dict[int, Part] = {}
        self.open: dict[int, LiveText] = {}
        # Parts that the page shows in another state than any we can go on from.
        self.stale: set[int] = set()
        # The notice of a retry that the page shows in the foot.
        self.retry: Retry | None = None
        # Whether the page was loaded with such a notice, which may be over by now.
        self.foot_is_old = False

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
            shown = part.text[:length]
            self.open[position] = LiveText(part, self.position, position, shown)
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

    def apply(self, event: AnswerEvent) -> Iterator[str]:
        """The fragments of one event, which follows what the page shows."""
        if not isinstance(event, Retry):
            yield from self.notice(None)
        match event:
            case Chunk() | Thinking():
                yield from self._apply_delta(event)
            case Tool() | Step():
                yield from self._forward_part(event.part, event.position, growing=False)
            case Retry():
                yield from self.notice(event)
            case Complete() | Stopped() | Error():
                if event.info is None or self.open:
                    raise Gap
                self.info = event.info
                yield from self._end()
            case _:
                assert_never(event)

    def notice(self, retry: Retry | None) -> Iterator[str]:
        """Say in the foot that the provider is asked again, or no longer."""
        if retry != self.retry or self.foot_is_old:
            self.retry, self.foot_is_old = retry, False
            yield swap.replace(foot_html(self.message(), self.reader, retry=retry))

    def grow(self, event: Delta) -> str | None:
        """The fragments of a frame that only lets an open text grow, and little at once: only the
        model's words, no word of ours, so the language need not be set."""
        text = self.open.get(event.position)
        if text is None or event.done or self.retry or not event.delta:
            return None
        return text.grow_at_once(event.delta)

    def _apply_delta(self, event: Chunk | Thinking) -> Iterator[str]:
        position = event.position
        text = self.open.get(position)
        if text is None and position in self.parts:
            # The page shows the whole of it already.
            return
        if text is None:
            yield from self._add(self._new_text(event), position, growing=True)
        elif event.delta:
            yield text.grow(event.delta)
        if event.done:
            yield from self._close(self._whole_text(event), position)

    def _new_text(self, event: Chunk | Thinking) -> TextPart | ReasoningPart:
        start = event.time.start if event.time and event.time.start else self.reader.now
        session_id, message_id = self.info.session_id, self.info.id
        if isinstance(event, Chunk):
            return TextPart(
                id=event.part_id,
                session_id=session_id,
                message_id=message_id,
                text=event.delta,
                time=OpenSpan(start=start),
            )
        return ReasoningPart(
            id=event.part_id,
            session_id=session_id,
            message_id=message_id,
            text=event.delta,
            time=Span(start=start),
        )

    def _whole_text(self, event: Chunk | Thinking) -> TextPart | ReasoningPart:
        text = self.open[event.position]
        time: OpenSpan | Span = event.time or OpenSpan()
        if isinstance(text.part, ReasoningPart):
            time = Span(start=time.start or text.part.time.start, end=time.end)
        changes: dict[str, object] = {"text": text.text(), "time": time}
        if isinstance(event, Chunk) and event.citations:
            notes = PartNotes(citations=event.citations)
            changes["metadata"] = with_part_notes(text.part.metadata, notes)
        return text.part.model_copy(update=changes)

    def is_slow(self, event: Delta | Tool) -> bool:
        """Whether a frame takes so long that a thread should draw it."""
        if isinstance(event, Tool):
            # What came of a call is shown in many forms, which may be far longer than its text.
            return event.type != "call" or is_long(event.args_json)
        text = self.open.get(event.position)
        if text is None:
            return is_long(event.delta)
        # At its end a text is drawn once more, with its code coloured.
        ends_long = event.done and text.length + len(event.delta) >= LONG_TEXT
        return ends_long or text.is_slow(event.delta)

    # --- the fragments ------------------------------------------------------------

    def _add(self, part: Part, position: int, growing: bool) -> Iterator[str]:
        self.parts[position] = part
        html = self._drawn(part, position, growing)
        if growing and isinstance(part, TextPart | ReasoningPart):
            text = LiveText(part, self.position, position, part.text)
            self.open[position] = text
            yield swap.cursor(text.element, text.length)
        if html and position in self.stale:
            yield swap.replace(html)
        elif html:
            yield self._place(position, html)
        self.stale.discard(position)
        if not growing:
            yield from self._sources(part, position)
        if isinstance(part, ReasoningPart | ToolPart):
            yield self._announce(part)
        yield from self._outer(part)

    def _drawn(self, part: Part, position: int, growing: bool = False) -> str:
        is_over = isinstance(part, ToolPart) and _is_over(part)
        return part_html(
            part,
            self.position,
            position,
            self.reader,
            is_open=growing,
            inner=self._inner(part),
            pages=pages_read(self.parts, self.position) if is_over else None,
        )

    def _inner(self, part: Part) -> list[ToolPart]:
        """The calls of a call's sub-agent, once it is done: only then its card tells of them."""
        if not isinstance(part, ToolPart) or not _is_over(part):
            return []
        return calls_within(self.parts.values()).get(part.call_id, [])

    def _outer(self, part: Part) -> Iterator[str]:
        """A call that was over before one that was made for it, or before a page was read that it
        had found: its card is drawn again."""
        parent = part_notes(part).parent_call_id if isinstance(part, ToolPart) else ""
        read = addresses_of(part)
        for position, other in self.parts.items() if parent or read else ():
            if not isinstance(other, ToolPart) or not _is_over(other):
                continue
            if (parent and other.call_id == parent) or has_found(other, read):
                yield swap.replace(self._drawn(other, position))

    def _place(self, position: int, html: str) -> str:
        """A new part: below all others, or below the call whose sub-agent made it."""
        above = drawn_above(self.parts, position)
        if above is None:
            return swap.append(dom.body_id(self.position), html)
        return swap.after(dom.part_id(self.position, above), html)

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
            yield from self._sources(part, position)
        elif html := part_html(part, self.position, position, self.reader):
            yield swap.replace(html)
        else:
            yield swap.remove(dom.part_id(self.position, position))

    def _sources(self, part: Part, position: int) -> Iterator[str]:
        """The sources of a text stand below it once it is whole."""
        if html := sources_html(part, self.reader):
            yield swap.after(dom.part_id(self.position, position), html)

    def _exchange(self, part: Part, position: int) -> Iterator[str]:
        known = self.parts[position]
        if isinstance(part, ToolPart) and isinstance(known, ToolPart) and _is_older(part, known):
            return
        self.parts[position] = part
        if html := self._drawn(part, position):
            yield swap.replace(html)
        yield from self._outer(part)

    def _end(self) -> Iterator[str]:
        message = self.message()
        # Nothing new before an old sibling: where there is mathematics, Chromium would style all
        # of the answer anew.
        if work := work_html(message, self.reader):
            yield swap.inner(dom.work_id(self.position), work)
        yield swap.remove(dom.foot_id(self.position))
        yield swap.append(dom.message_id(self.position), _last_foot(self.info, self.reader))


def _is_over(part: ToolPart) -> bool:
    return isinstance(part.state, ToolCompleted | ToolError)


def _is_older(part: ToolPart, known: ToolPart) -> bool:
    return _RANK[part.state.status] < _RANK[known.state.status]


def _drawn_state(part: Part) -> int | str:
    if isinstance(part, TextPart | ReasoningPart) and is_growing(part, streaming=True):
        return len(part.text)
    return _shown_state(part)


def _shown_state(part: Part) -> str:
    """What the element of a part that does not grow says in its `data-state`."""
    if isinstance(part, ToolPart):
        return card_state(part.state)
    return "failed" if part_notes(part).unreadable else "done"


def _same_state(part: Part, state: str) -> bool:
    """Whether a page that says a part is in this state need not be told about it."""
    return isinstance(part, StepStartPart | StepFinishPart) or _shown_state(part) == state
