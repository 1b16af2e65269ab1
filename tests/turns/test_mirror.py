"""A8, A10: what one tab does, the others show within a blink, their columns too."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support import factories as make
from tests.support.model_server import Gate, Say, reply
from tests.support.site import Site
from tests.support.tabs import Tab, in_thread
from tests.support.waiting import quickest

# Others on the machine can only make it longer, so the best of some rounds counts.
BLINK = 0.5
ROUNDS = 5

Act = Callable[[int], Awaitable[Any]]
Seen = Callable[[int], bool]


async def mirrored(other: Tab, act: Act, seen: Seen) -> float:
    """How long it takes, at best, until another tab shows what was done in one."""
    took = []
    for number in range(ROUNDS):
        begun = time.monotonic()
        doing = asyncio.ensure_future(act(number))
        await other.until(lambda number=number: seen(number))  # type: ignore[misc]
        took.append(time.monotonic() - begun)
        await doing
    return min(took)


def column(tab: Tab) -> str:
    return str(tab.page.listed())


@pytest.fixture
async def tabs(site: Site) -> tuple[Tab, Tab, Tab]:
    """Two of the same conversation, and one of another: its column is all that it shares."""
    talk = await in_thread(make.a_conversation)(site.alice.user, title="Elsewhere")
    one, other, elsewhere = await site.tab(), await site.tab(), await site.tab(talk=talk)
    for tab in (one, other, elsewhere):
        await tab.until(lambda tab=tab: "attach" in tab.replies)  # type: ignore[misc]
    return one, other, elsewhere


async def test_questions_and_words(site: Site, tabs: tuple[Tab, Tab, Tab]) -> None:
    """From the question to the other tab, from a word to it."""
    one, other, elsewhere = tabs
    site.provider.answer = reply(Say("All of it."))

    async def ask(number: int) -> None:
        await one.send(f"Question {number}!")
        await one.sees_the_end()

    to_said = await mirrored(
        other,
        ask,
        lambda number: f"Question {number}!" in other.page.text_of("t"),
    )
    await other.sees_the_end()
    assert to_said < BLINK

    gates = [Gate() for _ in range(ROUNDS)]
    steps = [step for n, gate in enumerate(gates) for step in (gate, f" word{n}")]
    site.provider.answer = reply("Begin", *steps, Gate())
    await one.send("Go on")
    await other.sees("Begin")
    await elsewhere.until(lambda: "True" in column(elsewhere))

    async def open_gate(number: int) -> None:
        gates[number].open()

    to_word = await mirrored(
        other, open_gate, lambda number: f"word{number}" in other.page.text_of("t")
    )
    assert to_word < BLINK
    await one.stop()


async def test_a_stop(site: Site, tabs: tuple[Tab, Tab, Tab]) -> None:
    one, other, elsewhere = tabs
    site.provider.answer = reply("Begin", Gate())

    async def stopped() -> float:
        await one.send("Go on")
        await elsewhere.until(lambda: "True" in column(elsewhere))
        await other.until(lambda: other.running)
        begun = time.monotonic()
        await one.stop()
        await other.until(lambda: "Stopped" in other.page.text_of("t") and not other.running)
        await elsewhere.until(lambda: "True" not in column(elsewhere))
        return time.monotonic() - begun

    assert await quickest(stopped, 2 * BLINK) < 2 * BLINK


async def test_names_and_pins(site: Site, tabs: tuple[Tab, Tab, Tab]) -> None:
    one, other, elsewhere = tabs
    # Each does a few things only: a tab that does many at once is refused some.
    third = await site.tab()
    to_title = await mirrored(
        other,
        lambda number: one.ask("rename", title=f"Name {number}"),
        lambda number: other.page.text_of("title") == f"Name {number}",
    )
    to_column = await mirrored(
        elsewhere,
        lambda number: other.ask("rename", title=f"New name {number}"),
        lambda number: f"New name {number}" in column(elsewhere),
    )
    to_pin = await mirrored(
        elsewhere,
        lambda number: third.ask("pin", pinned=number % 2 == 0),
        lambda number: ("True" in column(elsewhere)) == (number % 2 == 0),
    )
    assert max(to_title, to_column, to_pin) < BLINK


async def test_a_deletion(site: Site, tabs: tuple[Tab, Tab, Tab]) -> None:
    *_, elsewhere = tabs

    async def deleted() -> float:
        talk = await in_thread(make.a_conversation)(site.alice.user, title="Not for long")
        one, other = await site.tab(talk=talk), await site.tab(talk=talk)
        await other.until(lambda: "attach" in other.replies)
        assert (await one.ask("rename", title="Gone soon"))["ok"]
        await elsewhere.until(lambda: "Gone soon" in column(elsewhere))
        begun = time.monotonic()
        one.say("delete", client_id="delete")
        await other.until(lambda: other.closed == 4404)
        await elsewhere.until(lambda: "Gone soon" not in column(elsewhere))
        return time.monotonic() - begun

    assert await quickest(deleted, 2 * BLINK) < 2 * BLINK
