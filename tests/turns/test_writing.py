"""While an answer is written: how often it speaks, when it is silent, what is found of it."""

from typing import Any

from chat.models import SearchEntry
from chat.services.endings import failed
from chat.services.pace import FRAME, MOST_LENGTH, Pace
from chat.services.runs import RUNS
from chat.services.search_index import reindex
from chat.services.settle import settle
from tests.live.conftest import Site
from tests.live.driver import eventually, in_thread
from tests.provider import Gate, Say, reply
from tests.turns.conftest import Programs


async def test_a_run_that_was_lost_says_nothing_more(site: Site, program: Programs) -> None:
    gate = Gate()
    site.provider.script(reply(Say("Half a sentence"), gate, Say(" and the rest of it.")))
    other = await program()
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees("Half a sentence")
    run = RUNS[str(site.talk.pk)]
    run.lost = True
    heard = len(other.events)
    gate.open()
    await eventually(lambda: run.task is not None and run.task.done())
    assert not [event for event in other.events[heard:] if event.get("request_id")]
    # Nobody has settled it: the sweep does.
    await in_thread(run_over)(run.request_id)


def run_over(request_id: str) -> None:
    assert settle(request_id, failed("error.chat_generation_failed"), [])


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


def test_frames_lengthen_with_the_answer_and_not_without_end() -> None:
    pace = Pace()
    assert pace.wait(0) == FRAME
    assert FRAME < pace.wait(10_000) < pace.wait(30_000) < pace.wait(10**9)
    assert pace.wait(10**9) == FRAME + MOST_LENGTH
