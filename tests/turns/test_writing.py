"""While an answer is written: how often it speaks, when it is silent, what is found of it."""

import asyncio
from typing import Any

from chat.models import SearchEntry
from chat.services.conversations.search_index import reindex
from chat.services.runs.pace import FRAME, LONGEST, TICK, Pace
from chat.services.runs.run import RUNS, Run
from chat.services.runs.settle import failed, settle
from tests.benchmark.shapes import tokens_of
from tests.benchmark.virtual import frames_of
from tests.support.model_server import Gate, Say, reply
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread
from tests.support.virtual_loop import VirtualLoop
from tests.support.waiting import eventually


async def test_a_run_that_was_lost_says_nothing_more(site: Site, program: Programs) -> None:
    gate = Gate()
    site.provider.script(reply(Say("Half a sentence"), gate, Say(" and the rest of it.")))
    other = await program()
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees("Half a sentence")
    await other.hears("Half a sentence")
    run = RUNS[str(site.talk.pk)]
    run.lost = True
    heard = len(other.events)
    gate.open()
    await eventually(lambda: run.task is not None and run.task.done())
    assert not [event for event in other.events[heard:] if event.get("request_id")]
    # Nobody has settled it: the sweep does.
    await in_thread(run_over)(run)


def run_over(run: Run) -> None:
    failure = failed("error.chat_generation_failed")
    assert settle(run.request_id, run.spec.user_id, run.so_far(), failure)


async def test_what_is_searched_of_a_sent_message_is_what_a_new_index_says(site: Site) -> None:
    site.provider.script(reply("An answer."))
    tab = await site.tab()
    await tab.send("Wie wird das Wetter? 天气")
    await tab.sees_the_end()
    kept = await in_thread(index)()
    await in_thread(reindex)()
    assert await in_thread(index)() == kept


def index() -> list[Any]:
    rows = SearchEntry.objects.exclude(message=None)
    return sorted(rows.values_list("message", "words"), key=str)


def test_a_long_answer_is_told_as_often_at_its_end_as_at_its_beginning() -> None:
    """40 ms for everybody: two tokens of 20 ms in a frame, ten thousand tokens long."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        frames = runner.run(frames_of(tokens_of("code", 10_000), ms=20))
    assert 4_900 <= len(frames) <= 5_100


def test_frames_lengthen_only_while_the_loop_is_late_and_that_is_counted() -> None:
    pace = Pace()
    for _ in range(100):
        pace.late(0.002)
    assert 1 + FRAME <= pace.next_frame(1) < 1 + FRAME + TICK
    assert pace.lengthened == 0
    for _ in range(100):
        pace.late(0.030)
    assert 1 + FRAME + TICK < pace.next_frame(1) <= 1 + LONGEST + TICK
    assert pace.lengthened == 1
    assert pace.lengthened_by > 0
    for _ in range(100):
        pace.late(0.0)
    assert pace.next_frame(1) < 1 + FRAME + TICK
    assert pace.lengthened == 1
