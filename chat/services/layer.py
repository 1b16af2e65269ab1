"""The channel layer of a single process: nothing is copied, searched or forgotten.

A send is O(1) in the number of groups and channels. Each channel holds a bounded queue; when
it is full the oldest message goes and is counted, because whoever reads the channel sees the
gap by the numbers inside the messages and reads the database again.
"""

import asyncio
from collections import defaultdict, deque
from typing import Any

from channels.exceptions import ChannelFull
from channels.layers import BaseChannelLayer

from chat.protocol.ids import uuid7

Message = dict[str, Any]


class Queue:
    """The messages of one channel, and the one reader that may wait for them."""

    __slots__ = ("messages", "waiting")

    def __init__(self, capacity: int) -> None:
        self.messages: deque[Message] = deque(maxlen=capacity)
        self.waiting: asyncio.Future[None] | None = None

    def wake(self) -> None:
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(None)


class InProcessChannelLayer(BaseChannelLayer):
    """Channels' layer interface over plain dictionaries; every socket in one event loop."""

    extensions = ["groups", "flush"]
    # Messages arrive as the objects that were sent, so values need no wire form.
    local = True

    def __init__(self, capacity: int = 1000, expiry: int = 60, **kwargs: Any) -> None:
        super().__init__(capacity=capacity, expiry=expiry, **kwargs)
        self.queues: dict[str, Queue] = {}
        self.groups: defaultdict[str, set[str]] = defaultdict(set)
        self.dropped = 0

    @property
    def is_up(self) -> bool:
        """Whether it reaches everybody that it should."""
        return True

    def backlog(self) -> tuple[int, int]:
        """How many messages wait, and how many were lost."""
        return sum(len(queue.messages) for queue in self.queues.values()), self.dropped

    async def new_channel(self, prefix: str = "specific") -> str:
        name = f"{prefix}.inprocess!{uuid7().hex}"
        self.queues[name] = Queue(self.capacity)
        return name

    async def send(self, channel: str, message: Message) -> None:
        queue = self.queues.setdefault(channel, Queue(self.capacity))
        if len(queue.messages) == self.capacity:
            raise ChannelFull(channel)
        self._put(queue, message)

    async def receive(self, channel: str) -> Message:
        queue = self.queues.get(channel) or self.queues.setdefault(channel, Queue(self.capacity))
        while not queue.messages:
            queue.waiting = asyncio.get_running_loop().create_future()
            try:
                await queue.waiting
            finally:
                queue.waiting = None
        return queue.messages.popleft()

    async def group_add(self, group: str, channel: str) -> None:
        self.groups[group].add(channel)

    async def group_discard(self, group: str, channel: str) -> None:
        members = self.groups.get(group)
        if members is not None:
            members.discard(channel)
            if not members:
                del self.groups[group]

    async def group_send(self, group: str, message: Message) -> None:
        self.put(group, message)

    def put(self, group: str, message: Message) -> None:
        """What `group_send` does, for those who cannot wait: nothing here ever waits."""
        for channel in self.groups.get(group, ()):
            queue = self.queues.get(channel)
            if queue is not None:
                self._put(queue, message)

    def put_all(self, message: Message) -> None:
        """To everybody here, whatever groups they are in."""
        for queue in self.queues.values():
            self._put(queue, message)

    async def close_channel(self, channel: str) -> None:
        """Forget a channel whose socket is gone."""
        self.queues.pop(channel, None)

    async def flush(self) -> None:
        self.queues.clear()
        self.groups.clear()

    def _put(self, queue: Queue, message: Message) -> None:
        if len(queue.messages) == self.capacity:
            self.dropped += 1
        queue.messages.append(message)
        queue.wake()
