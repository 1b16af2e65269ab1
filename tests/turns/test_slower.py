"""Several want to go on with the same answer, or are about to go themselves: who does not."""

from datetime import datetime

import pytest

from chat.models import Generation, Process
from chat.protocol.ids import uuid7
from chat.protocol.stopped import StoppedBy
from chat.services.broadcast import send_away
from chat.services.notes import RunLeft
from chat.services.processes import lease
from chat.services.processes.control import handle
from chat.services.runs.flush import flusher, write_batch
from chat.services.runs.generate import leave_all_runs
from chat.services.runs.run import RUNS
from chat.services.turns import take_up as taking
from chat.services.turns.take_up import Left, take_up
from tests.support.model_server import Wait, reply
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread
from tests.support.waiting import eventually
from tests.turns.test_hand_over import dies, others, the_run

__all__ = ["others"]


@pytest.mark.parametrize("first", ["another process", "one that only slept", "who stopped it"])
async def test_who_is_slower_takes_nothing(
    first: str, site: Site, program: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """18, 49: the process is dead, and something happens between the look at its answer and the
    write."""
    one = await program()
    site.provider.script(reply("Half a sentence", Wait()), reply(" taken twice.", Wait()))
    begun = await one.send("Go")
    await one.hears("Half a sentence")
    await flusher.flush()
    await dies(site)
    key = (await in_thread(the_run)()).pk
    gone, survivor = [await in_thread(Process.objects.get)(host=host) for host in ("gone", "other")]
    began = lease.began

    def meanwhile() -> datetime:
        run = Generation.objects.filter(pk=key)
        match first:
            case "another process":
                run.update(process=survivor, attempt=1)
            case "one that only slept":
                Process.objects.filter(pk=gone.pk).update(lease=survivor.lease)
            case "who stopped it":
                run.update(stop_requested_by=StoppedBy(by="Alice").to_json())
        return began()

    with monkeypatch.context() as patch:
        patch.setattr(lease, "began", meanwhile)
        assert await take_up(key) is Left.TO_OTHERS
    assert not RUNS
    assert len(site.provider.requests) == 1
    # What was tried was taken back, and somebody can still go on.
    assert await take_up(key) is None
    await one.hears(" taken twice.")
    await one.ask("stop")
    assert (await one.ends(begun["request_id"]))["name"] == "chat:stopped"


async def test_who_only_slept_stores_nothing_more(site: Site, program: Programs) -> None:
    """18: with the next round it hears that its answer is another's; what it would have stored in
    that round would stand in the other's answer."""
    one = await program()
    site.provider.script(reply("Half a sentence", Wait()))
    await one.send("Go")
    await one.hears("Half a sentence")
    await flusher.flush()
    run = RUNS[str(site.talk.pk)]
    rows = Generation.objects.filter(pk=run.request_id)
    async with flusher.writing:
        await in_thread(rows.update)(attempt=1)
        batch = [(run.attempt, run.seq + 5, [*enumerate(run.assembly.parts())])]
        assert await in_thread(write_batch)(batch) == {}
        assert (await in_thread(rows.get)()).flushed_seq <= run.seq
        await in_thread(rows.update)(attempt=0)
    assert (await one.ask("stop"))["ok"]


@pytest.mark.both_databases
@pytest.mark.only_postgresql
async def test_who_goes_down_takes_nothing_up(
    site: Site, program: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hears of what it has left as all others do."""
    one = await program()
    site.provider.script(reply("Half a sentence", Wait()), reply(" and the rest."))
    begun = await one.send("Go")
    await one.hears("Half a sentence")
    monkeypatch.setattr(lease, "serving", True)
    monkeypatch.setattr(lease, "closing", True)
    await leave_all_runs()
    handle(RunLeft(str(site.talk.pk)))
    assert not taking._taking
    assert (await in_thread(the_run)()).process_id is None
    monkeypatch.setattr(lease, "closing", False)
    handle(RunLeft(str(site.talk.pk)))
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
    await taking._taking.finish()


@pytest.mark.both_databases
@pytest.mark.only_postgresql
async def test_whoever_is_named_takes_it_up_and_others_look_later(
    site: Site, program: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all of them tried for all that was left, most would try in vain."""
    one = await program()
    monkeypatch.setattr(lease, "serving", True)
    for name in ("first", "second"):
        site.provider.script(reply(f"The {name} half", Wait()), reply(" and the rest."))
        begun = await one.send("Go")
        await one.hears(f"The {name} half")
        this = str(await in_thread(lease.this_process)())
        # Nobody is there by the other name: it is taken up all the same, a moment later.
        await leave_all_runs([this if name == "first" else str(uuid7())])
        await eventually(lambda: taking._taking or taking._looking)
        assert bool(taking._looking) == (name == "second")
        assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
        await taking._taking.finish()


async def test_readers_are_sent_away_by_a_server_that_goes_down(site: Site) -> None:
    one, other = await site.tab(), await site.tab()
    for tab in (one, other):
        await tab.until(lambda tab=tab: "attach" in tab.replies)  # type: ignore[misc]
    send_away()
    for tab in (one, other):
        await eventually(lambda tab=tab: tab.closed is not None)  # type: ignore[misc]
        assert tab.closed == 4503
        await tab.open()
        await tab.equals_a_fresh_page()
