"""Who follows which channel: what nobody elsewhere follows need not go to Redis.

Most answers are watched through the process that writes them, and to encode and publish their
frames would cost as much as to tell them. Redis says of each publication how many were told.
Where this process was the only one, what follows is kept from Redis for a while, or until another
process says that it follows the channel from now on: each tells the others of what Redis has
confirmed to it, on a channel that all follow.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# Seconds for which it counts that nobody elsewhere follows a channel: what another process says
# of itself may be lost.
ALONE = 2.0
# Seconds for which it is known after that whether something was kept.
REMEMBERED = 2.0


class Audience:
    """What this process knows of who follows channels, itself and the others. On the channel `news`
    they tell each other."""

    def __init__(self, news: str) -> None:
        self.news = news
        # What Redis has confirmed to this process; and of that what others have yet to be told.
        self.here: set[str] = set()
        self.untold: set[str] = set()
        # The channels that nobody elsewhere followed, by when that was seen, the oldest first.
        self._alone: dict[str, float] = {}
        # Those of which something was kept from Redis.
        self._kept: set[str] = set()
        # While Redis is asked: the channels that others say they follow, and whether more may be.
        self._said: set[str] = set()
        self._asks = self._doubts = False

    # --- here ---------------------------------------------------------------------

    def follows(self, channel: str) -> None:
        """Redis has confirmed that this process follows it."""
        self.here.add(channel)
        self.untold.add(channel)

    def leaves(self, channels: Iterable[str]) -> None:
        self.here.difference_update(channels)
        self.untold.difference_update(channels)

    def is_deaf(self) -> None:
        """Nothing is followed any more, and what others say is not heard: each of them may follow
        any channel."""
        self.here.clear()
        self.untold.clear()
        self.is_in_doubt()

    def tell_again(self) -> None:
        """What others were told has perhaps not reached them."""
        self.untold |= self.here

    def take_news(self) -> bytes:
        """What the others are to be told now."""
        names, self.untold = self.untold, set()
        return "\n".join(names).encode()

    # --- elsewhere ----------------------------------------------------------------

    def keeps(self, channel: str) -> bool:
        """Whether nobody elsewhere follows; the message in question is then kept from Redis."""
        seen = self._alone.get(channel)
        if seen is None or time.monotonic() - seen > ALONE:
            return False
        self._kept.add(channel)
        return True

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While messages are on their way: what others say meanwhile may be newer than what Redis
        answers, and it is not said twice."""
        self._asks, self._doubts = True, False
        self._said.clear()
        try:
            yield
        finally:
            self._asks = False
            self._said.clear()

    def was_told(self, channel: str, number: int, *, with_us: bool) -> None:
        """Redis has told a publication to so many; `with_us`: when it was sent, this process
        followed the channel. Who cannot hear what others follow keeps nothing from them."""
        us = with_us and channel in self.here
        if number > us or self.news not in self.here:
            return
        if self._doubts or channel in self._said:
            return
        now = time.monotonic()
        self._forget(channel)
        self._alone[channel] = now
        for old in [*self._seen_before(now - ALONE - REMEMBERED)]:
            self._forget(old)

    def hear_news(self, body: bytes) -> list[str]:
        """Another process follows these channels; those of which it may have missed something: it
        followed them before this process heard of it."""
        channels = body.decode().split("\n")
        if self._asks:
            self._said.update(channels)
        return [channel for channel in channels if self._forget(channel)]

    def is_in_doubt(self) -> None:
        """Other processes may follow more than was heard here."""
        self._alone.clear()
        self._kept.clear()
        self._doubts = True

    def _seen_before(self, moment: float) -> Iterable[str]:
        for channel, seen in self._alone.items():
            if seen > moment:
                return
            yield channel

    def _forget(self, channel: str) -> bool:
        """Whether something was kept."""
        self._alone.pop(channel, None)
        kept = channel in self._kept
        self._kept.discard(channel)
        return kept
