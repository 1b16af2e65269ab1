"""Redis is a help, never a condition: the layers of two processes, and a Redis that fails."""

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from chat.services import redis_audience, redis_link
from chat.services.notes import Missed, Note, Seen
from chat.services.redis_layer import RedisLayer
from tests.faults.proxy import ChaosProxy, chaos
from tests.support.redis import Redis
from tests.support.waiting import PATIENCE, eventually

Open = Callable[..., Awaitable["Listener"]]


class Listener:
    """Somebody in the groups of a process, and what they have heard."""

    def __init__(self, layer: RedisLayer, channel: str) -> None:
        self.layer, self.channel = layer, channel
        self.heard: list[Note] = []
        self.task = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        while True:
            self.heard.append((await self.layer.receive(self.channel))["note"])

    def has(self, word: str) -> bool:
        return Seen(word) in self.heard

    async def leave(self, group: str = "c.a") -> None:
        self.task.cancel()
        await self.layer.group_discard(group, self.channel)
        await self.layer.close_channel(self.channel)


def say(layer: RedisLayer, word: str, group: str = "c.a") -> None:
    layer.put(group, {"type": "note", "note": Seen(word)})


async def listen(layer: RedisLayer, group: str = "c.a") -> Listener:
    channel = await layer.new_channel()
    await layer.group_add(group, channel)
    return Listener(layer, channel)


async def until_it_passes(sender: RedisLayer, other: Listener, group: str = "c.a") -> None:
    """Until what one says is heard by the other."""
    async with asyncio.timeout(PATIENCE):
        n = 0
        while not any(isinstance(note, Seen) and note.conversation_id == f"try {n}"
                      for note in other.heard):  # fmt: skip
            n += 1
            say(sender, f"try {n}", group)
            await asyncio.sleep(0.05)


def commands(redis: Redis, *words: str) -> str:
    """What Redis answers to a command, as it comes."""
    with socket.create_connection(("127.0.0.1", redis.port), timeout=PATIENCE) as client:
        client.sendall((" ".join(words) + "\r\n").encode())
        return client.recv(65_536).decode()


def followed(redis: Redis) -> int:
    """How many channels somebody follows."""
    return int(commands(redis, "PUBSUB", "CHANNELS", "test:*").split("\r\n", 1)[0][1:])


@pytest.fixture
async def proxy(own_redis: Redis) -> AsyncIterator[ChaosProxy]:
    async with chaos(own_redis.port) as proxy:
        yield proxy


@pytest.fixture
async def layers(proxy: ChaosProxy) -> AsyncIterator[Any]:
    """Those of two processes."""
    url = f"redis://127.0.0.1:{proxy.port}/0"
    made = [RedisLayer(url, prefix="test") for _ in range(2)]
    for layer in made:
        layer.start()
    yield made
    proxy.go_on()
    for layer in made:
        await layer.stop()


async def test_one_is_told_at_once_and_the_other_soon(layers: Any) -> None:
    one, two = layers
    mine, theirs = await listen(one), await listen(two)
    await until_it_passes(one, theirs)
    say(one, "hello")
    assert one.queues[mine.channel].messages[-1]["note"] == Seen("hello")
    await eventually(lambda: theirs.has("hello"))
    await until_it_passes(two, mine)
    # What was said here came once, not back from Redis as well.
    assert mine.heard.count(Seen("hello")) == 1


