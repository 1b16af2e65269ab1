"""An answer changes its process: left by one that goes down, or taken over from one that died.

Both processes are this one: what it leaves it takes up again, from nothing but the rows.
"""

import asyncio
from datetime import timedelta

import pytest
from django.utils import timezone

from chat.models import Generation, LanguageModel, Message, Part, Process
from chat.protocol.factories import (
    create_step_finish_part,
    create_step_start_part,
    create_text_part,
)
from chat.protocol.follow import TAKEN_OVER
from chat.protocol.parts import Tokens
from chat.protocol.stopped import StoppedBy
from chat.services.processes import lease, recovery
from chat.services.processes.control import request_stops
from chat.services.runs.flush import flusher
from chat.services.runs.generate import leave_all_runs
from chat.services.runs.run import RUNS
from chat.services.turns import take_up as taking
from chat.services.turns.take_up import Left, take_up
from chat.tools.registry import registry
from tests.support import factories as make
from tests.support.invariants import faults
from tests.support.model_server import Call, Gate, Reply, Think, Wait, reply
from tests.support.site import Held, Programs, Site
from tests.support.tabs import equal_pages, in_thread
from tests.support.waiting import eventually

SUM = Call("calculator", {"expression": "6*7"}, id="call_sum")
HOLD = Call("hold", {}, id="call_hold")


@pytest.fixture(autouse=True)
async def others(site: Site) -> None:
    """Another server is there, which never comes to it: else the sweep of this one would settle on
    SQLite what the test has left."""
    soon = timezone.now() + timedelta(hours=1)
    await in_thread(make.a_process)(host="other", serves=True, started=soon, lease=soon)


async def swept() -> bool:
    """Whether the sweep settles everything when nobody else is there; perhaps it was first."""
    await in_thread(Process.objects.filter(host="other").delete)()
    await recovery.settle_orphans()
    return not await in_thread(Generation.objects.filter(status="active").exists)()


def the_run() -> Generation:
    return Generation.objects.get(status="active")


def forget_its_process(*, alive_until: timedelta = timedelta(seconds=1)) -> None:
    """The run belongs to a process that died just now."""
    mine = Process.objects.get(pk=lease.this_process())
    mine.started = timezone.now() - timedelta(minutes=1)
    mine.save(update_fields=("started",))
    dead = make.a_process(host="gone", lease=timezone.now() - alive_until)
    Generation.objects.filter(status="active").update(process=dead)


async def dies(site: Site) -> str:
    """The process of the run is gone without a word, and what it had not written with it."""
    run = RUNS[str(site.talk.pk)]
    run.lose()
    assert run.task
    await asyncio.wait({run.task})
    await in_thread(forget_its_process)()
    return run.request_id


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(reply("Half a sentence", Wait()), id="in a text"),
        pytest.param(reply(Think("Let me see"), Wait()), id="in a thought"),
        pytest.param(reply("I add.", SUM, Wait()), id="in a reply with a call"),
    ],
)
async def test_it_is_left_and_goes_on(first: Reply, site: Site, program: Programs) -> None:
    """Nobody is told of an end: one request, one start, one end, and no gap in its events."""
    tab, one = await site.tab(), await program()
    site.provider.script(first, reply(" and the rest."))
    begun = await one.send("Go")
    await one.until(lambda: one.seen.texts)
    if SUM in first.steps:
        await one.until(lambda: one.named("chat:tool"))
    await leave_all_runs()
    assert not RUNS
    run = await in_thread(the_run)()
    assert (run.process_id, run.attempt, str(run.pk)) == (None, 0, begun["request_id"])
    assert not one.named("chat:error", "chat:stopped", "chat:complete")

    assert await take_up(run.pk) is None
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
    seqs = [event["seq"] for event in one.events if event.get("request_id") and event.get("seq")]
    assert [n for n in seqs if n] == list(range(seqs[0], seqs[0] + len(seqs)))
    assert len(one.named("chat:start")) == 1
    await tab.sees("and the rest.")
    await tab.sees_the_end()
    await equal_pages(tab)
    assert await in_thread(faults)(one.seen) == []
    if SUM in first.steps:
        told = site.provider.requests[-1].json["messages"][-1]
        # Its arguments may not have been whole; it was not run.
        assert (told["role"], told["content"]) == ("tool", "[Tool execution was interrupted]")


