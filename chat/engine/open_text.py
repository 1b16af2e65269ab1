"""A text or reasoning part that is still growing; adding to it costs only what is added."""

from dataclasses import dataclass, field
from typing import TypeGuard

from chat.engine.changes import TextKind
from chat.protocol.citations import MOST, Citation
from chat.protocol.frozen import FrozenDict, JsonObject
from chat.protocol.ids import new_id
from chat.protocol.interfaces import Cited
from chat.protocol.notes import PartNotes, with_part_notes
from chat.protocol.parts import OpenSpan, Part, ReasoningPart, Span, TextPart
from chat.protocol.text import TextCleaner, clean_json, clean_text


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
    citations: list[Citation] = field(default_factory=list)
    _blanks: list[str] = field(default_factory=list)  # before anything else
    _pieces: list[str] = field(default_factory=list)
    _cleaner: TextCleaner = field(default_factory=TextCleaner)

    def add(self, piece: str) -> str:
        """Add a piece; what can be shown of it now."""
        return self._add_clean(self._cleaner.feed(piece))

    def finish(self) -> str:
        """No more will come; what can be shown of what was held back."""
        return self._add_clean(self._cleaner.close())

    def add_metadata(self, metadata: JsonObject) -> None:
        self.metadata = {**(self.metadata or {}), **clean_json(metadata)}

    def cite(self, cited: Cited) -> None:
        """Note a source of what was just written."""
        if len(self.citations) < MOST:
            end = max(self.length - cited.before_end, 0)
            self.citations.append(
                Citation(
                    url=clean_text(cited.url),
                    title=clean_text(cited.title),
                    quote=clean_text(cited.quote),
                    start=max(end - cited.length, 0),
                    end=end,
                    raw=clean_json(cited.raw) if cited.raw else None,
                )
            )

    def ends_before(self, piece: str, metadata: JsonObject | None) -> bool:
        """Whether this belongs to the next reasoning: a signature is the last of one."""
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
                metadata=self._noted(),
            )
        return ReasoningPart(
            id=self.id,
            session_id=self.session_id,
            message_id=self.message_id,
            text=text,
            metadata=with_part_notes(self.metadata, PartNotes(abandoned=abandoned)),
            time=Span(start=self.start, end=end),
        )

    def _noted(self) -> FrozenDict | None:
        if not (self.citations or self.metadata):
            return None
        return with_part_notes(self.metadata, PartNotes(citations=tuple(self.citations)))

    def _add_clean(self, text: str) -> str:
        # Models put blank lines between reasoning and calls: alone they make no part.
        if not self.length and not text.strip():
            self._blanks.append(text)
            return ""
        text = "".join((*self._blanks, text))
        self._blanks.clear()
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
