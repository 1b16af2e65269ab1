"""Races, many rounds each: exactly one outcome, nothing doubled, stuck, wrong or left over.

A tenth of the rounds runs every day, all of them in the full run. A race counts only if both
outcomes win at least a tenth of its rounds; the timing moves until they do.
"""

from functools import partial
from typing import Any

import pytest

from chat.models import Conversation, Generation, Message, QueuedMessage
from chat.services.runs.run import RUNS
from tests.races.conftest import Arena
from tests.races.timing import Race
from tests.support.model_server import Gate, Say, reply
from tests.support.program import Program
from tests.support.tabs import in_thread
from tests.support.waiting import eventually

pytestmark = pytest.mark.both_databases

BUSY = ("error.chat_generation_in_progress", "error.chat_generation_in_progress_other_tab")


def rounds(everything: int) -> Any:
    """A tenth of them daily; the whole number with the marker `full`."""
    tenth = pytest.param(everything // 10, id="tenth")
    return pytest.mark.parametrize(
        "rounds", [tenth, pytest.param(everything, id="all", marks=pytest.mark.full)]
    )


def shown_ids(talk: Conversation) -> list[str]:
    rows = Message.objects.shown().filter(conversation=talk).order_by("position")
    return [str(pk) for pk in rows.values_list("pk", flat=True)]


def answer_text(message: Message) -> str:
    return "".join(message.parts.filter(type="text").values_list("text", flat=True))


def shown(talk: Conversation, last: int | None = None) -> list[tuple[str, str, str]]:
    """Role, state and text of the messages, or of the last few."""
    rows = Message.objects.shown().filter(conversation=talk).order_by("-position")[:last]
    return [(row.role, row.status, answer_text(row)) for row in reversed(rows)]


@rounds(500)
async def test_stop_against_completion(rounds: int, arena: Arena) -> None:
    """43: one terminal state, the text kept, whoever was first."""
    race = Race("stopped", "complete", seed=1)
    for n in range(rounds):
        if n % 50 == 0:
            talk = await arena.talk()
            one, other = await arena.program(talk), await arena.program(talk)
        gate = Gate()
        arena.site.provider.script(reply(Say([f"Round {n}"]), gate))
        begun = await one.send(f"{n}")
        await eventually(gate.reached.is_set)
        await one.hears(f"Round {n}")
        stop: list[str] = []
        await race.run(gate.open, partial(_say, other, stop, "stop"))
        ended = await one.ends(begun["request_id"])
        reply_ = await other.reply(stop[0])
        assert reply_.get("error_key", "") in ("", "error.chat_no_active_generation")
        race.won_by(ended["name"].removeprefix("chat:"))
        if ended["name"] == "chat:stopped":
            assert reply_["ok"], "stopped, although the stop was refused"
        kept = await in_thread(shown)(talk, last=1)
        assert kept == [("assistant", ended["status"], f"Round {n}")]
    race.assert_fair()


@rounds(200)
async def test_two_tabs_send_at_once(rounds: int, arena: Arena) -> None:
    """41, A4: one answer begins, the other tab is told so; nothing is queued."""
    race = Race("second", "first", seed=2)
    for n in range(rounds):
        if n % 50 == 0:
            talk = await arena.talk()
            one, other = await arena.program(talk), await arena.program(talk)
        gate = Gate()
        arena.site.provider.script(reply("Yes", gate))
        asked: tuple[list[str], list[str]] = ([], [])
        await race.run(
            partial(_say, one, asked[0], "send", content=f"one {n}"),
            partial(_say, other, asked[1], "send", content=f"two {n}"),
        )
        first, second = await one.reply(asked[0][0]), await other.reply(asked[1][0])
        winner, loser = (first, second) if first["ok"] else (second, first)
        assert winner["ok"], (first, second)
        assert loser.get("error_key") == BUSY[1], loser
        gate.open()
        assert (await one.ends(winner["request_id"]))["name"] == "chat:complete"
        race.won_by("first" if first["ok"] else "second")
    warmed_up = 2
    assert await in_thread(Message.objects.count)() == 2 * rounds + warmed_up
    race.assert_fair()


@rounds(100)
async def test_an_edit_while_it_streams(rounds: int, arena: Arena) -> None:
    """45: the old run has ended, stopped or done, before the new one begins."""
    race = Race("stopped", "complete", seed=3)
    for n in range(rounds):
        talk = await arena.talk()
        one, other = await arena.program(talk), await arena.program(talk)
        gate = Gate()
        arena.site.provider.script(reply("Old", gate, " words"), reply(f"New {n}"))
        old = await one.send("First")
        await one.hears("Old")
        edited: list[str] = []
        values = {"message_id": old["message_id"], "content": "Second", "archive": n % 2 == 0}
        await race.run(
            gate.open,
            partial(_say, other, edited, "edit", **values),
        )
        new = await other.reply(edited[0])
        assert new["ok"], new
        assert (await one.ends(new["request_id"]))["name"] == "chat:complete"
        race.won_by((await one.ends(old["request_id"]))["name"].removeprefix("chat:"))
        expected = [("user", "success", "Second"), ("assistant", "success", f"New {n}")]
        assert await in_thread(shown)(talk) == expected
        if n % 2:
            # The edit deleted the first run and what it was for.
            one.seen.acknowledged.clear()
        await _close(one, other)
    race.assert_fair()


@rounds(100)
async def test_a_delete_while_it_streams(rounds: int, arena: Arena) -> None:
    """46: the run ends, every socket is told to go away, no row is left open."""
    race = Race("stopped", "done", seed=4)
    for n in range(rounds):
        talk = await arena.talk()
        one, other = await arena.program(talk), await arena.program(talk)
        gate = Gate()
        arena.site.provider.script(reply(Say([f"Round {n}"]), gate, Say([" and more"])))
        begun = await one.send("Go")
        await one.hears(f"Round {n}")
        await race.run(gate.open, partial(other.say, "delete"))
        await eventually(partial(_both_closed, one, other))
        await eventually(partial(_is_over, talk))
        run = await in_thread(Generation.objects.get)(pk=begun["request_id"])
        race.won_by(run.status)
        await _close(one, other)
    race.assert_fair()


@rounds(100)
async def test_two_regenerate_at_once(rounds: int, arena: Arena) -> None:
    """48: one wins and is not stopped by the other; the loser is told."""
    race = Race("second", "first", seed=5)
    talk = await arena.talk()
    one, other = await arena.program(talk), await arena.program(talk)
    arena.site.provider.script("First.")
    begun = await one.send("Go")
    await one.ends(begun["request_id"])
    for n in range(rounds):
        last = (await in_thread(shown_ids)(talk))[-1]
        gate = Gate()
        arena.site.provider.script(reply(Say([f"Answer {n}"]), gate))
        asked: tuple[list[str], list[str]] = ([], [])
        await race.run(
            partial(_say, one, asked[0], "regenerate", message_id=last),
            partial(_say, other, asked[1], "regenerate", message_id=last),
        )
        first, second = await one.reply(asked[0][0]), await other.reply(asked[1][0])
        winner, loser = (first, second) if first["ok"] else (second, first)
        assert winner["ok"], (first, second)
        assert loser.get("error_key") in (*BUSY, "error.chat_message_not_found"), loser
        gate.open()
        assert (await one.ends(winner["request_id"]))["name"] == "chat:complete"
        race.won_by("first" if first["ok"] else "second")
        assert await in_thread(lambda n=n: shown(talk)[1:])() == [
            ("assistant", "success", f"Answer {n}")
        ]
    race.assert_fair()


@rounds(200)
async def test_a_message_is_queued_as_the_answer_ends(rounds: int, arena: Arena) -> None:
    """A4: it waits or is sent at once, and is answered once either way."""
    race = Race("queued", "sent", seed=6)
    for _ in range(rounds):
        talk = await arena.talk()
        one, other = await arena.program(talk), await arena.program(talk)
        gate = Gate()
        arena.site.provider.script(reply("First", gate), reply("Second"))
        await one.send("Begin")
        await one.hears("First")
        asked: list[str] = []
        await race.run(gate.open, partial(_say, other, asked, "send", content="Then", queue=True))
        answer = await other.reply(asked[0])
        assert answer["ok"], answer
        await eventually(lambda one=one: len(one.named("chat:complete")) == 2)
        race.won_by("queued" if "queued" in answer else "sent")
        assert await in_thread(shown)(talk) == [
            ("user", "success", "Begin"),
            ("assistant", "success", "First"),
            ("user", "success", "Then"),
            ("assistant", "success", "Second"),
        ]
        assert not await in_thread(QueuedMessage.objects.exists)()
        await _close(one, other)
    race.assert_fair()


@rounds(200)
async def test_send_now_as_the_answer_ends(rounds: int, arena: Arena) -> None:
    """A4: it is sent once, by whoever was first, and what waits behind it too."""
    race = Race("stopped", "complete", seed=7)
    for _ in range(rounds):
        talk = await arena.talk()
        one, other = await arena.program(talk), await arena.program(talk)
        gate = Gate()
        arena.site.provider.script(reply("First", gate), reply("Second"), reply("Third"))
        begun = await one.send("Begin")
        await one.hears("First")
        now = await one.send("Now", queue=True)
        await one.send("Later", queue=True)
        asked: list[str] = []
        message_id = now["message_id"]
        await race.run(gate.open, partial(_say, other, asked, "queue-send", message_id=message_id))
        answer = await other.reply(asked[0])
        assert answer["ok"], answer
        await eventually(lambda one=one: len(one.named("chat:complete", "chat:stopped")) == 3)
        race.won_by((await one.ends(begun["request_id"]))["name"].removeprefix("chat:"))
        assert [text for role, _, text in await in_thread(shown)(talk) if role == "user"] == [
            "Begin",
            "Now",
            "Later",
        ]
        await _close(one, other)
    race.assert_fair()


def _say(who: Program, asked: list[str], command: str, **values: Any) -> None:
    asked.append(who.say(command, **values))


async def _close(*programs: Program) -> None:
    for program in programs:
        if program.closed is None:
            await program.close()
            program.closed = 1000


def _both_closed(one: Program, other: Program) -> bool:
    return one.closed == other.closed == 4404


def _is_over(talk: Conversation) -> bool:
    return str(talk.pk) not in RUNS