async def test_a_tool_at_work_is_waited_for(site: Site, program: Programs, held: Held) -> None:
    """It is not run twice: the process leaves once it has ended."""
    tab, one = await site.tab(), await program()
    site.provider.script(reply("I will.", HOLD), reply("Done."))
    begun = await one.send("Go")
    await eventually(lambda: held.calls)
    leaving = asyncio.ensure_future(leave_all_runs())
    await asyncio.sleep(0)
    assert RUNS
    held.go.set()
    await leaving
    assert not RUNS
    assert len(site.provider.requests) == 1
    assert await take_up((await in_thread(the_run)()).pk) is None
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
    assert len(held.calls) == 1
    assert not held.cancelled
    await tab.sees_the_end()
    await equal_pages(tab)
    assert await in_thread(faults)(one.seen, calls=held.calls) == []


async def test_a_tool_that_takes_too_long_and_may_have_done_something_ends_the_answer(
    site: Site, program: Programs, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot be left: the answer is settled where it is, and can be continued."""
    monkeypatch.setattr("chat.services.runs.generate.TOOLS_MAY_TAKE", 0.05)
    one = await program()
    site.provider.script(reply("I will.", HOLD))
    begun = await one.send("Go")
    await eventually(lambda: held.calls)
    await leave_all_runs()
    ended = await one.ends(begun["request_id"])
    assert (ended["name"], ended["error_key"]) == ("chat:error", "error.chat_shutdown")
    assert held.cancelled == held.calls


async def test_a_tool_without_effects_is_run_again_elsewhere(
    site: Site, program: Programs, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.services.runs.generate.TOOLS_MAY_TAKE", 0.05)
    monkeypatch.setattr(registry, "has_effects", lambda name: False)
    tab, one = await site.tab(), await program()
    site.provider.script(reply("I will.", HOLD), reply("Done."))
    begun = await one.send("Go")
    await eventually(lambda: held.calls)
    await leave_all_runs()
    assert not RUNS
    held.go.set()
    assert await take_up((await in_thread(the_run)()).pk) is None
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
    assert len(held.calls) == 2
    assert held.calls.pop() == held.calls[0]
    await tab.sees_the_end()
    await equal_pages(tab)


async def test_what_ends_in_the_same_moment_has_ended(site: Site, program: Programs) -> None:
    one = await program()
    gate = Gate()
    site.provider.script(reply("All of it.", gate))
    begun = await one.send("Go")
    await one.hears("All of it.")
    gate.open()
    await eventually(lambda: not RUNS)
    await leave_all_runs()
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"


async def test_what_somebody_stopped_is_not_left(site: Site, program: Programs) -> None:
    """Nor taken up: whoever would is told that it is to be settled, as stopped."""
    one = await program()
    site.provider.script(reply("Half a sentence", Wait()))
    begun = await one.send("Go")
    await one.hears("Half a sentence")
    await leave_all_runs()
    by = StoppedBy(by_id="7", by="Alice")
    await in_thread(request_stops)(str(site.talk.pk), by)
    assert await take_up((await in_thread(the_run)()).pk) is Left.TO_BE_SETTLED
    assert await swept()
    ended = await one.ends(begun["request_id"])
    assert (ended["name"], ended["by"]) == ("chat:stopped", "Alice")
    assert await in_thread(faults)(one.seen) == []


# --- after a crash ----------------------------------------------------------------


async def test_a_survivor_goes_on(site: Site, program: Programs) -> None:
    """Words that were told and not stored are taken back in every tab; a tab that comes back
    with them on its page is put right too."""
    tab, away, one = await site.tab(), await site.tab(), await program()
    gate = Gate()
    site.provider.script(reply("Kept. ", gate, "Lost with the process. ", Wait()))
    begun = await one.send("Go")
    await one.hears("Kept.")
    await flusher.flush()
    flushed = (await in_thread(the_run)()).flushed_seq
    async with flusher.writing:
        gate.open()
        for each in (tab, away):
            await each.sees("Lost with the process.")
        await away.cut()
        run = RUNS[str(site.talk.pk)]
        run.take_dirty()
        request_id = await dies(site)
    going_on = Gate()
    site.provider.script(reply("Gone on with another word than was told before.", going_on))
    assert await take_up((await in_thread(the_run)()).pk) is None
    row = await in_thread(the_run)()
    assert (row.attempt, str(row.pk)) == (1, request_id)
    assert row.flushed_seq >= TAKEN_OVER > flushed
    await tab.sees("Gone on with another word")
    await away.open()
    await away.sees("Gone on with another word")
    for each in (tab, away):
        assert "Lost" not in each.page.text_of("t")
        await equal_pages(each)
    going_on.open()
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
    for each in (tab, away):
        await each.sees_the_end()
        await equal_pages(each)
    told = site.provider.requests[-1].json["messages"]
    assert told[-2]["content"].strip() == "Kept."
    # The program was told so by a snapshot.
    assert len(set(one.seen.taken_back)) == 1
    one.seen.taken_back.clear()


@pytest.mark.parametrize(
    ("reason", "asks"), [("stop", False), ("length", False), ("cancelled", True)]
)
async def test_a_whole_answer_is_not_gone_on_with(reason: str, asks: bool, site: Site) -> None:
    """Its process died between its last word and its end."""

    def rows() -> Generation:
        question = make.a_message(site.talk, "user", status="success")
        answer = make.a_message(site.talk, "assistant", status="streaming", parent=question)
        ids = str(site.talk.pk), str(answer.pk)
        parts = [
            create_step_start_part(*ids),
            create_text_part(*ids, "All of it."),
            create_step_finish_part(*ids, reason, 0, Tokens()),
        ]
        Part.objects.bulk_create(Part.of(part, place) for place, part in enumerate(parts))
        return make.a_generation(answer, process=None, user=site.alice.user)

    site.provider.script(reply(" And more."))
    run = await in_thread(rows)()
    assert await take_up(run.pk) is None
    await eventually(lambda: not RUNS)
    answer = await in_thread(Message.objects.get)(role="assistant")
    assert (answer.status, answer.error_key) == ("success", "")
    assert len(site.provider.requests) == asks


async def test_who_only_slept_writes_nothing_any_more(site: Site, program: Programs) -> None:
    """18: the attempt is another; neither a flush nor an end of the old one counts."""
    one = await program()
    gate, other = Gate(), Gate()
    site.provider.script(reply("Half ", gate, "of the old."), reply("of the new.", other))
    begun = await one.send("Go")
    await one.hears("Half")
    await flusher.flush()
    old = RUNS[str(site.talk.pk)]
    await in_thread(forget_its_process)()
    del RUNS[old.conversation_id]
    assert await take_up((await in_thread(the_run)()).pk) is None
    new = RUNS[str(site.talk.pk)]
    gate.open()
    assert old.task
    await asyncio.wait({old.task})
    RUNS.setdefault(new.conversation_id, new)
    other.open()
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
    answer = await in_thread(Message.objects.get)(role="assistant")
    texts = await in_thread(lambda: [part.text for part in answer.parts.filter(type="text")])()
    assert texts == ["Half ", "of the new."]


async def test_of_many_who_try_one_takes_it(site: Site, program: Programs) -> None:
    one = await program()
    site.provider.script(reply("Half a sentence", Wait()), reply(" and the rest."))
    begun = await one.send("Go")
    await one.hears("Half a sentence")
    await leave_all_runs()
    key = (await in_thread(the_run)()).pk
    outcomes = await asyncio.gather(*(take_up(key) for _ in range(6)))
    assert sorted(map(str, outcomes)) == ["Left.TO_OTHERS"] * 5 + ["None"]
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
    assert len(site.provider.requests) == 2


async def test_what_was_taken_up_meanwhile_is_not_settled(site: Site, program: Programs) -> None:
    """A sweep has seen it as nobody's, and was slower."""
    one = await program()
    site.provider.script(reply("Half a sentence", Wait()), reply(" and the rest.", Wait()))
    begun = await one.send("Go")
    await one.hears("Half a sentence")
    await leave_all_runs()
    key = (await in_thread(the_run)()).pk
    assert await take_up(key) is None
    assert await in_thread(recovery._settle_all)([key]) == []
    await one.hears(" and the rest.")
    await one.ask("stop")
    assert (await one.ends(begun["request_id"]))["name"] == "chat:stopped"


async def test_whoever_was_not_there_leaves_it_to_those_who_were(
    site: Site, program: Programs
) -> None:
    """A killed server is started again at once, before the others have noticed."""
    one = await program()
    site.provider.script(reply("Half a sentence", Wait()))
    await one.send("Go")
    await one.hears("Half a sentence")
    await flusher.flush()
    await dies(site)
    key = (await in_thread(the_run)()).pk

    def started_again() -> Process:
        mine = Process.objects.filter(pk=lease.this_process())
        mine.update(started=timezone.now() + timedelta(hours=1))
        long_ago, soon = timezone.now() - timedelta(hours=1), timezone.now() + timedelta(hours=1)
        return make.a_process(serves=True, started=long_ago, lease=soon)

    survivor = await in_thread(started_again)()
    assert await take_up(key) is Left.TO_OTHERS
    await in_thread(survivor.delete)()
    assert await take_up(key) is Left.TO_BE_SETTLED
    assert await swept()


async def test_an_answer_that_kills_is_not_taken_up_for_ever(site: Site, program: Programs) -> None:
    one = await program()
    site.provider.script(*[reply("Half a sentence", Wait())] * 9)
    begun = await one.send("Go")
    for crashes in range(taking.MOST_CRASHES):
        await one.until(lambda n=crashes: len(site.provider.requests) == n + 1)
        await dies(site)
        assert await take_up((await in_thread(the_run)()).pk) is None
    await dies(site)
    assert await take_up((await in_thread(the_run)()).pk) is Left.TO_BE_SETTLED
    assert await swept()
    ended = await one.ends(begun["request_id"])
    assert ended["error_key"] == "error.chat_interrupted"


@pytest.mark.parametrize("why", ["a tool with effects", "it was not there", "no such model"])
async def test_what_nobody_can_go_on_with_is_settled(
    why: str, site: Site, program: Programs, held: Held
) -> None:
    one = await program()
    site.provider.script(reply("I will.", HOLD if "tool" in why else Wait()))
    await one.send("Go")
    await one.hears("I will.")
    if "tool" in why:
        await eventually(lambda: held.calls)
    await flusher.flush()
    await dies(site)
    if why == "it was not there":
        long_ago = timezone.now() - timedelta(hours=1)
        await in_thread(Process.objects.filter(host="gone").update)(lease=long_ago)
    if why == "no such model":
        await in_thread(LanguageModel.objects.all().update)(enabled=False)
    assert await take_up((await in_thread(the_run)()).pk) is Left.TO_BE_SETTLED
    assert await swept()


async def test_what_was_seen_and_done_so_far_is_counted_once(site: Site, program: Programs) -> None:
    """The day's usage has the tokens of both processes."""
    one = await program()
    site.provider.script(reply("I add.", SUM), reply("Half", Wait()), reply(" and the rest."))
    begun = await one.send("Go")
    await one.hears("Half")
    await leave_all_runs()
    assert await take_up((await in_thread(the_run)()).pk) is None
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
    assert await in_thread(faults)(one.seen) == []


def test_the_tools_that_are_built_in_change_nothing() -> None:
    """Whoever adds one says so, or is taken to change something."""
    without = {tool.name for tool in registry if not tool.effects}
    assert without == {"calculator", "duckduckgo_search", "read_page", "todo_write"}
    assert registry.has_effects("hold")
    assert registry.has_effects("a tool that was removed")
