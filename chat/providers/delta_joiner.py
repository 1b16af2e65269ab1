"""The deltas of one network chunk joined: one event for the text, one for the reasoning."""

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ProviderEvent, ReasoningDelta, TextDelta
from chat.protocol.text import TextCleaner


class DeltaJoiner:
    """Collects what a model writes, cleaned, until the events are taken; keeps their order."""

    def __init__(self) -> None:
        self._events: list[ProviderEvent] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._text_cleaner = TextCleaner()
        self._reasoning_cleaner = TextCleaner()

    def add_text(self, piece: str, metadata: JsonObject | None = None) -> None:
        """Metadata belongs to the text that begins with this piece."""
        if self._reasoning or metadata is not None:
            self._join()
        if metadata is None:
            self._text.append(piece)
        else:
            self._events.append(TextDelta(self._text_cleaner.feed(piece), metadata))

    def add_reasoning(self, piece: str, metadata: JsonObject | None = None) -> None:
        """Metadata, such as a signature, belongs to what came just before: it is not joined."""
        if self._text:
            self._join()
        if metadata is None:
            self._reasoning.append(piece)
            return
        self._join()
        self._events.append(ReasoningDelta(self._reasoning_cleaner.feed(piece), metadata))

    def add(self, is_reasoning: bool, piece: str) -> None:
        if is_reasoning:
            self.add_reasoning(piece)
        else:
            self.add_text(piece)

    def add_event(self, event: ProviderEvent) -> None:
        self._join()
        self._events.append(event)

    def take(self) -> list[ProviderEvent]:
        """The events since the last time."""
        self._join()
        events, self._events = self._events, []
        return events

    def close(self) -> list[ProviderEvent]:
        """What is left, also the half of a character that will not be completed."""
        self._join()
        reasoning, text = self._reasoning_cleaner.close(), self._text_cleaner.close()
        if reasoning:
            self._events.append(ReasoningDelta(reasoning))
        if text:
            self._events.append(TextDelta(text))
        return self.take()

    def _join(self) -> None:
        if self._text:
            text = self._text_cleaner.feed("".join(self._text))
            self._text.clear()
            if text:
                self._events.append(TextDelta(text))
        if self._reasoning:
            reasoning = self._reasoning_cleaner.feed("".join(self._reasoning))
            self._reasoning.clear()
            if reasoning:
                self._events.append(ReasoningDelta(reasoning))
