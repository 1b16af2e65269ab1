"""An answer whose text is read for calls: how a reader is led through it."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Final, Protocol

from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import ProviderEvent, TextDelta

# A longer text is read in slices, for others to have their turns between.
_SLICE: Final = 8_000


class CallReader(Protocol):
    """Reads the calls in the text of one answer; other events pass unchanged."""

    def passes(self, event: ProviderEvent) -> bool:
        """Whether there is nothing to read in it, as in most, so that it passes as it came."""
        ...

    def read(self, event: ProviderEvent) -> Iterator[ProviderEvent]: ...

    def close(self) -> Iterator[ProviderEvent]:
        """The end of the text; a second time there is nothing more."""
        ...

    def break_off(self) -> Iterator[ProviderEvent]:
        """The text is kept; a call of an answer that was cut off is dropped."""
        ...


async def read_stream(
    stream: AsyncGenerator[ProviderEvent, None], reader: CallReader
) -> AsyncGenerator[ProviderEvent, None]:
    """The events of an answer, with the calls that are read in its text."""
    async with aclosing(stream):
        try:
            async for event in stream:
                if reader.passes(event):
                    yield event
                    continue
                for piece in _slices(event):
                    for found in reader.read(piece):
                        yield found
                    if piece is not event:
                        await asyncio.sleep(0)
        except (ProviderError, asyncio.CancelledError):
            # The connection was cut, or somebody has stopped the answer.
            for found in reader.break_off():
                yield found
            raise
    for found in reader.close():
        yield found


def _slices(event: ProviderEvent) -> Iterator[ProviderEvent]:
    """The event, or a long text in pieces that are read one after the other."""
    if isinstance(event, TextDelta) and len(event.text) > _SLICE:
        for at in range(0, len(event.text), _SLICE):
            yield TextDelta(event.text[at : at + _SLICE])
    else:
        yield event
