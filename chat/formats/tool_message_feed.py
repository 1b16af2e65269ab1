"""A conversation as ToolMessage2 while it goes on: every message once, when it is whole.

What a program has collected is what it would be given if it came back, in the same order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from chat.formats.tool_message_parts import to_tool_messages
from chat.protocol.events import (
    Chunk,
    Complete,
    Error,
    Event,
    Start,
    Step,
    Stopped,
    Thinking,
    Tool,
    UserMessage,
)
from chat.protocol.frozen import JsonObject
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.parts import Part, ReasoningPart, Span, TextPart


@dataclass(slots=True)
class _Growing:
    """A text, or a thought, whose words still come."""

    event: Chunk | Thinking
    pieces: list[str] = field(default_factory=list)

    def part(self) -> Part:
        event, text = self.event, "".join(self.pieces)
        key, session, message = event.part_id, event.conversation_id, event.message_id
        if isinstance(event, Chunk):
            return TextPart(id=key, session_id=session, message_id=message, text=text)
        time = Span(start=event.ts)
        return ReasoningPart(id=key, session_id=session, message_id=message, text=text, time=time)


class ToolMessageFeed:
    """Is given the events that follow a reading, and says which messages became whole by each."""

    def __init__(self, messages: Sequence[WithParts]) -> None:
        self.messages = to_tool_messages(messages, only_whole=True)
        self._told = {message["uuid"] for message in self.messages}
        self._last = self.messages[-1]["uuid"] if self.messages else None
        # The last answer: it may be written on, also later.
        self._info: AnswerInfo | None = None
        self._parts: dict[int, Part | _Growing] = {}
        if messages and isinstance(messages[-1].info, AnswerInfo):
            self._info = messages[-1].info
            self._parts = dict(enumerate(messages[-1].parts))

    def take(self, event: Event) -> list[JsonObject]:
        """The messages that are whole now."""
        match event:
            case UserMessage():
                return self._new([event.message])
            case Start():
                if self._info is None or self._info.id != event.message_id:
                    self._parts = {}
                self._info = event.info
            case Chunk() | Thinking():
                self._grow(event)
            case Tool() | Step():
                self._parts[event.position] = event.part
                return self._new_of_answer()
            case Complete() | Stopped() | Error():
                self._info = event.info or self._info
                if isinstance(event, Stopped):
                    self._cut(event)
                return self._new_of_answer()
        return []

    def _grow(self, event: Chunk | Thinking) -> None:
        known = self._parts.get(event.position)
        if not isinstance(known, _Growing):
            text = known.text if isinstance(known, TextPart | ReasoningPart) else ""
            known = self._parts[event.position] = _Growing(event, [text])
        known.pieces.append(event.delta)

    def _cut(self, event: Stopped) -> None:
        """Of what was told some may not have been kept."""
        for position, known in self._parts.items():
            part = known.part() if isinstance(known, _Growing) else known
            if part.id in event.lengths and isinstance(part, TextPart | ReasoningPart):
                text = part.text[: event.lengths[part.id]]
                self._parts[position] = part.model_copy(update={"text": text})

    def _answer_parts(self) -> list[Part]:
        parts = (self._parts[position] for position in sorted(self._parts))
        return [part.part() if isinstance(part, _Growing) else part for part in parts]

    def _new_of_answer(self) -> list[JsonObject]:
        if self._info is None:
            return []
        return self._new([WithParts(info=self._info, parts=tuple(self._answer_parts()))])

    def _new(self, messages: Sequence[WithParts]) -> list[JsonObject]:
        new: list[JsonObject] = []
        for form in to_tool_messages(messages, only_whole=True):
            if form["uuid"] not in self._told:
                new.append({**form, "parentUuid": self._last})
                self._last = form["uuid"]
                self._told.add(form["uuid"])
        return new