@pytest.mark.parametrize("fault", ["refused", "hanging", "killed"])
async def test_without_redis_nobody_here_waits(
    fault: str, layers: Any, proxy: ChaosProxy, own_redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    """R2: a socket opens, hears what is said here, and leaves, all without a pause; one line in
    the log says that Redis is away, and one that it is back."""
    one, two = layers
    theirs = await listen(two)
    await until_it_passes(one, theirs)
    match fault:
        case "refused":
            await proxy.refuse()
        case "hanging":
            own_redis.process.send_signal(signal.SIGSTOP)
        case "killed":
            own_redis.stop()
    loop = asyncio.get_running_loop()
    before = loop.time()
    for n in range(300):
        mine = await listen(one)
        say(one, f"word {n}")
        assert one.queues[mine.channel].messages[-1]["note"] == Seen(f"word {n}")
        if n % 50 == 0:
            await one.group_send("c.a", {"type": "note", "note": Seen("sent")})
        await mine.leave()
    # Nothing here has given the event loop away for long.
    assert loop.time() - before < redis_link.PATIENCE
    # Whoever says nothing notices by what it follows.
    await eventually(lambda: len(one.link._lost) == 2 and "subscriber" in two.link._lost)
    say(one, "to nobody")
    assert not one.link._waiting
    heard = len(theirs.heard)
    match fault:
        case "refused":
            await proxy.start()
        case "hanging":
            own_redis.process.send_signal(signal.SIGCONT)
        case "killed":
            own_redis.start()
    await until_it_passes(one, theirs)
    await eventually(lambda: Missed() in theirs.heard[heard:])
    await eventually(lambda: not one.link._lost and not two.link._lost)
    told = [each.getMessage()[:13] for each in caplog.records if each.name.endswith("redis_link")]
    assert sorted(told) == ["Redis is away"] * 2 + ["Redis is back"] * 2
    assert not [each for each in caplog.records if each.levelno > logging.WARNING]


async def test_a_restart_in_a_quiet_moment_costs_nothing(layers: Any, proxy: ChaosProxy) -> None:
    """The connection of before is found dead by the first message, which goes out on another."""
    one, two = layers
    theirs = await listen(two)
    await until_it_passes(one, theirs)
    before = proxy.connections
    proxy.cut()
    # Both listen again, over connections of their own.
    await eventually(lambda: proxy.connections >= before + 2)
    await eventually(lambda: not two.link._lost and Missed() in theirs.heard)
    await eventually(lambda: "subscriber" not in one.link._lost)
    say(one, "the first word")
    await eventually(lambda: theirs.has("the first word"))


async def test_a_flush_takes_nothing_away(layers: Any, own_redis: Redis) -> None:
    one, two = layers
    theirs = await listen(two)
    await until_it_passes(one, theirs)
    assert commands(own_redis, "FLUSHALL").startswith("+OK")
    say(one, "after the flush")
    await eventually(lambda: theirs.has("after the flush"))


async def test_nothing_is_followed_for_those_who_left(layers: Any, own_redis: Redis) -> None:
    """R9: also when they leave before Redis has heard of them."""
    one, two = layers
    first = await listen(one, "c.first")
    await eventually(lambda: followed(own_redis) == 1)
    for n in range(300):
        mine = await listen(one, f"c.{n}")
        if n % 3:
            await asyncio.sleep(0)
        await mine.leave(f"c.{n}")
    second = await listen(one, "c.first")
    await second.leave("c.first")
    there = await listen(one, "c.last")
    await eventually(lambda: followed(own_redis) == 2)
    say(two, "still here", "c.first")
    await eventually(lambda: first.has("still here"))
    await there.leave("c.last")
    await first.leave("c.first")
    await eventually(lambda: followed(own_redis) == 0)


async def test_a_message_is_published_once_however_many_listen(
    layers: Any, own_redis: Redis
) -> None:
    one, two = layers
    crowd = [await listen(two) for _ in range(50)]
    await until_it_passes(one, crowd[0])
    commands(own_redis, "CONFIG", "RESETSTAT")
    for n in range(20):
        say(one, f"frame {n}")
    await eventually(lambda: all(each.has("frame 19") for each in crowd))
    stats = commands(own_redis, "INFO", "commandstats")
    assert "cmdstat_publish:calls=20," in stats
    assert not one.link.dropped


async def alone_in(layer: RedisLayer, group: str) -> None:
    """Until a process knows that nobody elsewhere is in a group."""
    async with asyncio.timeout(PATIENCE):
        while not layer.link._audience.keeps(f"test:{group}"):
            say(layer, "is anybody there?", group)
            await asyncio.sleep(0.02)


def published(redis: Redis) -> int:
    """How many messages Redis was given since its statistics were reset."""
    stats = commands(redis, "INFO", "commandstats")
    _, found, numbers = stats.partition("cmdstat_publish:calls=")
    return int(numbers.partition(",")[0]) if found else 0


async def test_what_is_followed_here_alone_stays_here(
    layers: Any, own_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until somebody elsewhere follows as well: they are told at once, and that something was kept
    from them since they have asked Redis."""
    monkeypatch.setattr(redis_audience, "ALONE", 1_000)
    one, two = layers
    mine, theirs = await listen(one), await listen(two, "c.b")
    await until_it_passes(one, theirs, "c.b")
    await alone_in(one, "c.a")
    commands(own_redis, "CONFIG", "RESETSTAT")
    for n in range(200):
        say(one, f"frame {n}")
    say(one, "to both", "c.b")
    await eventually(lambda: theirs.has("to both") and mine.has("frame 199"))
    assert published(own_redis) == 1
    late = await listen(two)
    await eventually(lambda: Missed() in late.heard)
    say(one, "now")
    await eventually(lambda: late.has("now"))


@pytest.mark.parametrize("said", [b"c.a", b"c.b\nc.a", redis_link.MISSED])
def test_what_another_says_is_newer_than_an_answer_that_is_read_after_it(said: bytes) -> None:
    """Both come on connections of their own, and the answer may have lain there for a while."""
    audience = redis_audience.Audience("news")
    for channel in ("news", "c.a"):
        audience.follows(channel)
    with audience.asking():
        audience.hear_news(said) if said else audience.is_in_doubt()
        audience.was_told("c.a", 1, with_us=True)
    assert not audience.keeps("c.a")
    with audience.asking():
        audience.was_told("c.a", 1, with_us=True)
    assert audience.keeps("c.a")


async def test_who_does_not_say_that_it_follows_is_told_all_the_same(
    layers: Any, own_redis: Redis
) -> None:
    """What a process says may be lost, and older ones say nothing: two seconds later it is told."""
    one, _ = layers
    await listen(one)
    await alone_in(one, "c.a")
    reader, writer = await asyncio.open_connection("127.0.0.1", own_redis.port)
    writer.write(b"SUBSCRIBE test:c.a\r\n")
    heard = asyncio.ensure_future(reader.readuntil(b"Seen"))
    async with asyncio.timeout(PATIENCE):
        while not heard.done():
            say(one, "still nobody?")
            await asyncio.sleep(0.02)
    writer.close()


async def test_who_does_not_hear_what_others_follow_tells_all(
    layers: Any, own_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_audience, "ALONE", 1_000)
    one, _ = layers
    await listen(one)
    await alone_in(one, "c.a")
    commands(own_redis, "CLIENT", "KILL", "TYPE", "pubsub")
    await eventually(lambda: "subscriber" in one.link._lost)
    commands(own_redis, "CONFIG", "RESETSTAT")
    for n in range(20):
        say(one, f"frame {n}")
    await eventually(lambda: published(own_redis) >= 20)


@pytest.mark.parametrize("turns", range(4))
async def test_a_process_ends_without_waiting_for_redis(
    turns: int, own_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the moment when it says that it follows something no longer: until it has ended, its
    tabs are told nothing."""
    layer = RedisLayer(own_redis.url, prefix="test")
    layer.start()
    mine = await listen(layer)
    await eventually(lambda: followed(own_redis) == 1)
    await mine.leave()
    for _ in range(turns):
        await asyncio.sleep(0)
    monkeypatch.setattr(redis_link, "PATIENCE", 60)
    tasks = asyncio.all_tasks()
    before = asyncio.get_running_loop().time()
    await layer.stop()
    assert asyncio.get_running_loop().time() - before < 10
    assert not [task for task in tasks if "RedisLink" in repr(task) and not task.done()]


async def test_a_slow_redis_is_told_many_at_a_time(layers: Any, proxy: ChaosProxy) -> None:
    """R3: one by one, four hundred round trips of a tenth of a second would take forty."""
    one, two = layers
    theirs = await listen(two)
    await until_it_passes(one, theirs)
    proxy.delay = 0.05
    loop = asyncio.get_running_loop()
    before = loop.time()
    for n in range(400):
        say(one, f"frame {n}")
        if n % 20 == 0:
            await asyncio.sleep(0.005)
    await eventually(lambda: theirs.has("frame 399"))
    assert loop.time() - before < 400 * 0.1 / 8
    frames = [note for note in theirs.heard if note in {Seen(f"frame {n}") for n in range(400)}]
    assert frames == [Seen(f"frame {n}") for n in range(400)]


async def test_who_joins_late_is_told_that_something_may_be_missing(
    layers: Any, proxy: ChaosProxy
) -> None:
    """Redis took longer to subscribe than the database to be read."""
    one, two = layers
    theirs = await listen(two)
    await until_it_passes(one, theirs)
    proxy.delay = 0.1
    late = await listen(two, "c.late")
    await eventually(lambda: late.heard == [Missed()])


async def test_what_waits_for_a_hanging_redis_is_bounded(
    layers: Any, proxy: ChaosProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = layers
    theirs = await listen(two)
    await until_it_passes(one, theirs)
    proxy.hang()
    for n in range(redis_link.WAITING + 1_000):
        say(one, f"word {n}")
    assert len(one.link._waiting) == redis_link.WAITING
    assert one.link.dropped >= 1_000
    await eventually(lambda: "publisher" in one.link._lost)
    assert not one.link._waiting
