"""What is left open is settled once: by the command, by several at once, and by its own process."""

import asyncio
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from chat.models import Generation, Message, Process
from chat.protocol.tool_state import Started, ToolRunning
from chat.services.pool import close_connections
from chat.services.processes import recovery
from tests.support import factories as make
from tests.support.invariants import faults
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread


def orphans(number: int) -> None:
    gone = make.a_process(lease=timezone.now() - timedelta(minutes=1))
    for _ in range(number):
        answer = make.a_message(role="assistant", status="streaming")
        make.a_tool_part(answer, ToolRunning(input={}, time=Started(start=1)))
        make.a_text_part(answer, "Half a sent")
        make.a_generation(answer, process=gone)


@pytest.mark.both_databases
def test_the_command_settles_and_says_how_many(transactional_db: None) -> None:
    """Running ones are not touched; again there is nothing to do."""
    orphans(3)
    alive = make.a_generation(process=make.a_process())
    said = StringIO()
    call_command("settle", stdout=said)
    call_command("settle", stdout=said)
    close_connections()
    assert said.getvalue().splitlines() == ["Settled 3 answers.", "Settled 0 answers."]
    settled = Message.objects.filter(error_key="error.chat_interrupted", status="error")
    assert settled.count() == 3
    assert list(Generation.objects.filter(status="active")) == [alive]
    assert Process.objects.count() == 2
    assert faults(running=True) == []


async def test_many_who_settle_at_once_tell_it_once(site: Site, program: Programs) -> None:
    """49: each run is settled by one of them."""
    one = await program()
    await in_thread(orphans)(20)
    answer = await in_thread(make.a_message)(site.talk, "assistant", status="streaming")
    run = await in_thread(make.a_generation)(answer, process=None)
    settled = await asyncio.gather(*(recovery.settle_orphans() for _ in range(4)))
    assert sum(settled) == 21
    await one.until(lambda: one.named("chat:snapshot", "chat:error")[1:])
    assert one.seen.ends.get(str(run.pk), ["error"]) == ["error"]
    assert await in_thread(faults)(one.seen) == []


@pytest.mark.both_databases
@pytest.mark.parametrize("since", ["settled", "taken up"])
def test_who_looked_too_early_settles_nothing(since: str, transactional_db: None) -> None:
    """49: between the look at an open run and its end somebody else may have ended it, or may go
    on with it as another attempt."""
    orphans(1)
    seen = Generation.objects.select_related("message", "conversation").get()
    if since == "settled":
        assert recovery._settle_one(Generation.objects.get())
    else:
        Generation.objects.update(attempt=1, process=make.a_process())
    before = Generation.objects.values().get(), Message.objects.values().get()
    assert recovery._settle_one(seen) is None
    assert (Generation.objects.values().get(), Message.objects.values().get()) == before
    close_connections()


async def test_a_run_that_its_own_process_has_lost_is_settled(site: Site) -> None:
    """19: rows without a task are not for ever unfinished."""
    from chat.services.processes.lease import this_process

    answer = await in_thread(make.a_message)(site.talk, "assistant", status="streaming")
    long_ago = timezone.now() - timedelta(minutes=5)
    mine = await in_thread(lambda: Process.objects.get(pk=this_process()))()
    await in_thread(make.a_generation)(answer, process=mine, started=long_ago)
    assert await recovery.settle_orphans() == 1
    assert await in_thread(faults)() == []
