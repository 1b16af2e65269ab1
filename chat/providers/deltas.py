"""Pieces of an answer joined: the deltas of one network chunk become one event each."""

from chat.protocol.interfaces import ProviderEvent, ReasoningDelta, TextDelta
from chat.protocol.text import TextCleaner
from chat.protocol.tool_state import JsonObject


class DeltaJoiner:
    """Collects text and thinking, cleaned, until somebody takes the events."""

    def __init__(self) -> None:
        self._events: list[ProviderEvent] = []
        self._text: list[str] = []
        self._thought: list[str] = []
        self._text_cleaner = TextCleaner()
        self._thought_cleaner = TextCleaner()

    def text(self, piece: str) -> None:
        if self._thought:
            self._flush()
        self._text.append(piece)

    def thought(self, piece: str, metadata: JsonObject | None = None) -> None:
        if self._text:
            self._flush()
        if metadata is None:
            self._thought.append(piece)
            return
        self._flush()
        self._events.append(ReasoningDelta(self._thought_cleaner.feed(piece), metadata))

    def event(self, event: ProviderEvent) -> None:
        self._flush()
        self._events.append(event)

    def take(self) -> list[ProviderEvent]:
        self._flush()
        events, self._events = self._events, []
        return events

    def close(self) -> list[ProviderEvent]:
        """What is left, also the half of a character that will not be completed."""
        self._flush()
        thought, text = self._thought_cleaner.close(), self._text_cleaner.close()
        if thought:
            self._events.append(ReasoningDelta(thought))
        if text:
            self._events.append(TextDelta(text))
        return self.take()

    def _flush(self) -> None:
        if self._text:
            text = self._text_cleaner.feed("".join(self._text))
            self._text.clear()
            if text:
                self._events.append(TextDelta(text))
        if self._thought:
            thought = self._thought_cleaner.feed("".join(self._thought))
            self._thought.clear()
            if thought:
                self._events.append(ReasoningDelta(thought))
