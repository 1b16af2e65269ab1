"""This process and Redis: what it publishes, and the channels it follows.

Nobody waits for Redis. What is published waits in a bounded queue for a task that sends it, many
at a time; the channels to follow are brought to Redis by another. Both have a connection of their
own, which counts as lost after a second without an answer and is then opened again and again.
Meanwhile nothing is kept: those who would have been told compare themselves with the database.
"""

import asyncio
import logging
import math
import os
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from itertools import islice
from typing import Any

from redis.asyncio.connection import ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from chat.services.background import Background
from chat.services.redis_audience import Audience

log = logging.getLogger(__name__)

# Seconds without an answer after which a connection counts as lost, and until it is tried again.
PATIENCE = 1.0
AGAIN = 1.0
# A connection on which nothing comes is asked now and then whether it still stands.
QUIET = 2.0
# How many messages may wait for Redis, and how many go out at once.
WAITING = 5_000
AT_ONCE = 200
# Names of channels in one command.
NAMES = 500
# A subscription that takes longer than a reading of the database may have missed something.
PROMPT = 0.02

CONNECTIONS = ("publisher", "subscriber")

# As `redis.asyncio` has it, without types.
Connection = Any
Encode = Callable[[], bytes]
Pair = tuple[str, Encode]
Use = Coroutine[Any, Any, None]

# Says to those who follow a channel since a moment ago that something was kept from them.
MISSED = b""


