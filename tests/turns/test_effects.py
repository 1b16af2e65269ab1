"""A tool that may change something begins when its call is in the rows, and not before."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from django.db import connection

from chat.models import Generation, Part
from chat.services.runs import written_first
from chat.services.runs.flush import flusher
from chat.services.runs.run import RUNS
from tests.support.model_server import Call, Gate, reply
from tests.support.site import Held, Programs, Site
from tests.support.tabs import in_thread
from tests.support.waiting import eventually

HOLD = Call("hold", {}, id="call_hold")

FULL = """CREATE TRIGGER disk_is_full BEFORE INSERT ON chat_part WHEN NEW.type = 'tool'
    BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"""


@in_thread
def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@asynccontextmanager
async def no_room_for_calls() -> AsyncIterator[None]:
    """The database takes anything but a call."""
    await _execute(FULL)
    try:
        yield
    finally:
        await _execute("DROP TRIGGER disk_is_full")


async def test_whoever_goes_on_after_a_crash_finds_the_call(
    site: Site, program: Programs, held: Held
) -> None:
    """17: else it would be made again."""
    one = await program()
    gate = Gate()
    site.provider.script(reply("I will.", gate, HOLD), reply("Done."))
    begun = await one.send("Go")
    await one.hears("I will.")
    async with flusher.writing:
        gate.open()
        await one.until(lambda: one.named("chat:tool"))
        kept = await in_thread(lambda: list(Part.objects.filter(type="tool")))()
        assert (kept, held.calls) == ([], [])
    await eventually(lambda: held.calls)
    kept = await in_thread(Part.objects.get)(type="tool")
    assert kept.tool_status == "running"
    held.go.set()
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"


async def test_who_only_slept_runs_no_tool_any_more(
    site: Site, program: Programs, held: Held
) -> None:
    """18: its run is another's by now."""
    one = await program()
    gate = Gate()
    site.provider.script(reply("I will.", gate, HOLD))
    await one.send("Go")
    await one.hears("I will.")
    async with flusher.writing:
        gate.open()
        await one.until(lambda: one.named("chat:tool"))
        await in_thread(Generation.objects.filter(status="active").update)(attempt=1)
    await eventually(lambda: not RUNS)
    assert held.calls == []


async def test_a_call_that_is_not_written_yet_waits(
    site: Site,
    program: Programs,
    held: Held,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing begins of which the rows would not tell, and nothing has failed."""
    monkeypatch.setattr(written_first, "EVERY", 0.01)
    one = await program()
    site.provider.script(reply("I will.", HOLD), reply("Done."))
    async with no_room_for_calls():
        begun = await one.send("Go")
        await eventually(lambda: caplog.text.count("a run could not be flushed") > 4)
        assert held.calls == []
    await eventually(lambda: held.calls)
    kept = await in_thread(Part.objects.get)(type="tool")
    assert kept.tool_status == "running"
    held.go.set()
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"


async def test_a_call_that_cannot_be_written_fails(
    site: Site, program: Programs, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never made; the model is told so, and the answer goes on."""
    monkeypatch.setattr(written_first, "MAY_TAKE", 0.0)
    one = await program()
    there_is_room = Gate()
    site.provider.script(reply("I will.", HOLD), reply(there_is_room, "Not now, then."))
    async with no_room_for_calls():
        begun = await one.send("Go")
        await one.until(lambda: len(site.provider.requests) == 2)
        assert held.calls == []
    there_is_room.open()
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
    kept = await in_thread(Part.objects.get)(type="tool")
    assert (kept.tool_status, held.calls) == ("error", [])
    told = site.provider.requests[1].json["messages"][-1]
    assert told["content"] == written_first.NOT_STORED
