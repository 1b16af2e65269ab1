"""Rows stay close behind a run, and only its own: a crash costs half a second."""

import asyncio

from django.utils import timezone

from chat.models import Generation, Part
from chat.services.runs.run import RUNS
from tests.support.model_server import Gate, Say, reply
from tests.support.program import Program
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread
from tests.support.waiting import PATIENCE, eventually


@in_thread
def texts() -> list[str]:
    """What the rows have of answers."""
    answers = Part.objects.filter(message__role="assistant", type="text")
    return list(answers.order_by("position").values_list("text", flat=True))


async def rows_say(*wanted: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while await texts() != list(wanted):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_words_are_kept_while_the_answer_goes_on(site: Site, program: Programs) -> None:
    gate, later = Gate(), Gate()
    site.provider.script(reply(Say("Half a "), gate, Say("sentence"), later, Say(".")))
    one = await program()
    begun = await one.send("Go")
    await rows_say("Half a ")
    gate.open()
    await rows_say("Half a sentence")
    later.open()
    await one.ends(begun["request_id"])
    assert await texts() == ["Half a sentence."]


async def test_a_run_that_somebody_else_has_ended_writes_nothing_more(site: Site) -> None:
    """Another process took this one for dead, and settled its run."""
    gate, never = Gate(), Gate()
    site.provider.script(reply(Say("Half a "), gate, Say("sentence"), never, Say(".")))
    one = await Program(site.alice, site.talk.pk).open()
    await one.send("Go")
    await rows_say("Half a ")
    await in_thread(Generation.objects.update)(status="failed", finished=timezone.now())
    gate.open()
    # The next flush has a word to write, and learns that the run is not its own any more.
    await eventually(lambda: not RUNS)
    assert await texts() == ["Half a "]
    never.open()
    await one.close()
