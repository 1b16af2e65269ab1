"""The way out of a socket: how much may be under way to a client that does not read."""

import socket
from collections import deque
from typing import Any

import pytest
from autobahn.exception import Disconnected
from twisted.internet import reactor, tcp

from chat.consumers.outbox import NOT_READING, Outbox
from chatsite.daphne_bodies import BoundedSocket


class Client:
    """The other end, as a server shows it."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.gone = False

    async def __call__(self, message: dict[str, Any]) -> None:
        if self.gone:
            raise Disconnected("gone")
        self.sent.append(message)

    @property
    def bytes(self) -> int:
        return sum(len(message.get("text", "").encode()) for message in self.sent)


@pytest.mark.parametrize("letter", ["x", "字", "🎉"])
async def test_a_client_that_does_not_read_costs_two_megabytes(letter: str) -> None:
    """A8: whatever it is written in; whoever feeds the socket looks first."""
    client = Client()
    outbox = Outbox(client)
    for _ in range(3_000):
        if outbox.is_full:
            break
        await outbox.say([letter * 1_000])
    assert client.bytes <= 2_000_000


async def test_one_that_reads_again_is_told_so_once_it_has_read_all() -> None:
    outbox = Outbox(Client())
    await outbox.say(["x" * 1_000_000] * 2)
    assert outbox.is_full
    assert not outbox.acknowledge(1)
    assert outbox.is_full, "until it has read all"
    await outbox.say(["a reply"])
    assert not outbox.acknowledge(2)
    assert outbox.acknowledge(3)
    assert not outbox.is_full
    assert not outbox.acknowledge(99)
    await outbox.say(["x" * 1_000_000])
    assert not outbox.acknowledge(4), "it was never too far behind"


async def test_a_program_that_reads_as_fast_as_it_is_told_is_never_full() -> None:
    """Whatever it has said so far was said a while ago: it is always some events behind."""
    client = Client()
    outbox = Outbox(client)
    for seq in range(1, 400):
        assert not outbox.is_full
        await outbox.say(["x" * 20_000, "a reply"], seq)
        outbox.acknowledge_events(seq - 30)
    assert client.bytes > 4 * outbox.window


async def test_the_events_of_each_answer_are_counted_anew() -> None:
    """And frames that are no event of an answer are read with what stands before them."""
    outbox = Outbox(Client())
    await outbox.say(["x" * outbox.window])
    for seq in (*range(90, 101), *range(1, 6)):
        await outbox.say(["x"], seq)
    await outbox.say(["a reply"])
    assert outbox.is_full
    assert not outbox.acknowledge_events(4)
    assert outbox.acknowledge_events(5)


@pytest.mark.parametrize("size", [1_000, 100_000, 1_000_000])
async def test_one_that_lets_even_its_replies_lie_is_shown_the_door(size: int) -> None:
    client = Client()
    outbox = Outbox(client)
    for _ in range(4 * outbox.window // size):
        await outbox.say(["x" * size])
    assert outbox.closed
    assert client.sent[-1] == {"type": "websocket.close", "code": NOT_READING}
    before = len(client.sent)
    await outbox.say(["more"])
    await outbox.close(1000)
    assert len(client.sent) == before


async def test_one_long_redraw_is_no_reason_to_close() -> None:
    """A slow reader may ask for something meanwhile; for much more they may not."""
    outbox = Outbox(Client())
    await outbox.say(["x" * 5 * outbox.window])
    for _ in range(30):
        await outbox.say(["a reply"])
    assert not outbox.closed
    await outbox.say(["x" * 5 * outbox.window])
    await outbox.say(["a reply"])
    assert outbox.closed


async def test_one_that_has_left_is_sent_nothing_more() -> None:
    client = Client()
    outbox = Outbox(client)
    client.gone = True
    await outbox.say(["a", "b"])
    assert outbox.closed
    await outbox.close(1000)
    assert client.sent == []


class Dropped(BoundedSocket):
    """A socket that nobody has shaken hands with: there is nothing to say when it is dropped."""

    dropped = False

    def dropConnection(self, abort: bool = False) -> None:  # noqa: N802 - the name is Autobahn's
        self.dropped = abort


def test_nothing_more_is_kept_for_a_client_that_only_says_it_reads() -> None:
    """However much it acknowledges: Daphne looks at what the connection takes."""
    here, there = socket.socketpair()
    wire = Dropped()
    wire.send_queue = deque()
    wire.transport = tcp.Connection(here, wire, reactor)
    wire.transport.connected = True

    def unsent() -> int:
        return len(wire.transport.dataBuffer) + wire.transport._tempDataLen

    # One that is long, and then all that comes while a slow reader takes it.
    wire.sendData(bytes(10_000_000))
    for _ in range(20):
        wire.sendData(bytes(Outbox.window // 10))
    while unsent():
        wire.transport.doWrite()
        there.recv(1_000_000)
    assert not wire.dropped
    for _ in range(1_000):
        wire.sendData(bytes(Outbox.window // 10))
    assert wire.dropped
    assert unsent() < 10_000_000 + 3 * Outbox.window
    wire.transport.stopWriting()
    here.close()
    there.close()
