"""Several servers, and people whose tabs are at each of them: a turn is one and the same turn.

Every day with two servers, in the full run with four. What a tab shows is compared with a page that
any server makes, and every invariant holds when all of it is over.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import psycopg
import pytest

from tests.crash.remote import House, RemoteProgram, RemoteTab, Server, fresh_database
from tests.support.model_server import Gate, ScriptedProvider, Wait, reply
from tests.support.tabs import equal_pages
from tests.support.waiting import PATIENCE

MOST = 3
LIMITS = {"PARLEY_LIMIT_GENERATIONS_PER_USER": str(MOST), "PARLEY_TITLES": "first"}
BUSY = "error.chat_generation_in_progress"


@dataclass
class Place:
    """Several servers, and the model that they ask."""

    house: House
    servers: list[Server]
    provider: ScriptedProvider
    programs: list[RemoteProgram] = field(default_factory=list)
    tabs: list[RemoteTab] = field(default_factory=list)

    @property
    def first(self) -> Server:
        return self.servers[0]

    @property
    def last(self) -> Server:
        return self.servers[-1]

    def talk(self) -> str:
        return str(self.house.rows("another"))

    async def program(self, server: Server, talk: str) -> RemoteProgram:
        self.programs.append(await server.program(talk))
        return self.programs[-1]

    async def tab(self, server: Server, talk: str) -> RemoteTab:
        self.tabs.append(await server.tab(talk))
        return self.tabs[-1]

    async def watched(self, talk: str) -> tuple[list[RemoteProgram], list[RemoteTab]]:
        """A program and a tab at every server."""
        programs = [await self.program(server, talk) for server in self.servers]
        return programs, [await self.tab(server, talk) for server in self.servers]

    async def leave(self) -> list[str]:
        """Everybody goes; what is wrong with what they were told."""
        for tab in self.tabs:
            await tab.cut()
        for program in self.programs:
            if program.closed is None:
                await program.close()
        seen = [json.dumps(asdict(each.seen)) for each in self.programs]
        broken = [repr(tab.broken) for tab in self.tabs if tab.broken]
        self.programs.clear()
        self.tabs.clear()
        found: list[str] = await asyncio.to_thread(self.house.rows, "faults", "0", *seen)
        return broken + found

    def answer(self, talk: str) -> dict[str, str]:
        """The last answer of a conversation, as it is kept."""
        return dict(self.house.rows("answer_in", talk))

    def runs(self) -> list[dict[str, Any]]:
        return list(self.house.rows("runs"))

    def run(self, key: str) -> dict[str, Any]:
        return next(run for run in self.runs() if run["pk"] == key)

    def database(self, *, autocommit: bool = False) -> psycopg.Connection[Any]:
        return psycopg.connect(self.house.settings["DATABASE_URL"], autocommit=autocommit)

    @contextmanager
    def locked(self, talk: str) -> Iterator[None]:
        """Nobody can write the run of a conversation: what is told of it is not stored."""
        with self.database() as database:
            database.execute(
                "SELECT id FROM chat_generation WHERE status = 'active' AND conversation_id = %s"
                " FOR UPDATE",
                [talk],
            )
            yield
            database.rollback()


@pytest.fixture(
    scope="module",
    params=[pytest.param(2, id="two"), pytest.param(4, id="four", marks=pytest.mark.full)],
)
def servers(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    postgres_url: str,
    redis_url: str,
) -> Iterator[Place]:
    settings = {"DATABASE_URL": fresh_database(postgres_url), "REDIS_URL": redis_url, **LIMITS}
    with ScriptedProvider() as provider, ExitStack() as stack:
        house = House(tmp_path_factory.mktemp("across"), provider.base_url, settings)
        kinds = [("daphne", "uvicorn")[place % 2] for place in range(request.param)]
        yield Place(house, [stack.enter_context(house.served(kind)) for kind in kinds], provider)


async def until(true: Callable[[], Any]) -> None:
    """Wait for what the database says."""
    async with asyncio.timeout(PATIENCE):
        while not await asyncio.to_thread(true):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.fixture
async def place(servers: Place) -> AsyncIterator[Place]:
    yield servers
    assert await servers.leave() == []


async def test_every_tab_shows_a_turn_that_any_of_them_begins(place: Place) -> None:
    """A8: question, words, end and title; and whatever is chosen or renamed meanwhile."""
    talk = place.talk()
    programs, tabs = await place.watched(talk)
    for at, server_tab in enumerate(tabs):
        gate = Gate()
        place.provider.script(reply(f"Half {at}", gate, " and the rest."))
        begun = await server_tab.send(f"Question {at}")
        for tab in tabs:
            await tab.sees(f"Question {at}")
            await tab.sees(f"Half {at}")
        title = f"Title {at}"
        assert (await programs[-1 - at].ask("rename", title=title))["ok"]
        for program in programs:
            await program.until(partial(is_called, program, title))
        gate.open()
        for program in programs:
            assert (await program.ends(begun["request_id"]))["name"] == "chat:complete"
        for tab in tabs:
            await tab.sees_the_end()
    await equal_pages(*tabs)


def is_called(program: RemoteProgram, title: str) -> bool:
    return [event["title"] for event in program.named("chat:title")][-1:] == [title]


async def test_it_is_stopped_from_anywhere(place: Place) -> None:
    """The provider is let go, and all are told by whom."""
    talk = place.talk()
    programs, tabs = await place.watched(talk)
    place.provider.script(reply("Half", Wait()))
    begun = await programs[0].send("Go")
    for tab in tabs:
        await tab.sees("Half")
    assert (await programs[-1].ask("stop"))["ok"]
    for program in programs:
        ended = await program.ends(begun["request_id"])
        assert (ended["name"], ended["by"]) == ("chat:stopped", "Alice")
    await place.provider.until(lambda found: found.requests[-1].disconnected_at)
    for tab in tabs:
        await tab.sees_the_end()
    await equal_pages(*tabs)


async def test_one_answer_at_a_time(place: Place) -> None:
    """Who is second is told that another tab was first, also when both ask at once."""
    talk = place.talk()
    programs, tabs = await place.watched(talk)
    for at in range(4):
        gate = Gate()
        place.provider.script(reply(f"Answer {at}", gate))
        asked = [program.say("send", content=f"From {at}") for program in programs]
        told = [await program.reply(key) for program, key in zip(programs, asked, strict=True)]
        [begun] = [each for each in told if each["ok"]]
        refused = [each["error_key"] for each in told if not each["ok"]]
        assert refused == [f"{BUSY}_other_tab"] * (len(programs) - 1)
        # The same tab, on a page of another server.
        [winner] = [p for p, each in zip(programs, told, strict=True) if each["ok"]]
        loser = next(program for program in programs if program is not winner)
        again = await loser.send("Again", tab_id=winner.tab_id)
        assert again["error_key"] == BUSY
        gate.open()
        for program in programs:
            assert (await program.ends(begun["request_id"]))["name"] == "chat:complete"
    await equal_pages(*tabs)


async def test_an_edit_elsewhere_ends_what_is_written(place: Place) -> None:
    talk = place.talk()
    programs, tabs = await place.watched(talk)
    place.provider.script(reply("Of the old", Wait()), reply("Of the new."))
    old = await programs[0].send("Old question")
    for tab in tabs:
        await tab.sees("Of the old")
    new = await programs[-1].ask("edit", message_id=old["message_id"], content="New question")
    assert new["ok"], new
    for program in programs:
        assert (await program.ends(old["request_id"]))["name"] == "chat:stopped"
        assert (await program.ends(new["request_id"]))["name"] == "chat:complete"
    for tab in tabs:
        await tab.sees("Of the new.")
        await tab.sees_the_end()
        assert "Of the old" not in tab.page.text_of("t")
    await equal_pages(*tabs)


async def test_a_delete_elsewhere_ends_what_is_written(place: Place) -> None:
    """Every page is told to go away, at whichever server."""
    talk = place.talk()
    programs, tabs = await place.watched(talk)
    place.provider.script(reply("Half", Wait()))
    await programs[0].send("Go")
    for tab in tabs:
        await tab.sees("Half")
    programs[-1].say("delete")
    for each in (*programs, *tabs):
        await each.until(lambda each=each: each.closed == 4404)  # type: ignore[misc]
    await place.provider.until(lambda found: found.requests[-1].disconnected_at)
    await until(lambda: place.answer(talk)["status"] != "streaming")


async def test_another_answer_is_asked_for_once(place: Place) -> None:
    """By all at once: one wins, and its answer is in the place of the first."""
    talk = place.talk()
    programs, tabs = await place.watched(talk)
    place.provider.script("First.")
    begun = await programs[0].send("Go")
    for program in programs:
        await program.ends(begun["request_id"])
    first = programs[0].named("chat:complete")[-1]["message_id"]
    gate = Gate()
    place.provider.script(reply("Second", gate))
    asked = [program.say("regenerate", message_id=first) for program in programs]
    told = [await program.reply(key) for program, key in zip(programs, asked, strict=True)]
    [again] = [each for each in told if each["ok"]]
    for refused in (each["error_key"] for each in told if not each["ok"]):
        assert refused.startswith((BUSY, "error.chat_message_not_found"))
    for tab in tabs:
        await tab.sees("Second")
    gate.open()
    for program in programs:
        assert (await program.ends(again["request_id"]))["name"] == "chat:complete"
    for tab in tabs:
        await tab.sees_the_end()
        assert tab.page.answers() == ["Second"]
    await equal_pages(*tabs)


async def test_what_waits_is_sent_by_whoever_ends_the_answer(place: Place) -> None:
    """Queued at every server, it is shown at every server, and sent once, in its order."""
    talk = place.talk()
    programs, tabs = await place.watched(talk)
    gate = Gate()
    said = [f"Answer {at}." for at in range(len(programs))]
    place.provider.script(reply("First", gate), *said)
    await programs[0].send("Begin")
    for at, program in enumerate(programs):
        queued = await program.send(f"Then {at}", queue=True)
        assert "queued" in queued, queued
    for tab in tabs:
        await tab.until(lambda t=tab: f"Then {len(programs) - 1}" in t.page.text_of("queue"))  # type: ignore[misc]
    gate.open()
    for program in programs:
        await program.until(lambda p=program: len(p.named("chat:complete")) == len(programs) + 1)  # type: ignore[misc]
    for tab in tabs:
        await tab.sees_the_end()
        assert tab.page.answers() == ["First", *said]
    await equal_pages(*tabs)
    sent = [request.json["messages"][-1]["content"] for request in place.provider.requests]
    assert sent[-len(said) :] == [f"Then {at}" for at in range(len(programs))]


async def test_who_joins_late_sees_what_is_not_stored_yet(place: Place) -> None:
    """At the server that writes it at once; at the others with the next word, which shows them that
    they lack some, as soon as these are stored. Nothing is shown twice."""
    talk = place.talk()
    programs, tabs = await place.watched(talk)
    gate, end = Gate(), Gate()
    place.provider.script(reply("Stored.", gate, " Told, and not stored.", end, " The end."))
    begun = await programs[0].send("Go")
    for program in programs:
        await program.hears("Stored.")
    await until(lambda: place.answer(talk)["text"] == "Stored.")
    with place.locked(talk):
        gate.open()
        for tab in tabs:
            await tab.sees("not stored.")
        here, there = await place.program(place.first, talk), await place.program(place.last, talk)
        await here.hears("not stored.")
        late = [await place.tab(server, talk) for server in place.servers]
        await late[0].sees("not stored.")
        for tab in late:
            await tab.sees("Stored.")
        end.open()
    await there.hears("not stored.")
    for tab in late:
        await tab.sees("not stored.")
    for program in (*programs, here, there):
        assert (await program.ends(begun["request_id"]))["name"] == "chat:complete"
        assert program.seen.taken_back == []
    for tab in (*tabs, *late):
        await tab.sees_the_end()
        assert tab.page.answers() == ["Stored. Told, and not stored. The end."]
    await equal_pages(*tabs, *late)


async def test_a_person_has_so_many_answers_at_all_servers_together(place: Place) -> None:
    programs = [
        await place.program(place.servers[at % len(place.servers)], place.talk())
        for at in range(MOST + 2)
    ]
    place.provider.script(*[reply("Half", Wait())] * MOST)
    running = programs[:MOST]
    begun = [await program.send("Go") for program in running]
    for program in programs[MOST:]:
        refused = await program.send("One more")
        assert refused["error_key"] == "error.chat_too_many_generations"
        assert str(MOST) in refused["message"]
    assert (await running[0].ask("stop"))["ok"]
    await running[0].ends(begun[0]["request_id"])
    place.provider.script("There is room.")
    more = await programs[-1].send("One more")
    assert (await programs[-1].ends(more["request_id"]))["name"] == "chat:complete"
    for program, each in zip(running[1:], begun[1:], strict=True):
        assert (await program.ask("stop"))["ok"]
        await program.ends(each["request_id"])


async def test_many_at_once_are_as_many_as_one_person_may_have(place: Place) -> None:
    """Each is counted where all of them are seen."""
    programs = [
        await place.program(place.servers[at % len(place.servers)], place.talk())
        for at in range(3 * MOST)
    ]
    place.provider.script(*[reply("Half", Wait())] * len(programs))
    asked = [program.say("send", content="Go") for program in programs]
    told = [await program.reply(key) for program, key in zip(programs, asked, strict=True)]
    begun = [(program, each) for program, each in zip(programs, told, strict=True) if each["ok"]]
    for program, each in begun:
        assert (await program.ask("stop"))["ok"]
        await program.ends(each["request_id"])
    while place.provider.unplayed:
        place.provider._queue.pop()
    assert len(begun) == MOST


async def test_a_sweep_that_waits_costs_no_server_its_lease(place: Place) -> None:
    """Each looks after the dead and renews its lease apart: else its runs would be another's."""
    talk = place.talk()
    one = await place.program(place.first, talk)
    place.provider.script(reply("Half", Wait()))
    begun = await one.send("Go")
    await one.hears("Half")
    # Of a process that is alive for now.
    place.house.rows("orphans", "1", "-3600")
    orphan = place.runs()[-1]
    leases = "SELECT min(lease) {} FROM chat_process WHERE serves"
    with place.locked(orphan["conversation"]), place.database(autocommit=True) as database:

        def told(question: str, *values: Any) -> Any:
            return (database.execute(question, values).fetchone() or [None])[0]

        database.execute("UPDATE chat_process SET lease = now() WHERE host = 'gone'")
        await until(lambda: told("SELECT count(*) FROM pg_locks WHERE NOT granted"))
        begins = told(leases.format(""))
        # Renewed for longer than one lasts.
        await until(lambda: told(leases.format("> %s + interval '4 seconds'"), begins))
        place.provider.script("and the rest.")
    await until(lambda: place.run(orphan["pk"])["status"] != "active")
    assert place.run(orphan["pk"])["attempt"] == 1
    assert place.run(begun["request_id"])["attempt"] == 0
    assert (await one.ask("stop"))["ok"]
    await one.ends(begun["request_id"])
