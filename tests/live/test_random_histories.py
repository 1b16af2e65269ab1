"""Whatever happens to hints and sockets, pages come to show what is stored, and nothing wrong.

The channel layer loses, doubles and reorders by a seed; tabs come, go and come back; people
send, stop, edit and ask again. Every frame is applied as htmx does: a missing place or an id
that is there twice fails at once (tests/support/page.py).
"""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import pytest
from channels.layers import channel_layers

from chat.services.notes import Events
from chat.services.runs.run import RUNS
from tests.support.follower import Follower, stored
from tests.support.model_server import Call, Drop, Reply, Say, Think, reply
from tests.support.model_server.replies import Step
from tests.support.shaky_layer import ShakyLayer
from tests.support.site import Site
from tests.support.tabs import Tab, equal_pages, impatient
from tests.support.texts import mixed
from tests.support.waiting import eventually


def an_answer(random: Random) -> Reply:
    """Anything a model may do in one step; a call leads to another step."""
    steps: list[Step] = []
    if random.random() < 0.4:
        steps.append(Think("Let me think about *it*, and\nabout that.", ms=random.choice((0, 3))))
    tokens = mixed(random.randint(5, 60), random.randrange(10**6))
    steps.append(Say(tokens, ms=random.choice((0, 0, 1, 3))))
    for _ in range(random.choice((0, 0, 0, 1, 2))):
        expression = random.choice(("1+1", "1/0", "2**8"))
        steps.append(Call("calculator", {"expression": expression}))
    if random.random() < 0.08:
        return reply(*steps, Drop(), finish=None, done=False)
    return reply(*steps)


class History:
    """One random run: a few tabs, and what happens to them."""

    def __init__(self, site: Site, seed: int) -> None:
        self.site = site
        self.random = Random(seed)
        self.open: list[Tab] = []
        self.away: list[Tab] = []
        site.provider.answer = lambda _request: an_answer(self.random)

    async def live(self, steps: int) -> None:
        acts: list[Callable[[], Awaitable[object]]] = [
            self.send, self.send, self.send, self.stop, self.leave, self.come_back, self.arrive,
            self.wait, self.wait, self.redo, self.rewrite,
        ]  # fmt: skip
        await self.arrive()
        await self.arrive()
        for _ in range(steps):
            await self.random.choice(acts)()

    def one(self) -> Tab:
        return self.random.choice(self.open)

    async def arrive(self) -> None:
        if len(self.open) + len(self.away) < 4:
            alice = self.site.alice
            person = alice.speaking("zh-hans") if self.random.random() < 0.4 else alice
            self.open.append(await self.site.tab(person))

    async def leave(self) -> None:
        if len(self.open) > 1:
            tab = self.open.pop(self.random.randrange(len(self.open)))
            await tab.cut()
            self.away.append(tab)

    async def come_back(self) -> None:
        if self.away:
            self.open.append(await self.away.pop().open())

    async def send(self) -> None:
        tab = self.one()
        await tab.ask("send", content=f"Question {self.random.random()}")

    async def stop(self) -> None:
        await self.one().stop()

    async def redo(self) -> None:
        await self._again("answer", "regenerate")

    async def rewrite(self) -> None:
        await self._again("user", "edit", content=f"Another question {self.random.random()}")

    async def _again(self, role: str, command: str, **values: str) -> None:
        tab = self.one()
        shown = tab.page.messages()
        found = [each.get("data-id") for each in shown if each.get("data-role") == role]
        if found:
            await tab.ask(command, message_id=self.random.choice(found), **values)

    async def wait(self) -> None:
        await asyncio.sleep(self.random.choice((0.01, 0.05, 0.2)))


async def quiet() -> None:
    await eventually(lambda: not RUNS)


async def a_history(site: Site, seed: int, steps: int) -> None:
    layer = ShakyLayer(seed)
    channel_layers.set("default", layer)
    with impatient(0.3):
        history = History(site, seed)
        await history.live(steps)
        await quiet()
        layer.calm()
        while history.away:
            await history.come_back()
        await equal_pages(*history.open)
    # Refused as often as you like, but never broken off.
    assert [tab.closed for tab in history.open] == [None] * len(history.open)


@pytest.mark.parametrize("seed", range(5))
async def test_every_page_comes_to_show_what_is_stored(site: Site, seed: int) -> None:
    """A8, A9: one comparison after all is quiet, every page equals a fresh one."""
    await a_history(site, seed, steps=14)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 160))
async def test_every_page_comes_to_show_what_is_stored_for_long(site: Site, seed: int) -> None:
    await a_history(site, seed, steps=40)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shaky", [False, True], ids=["sound", "shaky"])
async def test_a_program_that_folds_events_knows_what_is_stored(
    site: Site, seed: int, shaky: bool
) -> None:
    """A3, A9: `parley.v1+json` by the rules of the protocol gives the rows."""
    layer = ShakyLayer(seed) if shaky else ShakyLayer(seed, lose=0, double=0, hold=0)
    channel_layers.set("default", layer)
    random = Random(seed)
    site.provider.answer = lambda _request: an_answer(random)
    # A comparison while an event is on its way reads again; where nothing is lost, none is due.
    with impatient(0.3 if shaky else 60):
        program = await Follower(site.alice, site.talk.pk).open()
        late = await Follower(site.alice, site.talk.pk).open()
        for n in range(3):
            sent = await program.ask("send", content=f"Question {n}")
            assert sent["ok"]
            await quiet()
        layer.calm()
        messages = (await program.ask("messages", limit=50))["messages"]
        for each in (program, late):
            await each.until_it_knows(stored(messages))
        if not shaky:
            assert [event["name"] for event in late.heard].count("chat:snapshot") == 1
            headers = {"conversation_id", "rev", "tab_id", "request_id", "seq", "message_id", "ts"}
            assert all(headers <= set(event) for event in late.heard[1:])
        await program.cut()
        await late.cut()


async def test_late_events_of_a_finished_run_reach_nobody(site: Site) -> None:
    """A9: a socket that came after the end drops them, and does not read for ever."""
    from chat.services.broadcast import publish

    kept: list[object] = []

    class Keeping(ShakyLayer):
        def put(self, group: str, message: dict[str, Any]) -> None:
            note = message["note"]
            kept.extend(note.events if isinstance(note, Events) else ())
            super().put(group, message)

    channel_layers.set("default", Keeping(1, lose=0, double=0, hold=0))
    site.provider.answer = reply("All of it.")
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees_the_end()
    await quiet()
    late = await site.tab()
    await late.until(lambda: "attach" in late.replies)
    await publish(str(site.talk.pk), list(kept))  # type: ignore[arg-type]
    await late.send("Go on")
    await late.sees_the_end()
    await quiet()
    await equal_pages(tab, late)
    assert late.frames < 20
