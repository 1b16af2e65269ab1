"""A channel layer that loses, doubles and reorders, as the stock ones do – but by a seed."""

from random import Random
from typing import Any

from chat.services.layer import InProcessChannelLayer, Message


class ShakyLayer(InProcessChannelLayer):
    """Every channel has its own luck: the same message may reach one socket and not another."""

    def __init__(self, seed: int, *, lose: float = 0.1, double: float = 0.1, hold: float = 0.2):
        super().__init__()
        self.random = Random(seed)
        self.lose, self.double, self.hold = lose, double, hold
        self.held: list[tuple[str, Message]] = []
        self.lost = 0

    def put(self, group: str, message: Message) -> None:
        for channel in sorted(self.groups.get(group, ())):
            self._deliver(channel, message)
        self._release()

    def calm(self) -> None:
        """From now on all is well; what was held back comes late."""
        self.lose = self.double = self.hold = 0
        self._release(everything=True)

    def _deliver(self, channel: str, message: Message) -> None:
        luck = self.random.random()
        if luck < self.lose:
            self.lost += 1
        elif luck < self.lose + self.hold:
            self.held.append((channel, message))
        else:
            copies = 2 if luck > 1 - self.double else 1
            self._drop_into(channel, [message] * copies)

    def _release(self, everything: bool = False) -> None:
        """Let some of what was held go, in another order."""
        self.random.shuffle(self.held)
        while self.held and (everything or self.random.random() < 0.5):
            channel, message = self.held.pop()
            self._drop_into(channel, [message])

    def _drop_into(self, channel: str, messages: list[Any]) -> None:
        queue = self.queues.get(channel)
        for message in messages:
            if queue is not None:
                self._put(queue, message)
