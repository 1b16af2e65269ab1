"""What is asked for right after a stop is done: nobody can see that the stop is not through yet."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from chat.models import Generation, Message
from chat.services.runs.flush import flusher
from tests.support import factories as make
from tests.support.model_server import Gate, Say, reply
from tests.support.program import Program
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread
from tests.support.waiting import eventually


def end(run: Generation) -> None:
    """As the other process would."""
    Message.objects.filter(pk=run.message_id).update(
        status="cancelled", finish_reason="cancelled", completed_at=timezone.now()
    )
    Generation.objects.filter(pk=run.pk).update(status="stopped", finished=timezone.now())


def ids() -> dict[str, str]:
    """The last message and the last answer that are shown."""
    shown = Message.objects.shown().order_by("position")
    return {row.role: str(row.pk) for row in shown}


Act = Callable[[Program, dict[str, str]], Any]

ACTS: dict[str, Act] = {
    "send": lambda one, _: one.send("And now?"),
    "edit": lambda one, ids: one.ask("edit", message_id=ids["user"], content="Or rather"),
    "continue": lambda one, ids: one.ask("continue", message_id=ids["assistant"]),
    "regenerate": lambda one, ids: one.ask("regenerate", message_id=ids["assistant"]),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("where", ["the same tab", "another tab"])
async def test_here(where: str, act: str, site: Site, program: Programs) -> None:
    """R12: asked for while the last words of the stopped answer are not yet written."""
    one, other = await program(), await program()
    tab = one if where == "the same tab" else other
    gate = Gate()
    site.provider.script(reply(Say("Half a sent"), gate), reply("Done."))
    await one.send("Go")
    await eventually(gate.reached.is_set)
    known = await in_thread(ids)()
    async with flusher.writing:
        assert (await one.ask("stop"))["ok"]
        taking = asyncio.create_task(ACTS[act](tab, known))
        await let_others_act(await program())
        assert not taking.done()
    taken = await taking
    assert taken["ok"], taken
    await one.ends(taken["request_id"])


async def let_others_act(third: Program) -> None:
    """Time enough for what was asked for before to be answered, if it does not wait."""
    for _ in range(5):
        assert (await third.ask("messages"))["ok"]


async def test_elsewhere(site: Site, program: Programs) -> None:
    """The answer is written by another process, which is a moment behind."""

    def rows() -> Generation:
        question = make.a_message(site.talk, "user", status="success")
        answer = make.a_message(site.talk, "assistant", status="streaming", parent=question)
        make.a_text_part(answer, "Half a sent")
        return make.a_generation(answer, process=make.a_process())

    run = await in_thread(rows)()
    one, other = await program(), await program()
    site.provider.script("Done.")
    assert (await one.ask("stop"))["ok"]
    taking = asyncio.create_task(one.send("And now?"))
    await let_others_act(other)
    assert not taking.done()
    await in_thread(end)(run)
    taken = await taking
    assert taken["ok"], taken
    await one.ends(taken["request_id"])


async def test_without_a_stop_it_is_refused(site: Site, program: Programs) -> None:
    gate = Gate()
    site.provider.script(reply(Say("Half a sent"), gate))
    one = await program()
    begun = await one.send("Go")
    await eventually(gate.reached.is_set)
    refused = await one.send("And now?")
    assert refused["error_key"] == "error.chat_generation_in_progress"
    gate.open()
    await one.ends(begun["request_id"])
