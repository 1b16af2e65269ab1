"""The same promises of every channel layer that Parley runs on, and more of its own."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from channels.exceptions import ChannelFull
from channels.layers import BaseChannelLayer, channel_layers
from channels_redis.pubsub import RedisPubSubChannelLayer

from chat.layers import InProcessChannelLayer
from chat.protocol.events import Event
from chat.services.broadcast import Mailbox, publish, tell_user, user_group
from chat.services.broadcast import conversation_group as group_of

SOON = 5


@pytest.fixture(params=["in process", "redis pub/sub"])
async def layer(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """The default layer of this test."""
    if request.param == "in process":
        made: BaseChannelLayer = InProcessChannelLayer()
    else:
        url = request.getfixturevalue("redis_url")
        made = RedisPubSubChannelLayer(hosts=[url], prefix="test")
    before = channel_layers.set("default", made)
    yield made
    channel_layers.set("default", before)
    if hasattr(made, "flush"):
        await made.flush()


def an_event(conversation: str, seq: int) -> Event:
    body = {"delta": f"word {seq} 中文 🙂", "position": 0, "offset": seq}
    return Event("chat:chunk", conversation, rev=1, request_id="r", seq=seq, ts=5, body=body)


async def heard(mailbox: Mailbox) -> Any:
    async with asyncio.timeout(SOON):
        return await mailbox.receive()


async def test_everybody_in_a_group_hears_the_same_values(layer: Any) -> None:
    one, two, stranger = [await Mailbox.open() for _ in range(3)]
    await one.join([group_of("a")])
    await two.join([group_of("a"), user_group(7)])
    await stranger.join([group_of("b")])
    events = [an_event("a", 1), an_event("a", 2)]

    await publish("a", events)
    await publish("b", [an_event("b", 1)])

    assert (await heard(one))["events"] == events
    assert (await heard(two))["events"] == events
    assert (await heard(stranger))["events"] == [an_event("b", 1)]
    for mailbox in (one, two, stranger):
        await mailbox.close()


async def test_what_is_sent_in_order_comes_in_order(layer: Any) -> None:
    mailbox = await Mailbox.open()
    await mailbox.join([group_of("a")])
    for seq in range(1, 201):
        await publish("a", [an_event("a", seq)])
    numbers = [(await heard(mailbox))["events"][0].seq for _ in range(200)]
    assert numbers == list(range(1, 201))
    await mailbox.close()


async def test_who_has_left_hears_nothing_more(layer: Any) -> None:
    gone, there = await Mailbox.open(), await Mailbox.open()
    await gone.join([user_group(7)])
    await there.join([user_group(7)])
    await gone.close()
    await tell_user(7, "column", conversation_id="a")
    assert (await heard(there))["type"] == "column"
    await there.close()


async def test_a_reader_that_gave_up_waiting_can_wait_again(layer: Any) -> None:
    mailbox = await Mailbox.open()
    await mailbox.join([user_group(7)])
    waiting = asyncio.create_task(mailbox.receive())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    await tell_user(7, "column")
    assert (await heard(mailbox))["type"] == "column"
    await mailbox.close()


async def test_a_layer_that_is_away_ends_no_run(caplog: pytest.LogCaptureFixture) -> None:
    """A lost hint is logged; whoever publishes goes on."""
    away = RedisPubSubChannelLayer(hosts=["redis://127.0.0.1:1/0"])
    before = channel_layers.set("default", away)
    await publish("a", [an_event("a", 1)])
    channel_layers.set("default", before)
    assert "did not take a message" in caplog.text


async def test_a_full_mailbox_loses_its_oldest_and_counts_it() -> None:
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
    assert not layer.mailboxes
    assert not layer.groups


async def test_a_send_costs_the_same_however_many_groups_there_are() -> None:
    """O(1): the stock layer goes through all of them for every message."""

    async def cost(groups: int) -> float:
        layer = InProcessChannelLayer()
        for n in range(groups):
            channel = await layer.new_channel()
            await layer.group_add(f"g{n}", channel)
        best = float("inf")
        for _ in range(5):
            began = time.perf_counter()
            for _ in range(500):
                await layer.group_send("g0", {"type": "n"})
            best = min(best, time.perf_counter() - began)
        return best

    assert await cost(5000) < 4 * await cost(10)


async def test_a_message_to_a_channel_nobody_opened_leaves_nothing_behind() -> None:
    layer = InProcessChannelLayer()
    await layer.group_add("g", "specific.inprocess!gone")
    await layer.group_send("g", {"type": "n"})
    assert not layer.mailboxes