class RedisLink:
    """The two connections of a process. `heard` is given what others have published, `late` the
    channels of which something may have been missed; `news` is the channel of `Audience`."""

    def __init__(
        self,
        url: str,
        news: str,
        heard: Callable[[str, bytes], None],
        late: Callable[[Iterable[str]], None],
    ) -> None:
        retry = Retry(NoBackoff(), 0)
        self._connections: Any = ConnectionPool.from_url(
            url, protocol=2, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=retry
        )
        self._heard, self._late = heard, late
        # Every message begins with it, so that one's own are known when they come back. Not the
        # id of the process's row: commands have none, and a fork would share it.
        self._own = os.urandom(8)
        self._tasks = Background()
        self._loop: asyncio.AbstractEventLoop | None = None
        # Those of the two connections that are lost.
        self._lost: set[str] = set()
        # Those that stand: before the first try neither is lost.
        self._open: set[str] = set()
        self._waiting: deque[Pair] = deque(maxlen=WAITING)
        self._to_send = asyncio.Event()
        self._audience = Audience(news)
        self._followed = {news}
        self._changed: set[str] = set()
        self._to_follow = asyncio.Event()
        # When Redis was asked for a channel that it has not confirmed yet.
        self._asked: dict[str, float] = {}
        self._heard_at = 0.0
        # Messages that were not sent, because Redis was away or too slow.
        self.dropped = 0

    # --- what the process does ----------------------------------------------------

    @property
    def runs_here(self) -> bool:
        """Whether its tasks run in this event loop."""
        return self._loop is asyncio.get_running_loop()

    @property
    def is_up(self) -> bool:
        """Whether both connections stand."""
        return len(self._open) == len(CONNECTIONS)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._to_send, self._to_follow = asyncio.Event(), asyncio.Event()
        publisher, subscriber = CONNECTIONS
        self._tasks.spawn(self._keep(publisher, self._publishing), "redis publisher")
        self._tasks.spawn(self._keep(subscriber, self._listening), "redis subscriber")

    async def stop(self) -> None:
        """Let what waits go out, and end."""
        try:
            async with asyncio.timeout(PATIENCE):
                while self._waiting and self._tasks and "publisher" not in self._lost:
                    self._to_send.set()
                    await asyncio.sleep(0.01)
        except TimeoutError:
            pass
        await self._tasks.cancel(PATIENCE)
        self._open.clear()
        self._audience.is_deaf()
        self._loop = None

    def publish(self, channel: str, encode: Encode) -> None:
        """Send it when its turn comes, if anybody elsewhere follows; `encode` is called then, and
        only if it is sent."""
        if self._audience.keeps(channel):
            return
        if "publisher" in self._lost:
            self.dropped += 1
            return
        if len(self._waiting) == WAITING:
            self.dropped += 1
        self._waiting.append((channel, encode))
        self._to_send.set()

    async def publish_once(self, channel: str, encode: Encode) -> None:
        """The same for a command, which has no tasks and ends soon."""
        connection = self._connections.make_connection()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._send(connection, [(channel, encode)])
        except (RedisError, OSError, TimeoutError) as error:
            log.warning("Redis was not told: %s", _words(error))
        finally:
            await connection.disconnect(nowait=True)

    def follow(self, channel: str) -> None:
        self._followed.add(channel)
        self._change(channel)

    def unfollow(self, channel: str) -> None:
        self._followed.discard(channel)
        self._change(channel)

    def _change(self, channel: str) -> None:
        self._changed.add(channel)
        self._to_follow.set()

    # --- a connection -------------------------------------------------------------

    async def _keep(self, name: str, uses: Callable[[Connection], Iterable[Use]]) -> None:
        """Use a connection, and another when that is lost, for ever."""
        while True:
            connection = self._connections.make_connection()
            try:
                await _open(connection)
                self._is_back(name)
                await _until_one_ends(uses(connection))
            except (RedisError, OSError, TimeoutError) as error:
                self._is_lost(name, error)
            except Exception as error:  # whatever broke, the next connection may work
                log.exception("the %s of Redis broke", name)
                self._is_lost(name, error)
            finally:
                await connection.disconnect(nowait=True)
            await asyncio.sleep(AGAIN)

    def _is_lost(self, name: str, error: Exception) -> None:
        self._open.discard(name)
        if name == "subscriber":
            self._audience.is_deaf()
        if not self._lost:
            log.warning(
                "Redis is away (%s). Tabs of other processes look into the database until it is "
                "back.",
                _words(error),
            )
        self._lost.add(name)
        if name == "publisher":
            self.dropped += len(self._waiting)
            self._waiting.clear()

    def _is_back(self, name: str) -> None:
        self._open.add(name)
        if name == "publisher":
            self._audience.tell_again()
            self._to_send.set()
        if name in self._lost:
            self._lost.discard(name)
            if not self._lost:
                log.warning("Redis is back.")

    # --- going out ----------------------------------------------------------------

    def _publishing(self, connection: Connection) -> Iterator[Use]:
        yield self._send_all(connection)

    async def _send_all(self, connection: Connection) -> None:
        while True:
            await self._to_send.wait()
            self._to_send.clear()
            while self._waiting or self._audience.untold:
                batch = list(islice(self._waiting, AT_ONCE))
                with self._audience.asking():
                    await self._send_batch(connection, [*self._news(), *batch])
                for _ in range(min(len(batch), len(self._waiting))):
                    self._waiting.popleft()

    def _news(self) -> Iterator[Pair]:
        """What the other processes are to be told before anything else."""
        if self._audience.untold:
            told = self._audience.take_news()
            yield self._audience.news, lambda: told

    async def _send_batch(self, connection: Connection, batch: list[Pair]) -> None:
        ours = {channel for channel, _ in batch} & self._audience.here
        try:
            async with asyncio.timeout(PATIENCE):
                numbers = await self._send(connection, batch)
        except (RedisError, OSError):
            # Redis was started again, and this connection is of before.
            await connection.disconnect(nowait=True)
            await _open(connection)
            async with asyncio.timeout(PATIENCE):
                numbers = await self._send(connection, batch)
        for (channel, _), number in zip(batch, numbers, strict=True):
            self._audience.was_told(channel, number, with_us=channel in ours)

    async def _send(self, connection: Connection, batch: list[Pair]) -> list[int]:
        """To how many each was told."""
        commands = [("PUBLISH", channel, self._own + encode()) for channel, encode in batch]
        await connection.send_packed_command(connection.pack_commands(commands), check_health=False)
        return [await connection.read_response() for _ in batch]

    # --- coming in ----------------------------------------------------------------

    def _listening(self, connection: Connection) -> Iterator[Use]:
        """Hear what others publish, until the connection is lost."""
        self._asked.clear()
        # A new connection follows nothing yet, and much may have been missed.
        self._changed = set(self._followed)
        self._to_follow.set()
        self._heard_at = asyncio.get_running_loop().time()
        yield self._read(connection)
        yield self._ask(connection)

    async def _read(self, connection: Connection) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            response: Any = await connection.read_response(
                timeout=math.inf, disconnect_on_error=False
            )
            self._heard_at = clock()
            if not isinstance(response, list) or len(response) != 3:
                continue
            kind, channel, body = response
            if kind == b"message":
                if not body.startswith(self._own):
                    self._hear(channel.decode(), body[len(self._own) :])
            elif kind == b"subscribe":
                name = channel.decode()
                self._audience.follows(name)
                self._to_send.set()
                if self._heard_at - self._asked.pop(name, -math.inf) > PROMPT:
                    self._late([name])

    def _hear(self, channel: str, body: bytes) -> None:
        """Another process has told something."""
        if channel == self._audience.news:
            if body == MISSED:
                self._audience.is_in_doubt()
            for missed in self._audience.hear_news(body):
                self.publish(missed, lambda: MISSED)
        elif body == MISSED:
            self._late([channel])
        else:
            self._heard(channel, body)

    async def _ask(self, connection: Connection) -> None:
        """Bring to Redis which channels are followed, and see that it still answers."""
        clock = asyncio.get_running_loop().time
        subscribed: set[str] = set()
        first = True
        while True:
            try:
                async with asyncio.timeout(QUIET):
                    await self._to_follow.wait()
            except TimeoutError:
                if clock() - self._heard_at > QUIET + 2 * PATIENCE:
                    raise
            self._to_follow.clear()
            changed, self._changed = self._changed, set()
            new = (changed & self._followed) - subscribed
            old = (changed & subscribed) - self._followed
            subscribed = (subscribed | new) - old
            self._audience.leaves(old)
            if not first:
                self._asked.update(dict.fromkeys(new, clock()))
            commands = [*_named("SUBSCRIBE", new), *_named("UNSUBSCRIBE", old)]
            await connection.send_packed_command(
                connection.pack_commands(commands or [("PING",)]), check_health=False
            )
            first = False


async def _open(connection: Connection) -> None:
    """Connect, and see that Redis answers: a server that hangs still takes connections."""
    async with asyncio.timeout(2 * PATIENCE):
        await connection.connect()
        await connection.send_command("PING", check_health=False)
        await connection.read_response()


async def _until_one_ends(works: Iterable[Use]) -> None:
    """Do these side by side until one of them ends, and raise what it has ended with."""
    tasks = {asyncio.ensure_future(work) for work in works}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        # Again and again: who writes in that moment is not told, for before Python 3.12
        # `asyncio.wait_for` keeps it to itself.
        while left := {task for task in tasks if not task.done()}:
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=0.01)
    for task in tasks:
        if not task.cancelled() and (error := task.exception()):
            raise error


def _named(command: str, channels: set[str]) -> list[tuple[str, ...]]:
    """The command for these channels, some of them at a time."""
    names = sorted(channels)
    return [(command, *names[at : at + NAMES]) for at in range(0, len(names), NAMES)]


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
