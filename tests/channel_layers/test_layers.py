"""The same promises of every channel layer that Parley runs on, and more of its own."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from channels.exceptions import ChannelFull
from channels.layers import channel_layers

from chat.protocol.events import Chunk
from chat.protocol.ids import new_id
from chat.protocol.stopped import StoppedBy
from chat.services.broadcast import Subscription, publish, tell_sidebar, user_group
from chat.services.broadcast import conversation_group as group_of
from chat.services.layer import InProcessChannelLayer
from chat.services.notes import (
    Events,
    Note,
    Seen,
    SidebarChanged,
    StopRun,
    note_from_bytes,
    note_to_bytes,
)
from chat.services.redis_layer import RedisLayer
from tests.support.measuring import AsyncAct, async_ratio
from tests.support.waiting import PATIENCE

PART = new_id()


@pytest.fixture(params=["in process", "redis"])
async def layer(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """The default layer of this test."""
    if request.param == "in process":
        made = InProcessChannelLayer()
    else:
        made = RedisLayer(request.getfixturevalue("redis_url"), prefix="test")
        made.start()
    before = channel_layers.set("default", made)
    yield made
    channel_layers.set("default", before)
    if isinstance(made, RedisLayer):
        await made.stop()


def an_event(conversation: str, seq: int) -> Chunk:
    return Chunk(
        conversation_id=conversation,
        rev=1,
        request_id="r",
        seq=seq,
        ts=5,
        part_id=PART,
        position=0,
        offset=seq,
        delta=f"word {seq} 中文 🙂",
    )


async def heard(subscription: Subscription) -> Note:
    async with asyncio.timeout(PATIENCE):
        return await subscription.receive()


async def test_everybody_in_a_group_hears_the_same_values(layer: Any) -> None:
    one, two, stranger = [await Subscription.open() for _ in range(3)]
    await one.join([group_of("a")])
    await two.join([group_of("a"), user_group(7)])
    await stranger.join([group_of("b")])
    events = [an_event("a", 1), an_event("a", 2)]

    await publish("a", events)
    await publish("b", [an_event("b", 1)])

    assert await heard(one) == Events(events)
    assert await heard(two) == Events(events)
    assert await heard(stranger) == Events([an_event("b", 1)])
    for subscription in (one, two, stranger):
        await subscription.close()


async def test_what_is_sent_in_order_comes_in_order(layer: Any) -> None:
    subscription = await Subscription.open()
    await subscription.join([group_of("a")])
    for seq in range(1, 201):
        await publish("a", [an_event("a", seq)])
    for seq in range(1, 201):
        assert await heard(subscription) == Events([an_event("a", seq)])
    await subscription.close()


async def test_who_has_left_hears_nothing_more(layer: Any) -> None:
    gone, there = await Subscription.open(), await Subscription.open()
    await gone.join([user_group(7)])
    await there.join([user_group(7)])
    await gone.close()
    await tell_sidebar(7, "a")
    assert await heard(there) == SidebarChanged("a")
    await there.close()


async def test_a_reader_that_gave_up_waiting_can_wait_again(layer: Any) -> None:
    subscription = await Subscription.open()
    await subscription.join([user_group(7)])
    waiting = asyncio.create_task(subscription.receive())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    await tell_sidebar(7, "a")
    assert await heard(subscription) == SidebarChanged("a")
    await subscription.close()


async def test_a_full_subscription_loses_its_oldest_and_counts_it() -> None:
    layer = InProcessChannelLayer(capacity=10)
    channel = await layer.new_channel()
    await layer.group_add("g", channel)
    for n in range(25):
        await layer.group_send("g", {"type": "n", "n": n})
    assert layer.dropped == 15
    kept = [(await layer.receive(channel))["n"] for _ in range(10)]
    assert kept == list(range(15, 25))
    for _ in range(10):
        await layer.send(channel, {"type": "n"})
    with pytest.raises(ChannelFull):
        await layer.send(channel, {"type": "n"})


async def test_a_socket_that_did_not_read_for_long_stays_in_its_groups() -> None:
    """The stock layer takes a channel out of every group once a message has expired."""
    layer = InProcessChannelLayer(expiry=0)
    channel = await layer.new_channel()
    await layer.group_add("g", channel)
    await layer.group_send("g", {"type": "old"})
    await asyncio.sleep(0.05)
    await layer.group_send("g", {"type": "new"})
    assert [(await layer.receive(channel))["type"] for _ in range(2)] == ["old", "new"]


async def test_nothing_is_left_of_a_thousand_sockets_that_came_and_went() -> None:
    layer = InProcessChannelLayer()
    for n in range(1000):
        channel = await layer.new_channel()
        await layer.group_add(f"c.{n}", channel)
        await layer.group_discard(f"c.{n}", channel)
        await layer.close_channel(channel)
    assert not layer.queues
    assert not layer.groups


async def test_a_send_costs_the_same_however_many_groups_there_are() -> None:
    """O(1): the stock layer goes through all of them for every message."""

    async def with_groups(number: int) -> AsyncAct:
        layer = InProcessChannelLayer()
        for n in range(number):
            channel = await layer.new_channel()
            await layer.group_add(f"g{n}", channel)

        async def send() -> None:
            for _ in range(500):
                await layer.group_send("g0", {"type": "n"})

        return send

    assert await async_ratio(await with_groups(5000), await with_groups(10), 4) <= 4


async def test_a_message_to_a_channel_nobody_opened_leaves_nothing_behind() -> None:
    layer = InProcessChannelLayer()
    await layer.group_add("g", "specific.inprocess!gone")
    await layer.group_send("g", {"type": "n"})
    assert not layer.queues


@pytest.mark.parametrize(
    "note",
    [
        Events([an_event("a", 1), an_event("a", 2)]),
        SidebarChanged("a"),
        Seen("a"),
        StopRun("a", "r", StoppedBy(by_id="7", by="Alice")),
    ],
    ids=lambda note: type(note).__name__,
)
def test_a_note_is_the_same_in_another_process(note: Note) -> None:
    assert note_from_bytes(note_to_bytes(note)) == note


def test_a_note_of_another_version_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    """During an update old and new processes share Redis; each kind is warned of once."""
    for data in (
        b'column {"conversation_id": "a"}',
        b'SidebarChanged {"unknown": 1}',
        b'Events [{"name": "chat:new"}]',
        b"Events \xff",
        b'StopRun {"stop": 3}',
        b"",
    ):
        assert note_from_bytes(data) is None
    assert caplog.text.count("not understood") == 5
