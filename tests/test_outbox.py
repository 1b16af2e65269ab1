"""The way out of a socket: how much may be under way to a client that does not read."""

from typing import Any

import pytest
from autobahn.exception import Disconnected

from chat.consumers.outbox import MANY, NOT_READING, Outbox


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
    assert not outbox.is_full
    await outbox.say(["x" * 1_000_000])
    assert outbox.is_full
    assert outbox.acknowledge(3)
    assert not outbox.acknowledge(99)


async def test_one_that_lets_even_its_replies_lie_is_shown_the_door() -> None:
    client = Client()
    outbox = Outbox(client)
    for _ in range(MANY + 2):
        await outbox.say(["x" * (2 * outbox.window // MANY)])
    assert outbox.closed
    assert client.sent[-1] == {"type": "websocket.close", "code": NOT_READING}
    before = len(client.sent)
    await outbox.say(["more"])
    await outbox.close(1000)
    assert len(client.sent) == before


async def test_one_long_redraw_is_no_reason_to_close() -> None:
    outbox = Outbox(Client())
    await outbox.say(["x" * 5 * outbox.window])
    await outbox.say(["a reply"])
    assert not outbox.closed


async def test_one_that_has_left_is_sent_nothing_more() -> None:
    client = Client()
    outbox = Outbox(client)
    client.gone = True
    await outbox.say(["a", "b"])
    assert outbox.closed
    await outbox.close(1000)
    assert client.sent == []
