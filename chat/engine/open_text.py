"""A text or a thought while it is being said: it grows at the cost of what is new."""

from dataclasses import dataclass, field
from typing import TypeGuard

from chat.engine.changes import TextKind
from chat.protocol.ids import new_id
from chat.protocol.parts import OpenSpan, Part, ReasoningPart, Span, TextPart
from chat.protocol.text import TextCleaner, clean_json
from chat.protocol.tool_state import JsonObject


@dataclass(slots=True)
class OpenText:
    session_id: str
    message_id: str
    kind: TextKind
    start: int
    position: int = -1  # none until there is something to show
    id: str = field(default_factory=new_id)
    length: int = 0
    metadata: JsonObject | None = None
    _held: str = ""
    _pieces: list[str] = field(default_factory=list)
    _cleaner: TextCleaner = field(default_factory=TextCleaner)

    def hear(self, piece: str) -> str:
        """The part of what was said so far that can be shown now."""
        return self._show(self._cleaner.feed(piece))

    def hear_end(self) -> str:
        return self._show(self._cleaner.close())

    def note(self, metadata: JsonObject) -> None:
        self.metadata = {**(self.metadata or {}), **clean_json(metadata)}

    def ends_before(self, piece: str, metadata: JsonObject | None) -> bool:
        """Whether this belongs to the next thought: the signature comes last."""
        known = self.metadata or {}
        if metadata and any(known.get(key, value) != value for key, value in metadata.items()):
            return True
        return bool(piece) and "signature" in known

    @property
    def is_shown(self) -> bool:
        return self.position >= 0

    def part(
        self, *, end: int | None = None, empty: bool = False, abandoned: bool = False
    ) -> TextPart | ReasoningPart:
        text = "" if empty else "".join(self._pieces)
        if self.kind == "text":
            return TextPart(
                id=self.id,
                session_id=self.session_id,
                message_id=self.message_id,
                text=text,
                ignored=abandoned or None,
                time=OpenSpan(start=self.start, end=end),
            )
        return ReasoningPart(
            id=self.id,
            session_id=self.session_id,
            message_id=self.message_id,
            text=text,
            metadata={**(self.metadata or {}), "abandoned": True} if abandoned else self.metadata,
            time=Span(start=self.start, end=end),
        )

    def _show(self, text: str) -> str:
        text = self._held + text
        # Models put blank lines between thoughts and calls: alone they are not worth a part.
        self._held = text if not self.length and not text.strip() else ""
        if self._held:
            return ""
        if text:
            self._pieces.append(text)
        return text


def is_open(part: Part) -> TypeGuard[TextPart | ReasoningPart]:
    if not isinstance(part, TextPart | ReasoningPart):
        return False
    return part.time is not None and part.time.end is None


def with_end(part: TextPart | ReasoningPart, now: int) -> TextPart | ReasoningPart:
    time = part.time.model_copy(update={"end": now}) if part.time else None
    return part.model_copy(update={"time": time})
