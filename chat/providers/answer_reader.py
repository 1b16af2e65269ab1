"""What reading an answer has in common on all wires."""

import json
from abc import ABC, abstractmethod
from typing import Any

from pydantic_core import from_json

from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import ProviderEvent, Usage
from chat.providers.delta_joiner import DeltaJoiner
from chat.providers.faults import failure


class BrokenAnswer(Exception):
    """The answer cannot be read on; what was read before still counts."""

    def __init__(self, error: ProviderError) -> None:
        super().__init__(error.key)
        self.error = error


class AnswerReader(ABC):
    """Reads the payloads of one answer into events; one subclass for each wire.

    An error is kept in `error`, so that what came before it is not lost. `done` says that the
    server has sent its last payload.
    """

    def __init__(self) -> None:
        self.done = False
        self.error: ProviderError | None = None
        self._joiner = DeltaJoiner()
        # What the server has counted so far, and what was given on of it.
        self._usage: Usage | None = None
        self._given_usage: Usage | None = None

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether the model has given the reason why it stopped."""

    def feed(self, payloads: list[str]) -> list[ProviderEvent]:
        """The events of these payloads, joined; a broken one sets `error`."""
        try:
            for payload in payloads:
                self._read_payload(payload)
                if self.done:
                    break
        except BrokenAnswer as broken:
            self.error = broken.error
        events = self._joiner.take()
        if self._usage is not self._given_usage and not self.finished:
            # Of an answer that is stopped this is all that will be known.
            self._given_usage = self._usage
            events += [self._usage] if self._usage else []
        return events

    @abstractmethod
    def finish(self) -> list[ProviderEvent]:
        """The end of a complete answer: its calls, its tokens, its reason."""

    @abstractmethod
    def break_off(self) -> list[ProviderEvent]:
        """The end of an answer that was cut off: what was held back, and the tokens so far."""

    @abstractmethod
    def _read_payload(self, payload: str) -> None: ...


def parse_object(payload: str) -> dict[str, Any]:
    """The JSON object of a payload; anything else breaks the answer."""
    try:
        value = _parse(payload)
    except (ValueError, RecursionError):
        raise BrokenAnswer(failure("bad_response", "a part of the stream is not JSON")) from None
    if not isinstance(value, dict):
        raise BrokenAnswer(failure("bad_response", "a part of the stream is not an object"))
    return value


def _parse(payload: str) -> Any:
    """What `json.loads` gives, in a third of its time wherever pydantic's parser can read it.

    That one refuses half an emoji and deep nesting, but reads NaN and whole numbers of any size
    exactly, which orjson does not.
    """
    try:
        return from_json(payload)
    except ValueError:
        return json.loads(payload)
