"""A program that speaks JSON mirrors every change of a conversation without reading again."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chat import services
from chat.models import LanguageModel, Message, Part
from chat.services.runs.run import RUNS
from tests.support import factories as make
from tests.support.follower import Follower, stored
from tests.support.model_server import Wait, reply
from tests.support.site import Site
from tests.support.tabs import in_thread
from tests.support.waiting import eventually

WORDS = "word " * 400


@in_thread
def message(role: str) -> Message:
    return Message.objects.shown().filter(role=role).order_by("position")[0]


async def edit(site: Site, one: Follower) -> None:
    site.provider.script(reply("Another."))
    question = await message("user")
    assert (await one.ask("edit", message_id=str(question.pk), content="Again?"))["ok"]


async def regenerate(site: Site, one: Follower) -> None:
    site.provider.script(reply("Another."))
    assert (await one.ask("regenerate", message_id=str((await message("assistant")).pk)))["ok"]


async def go_on(site: Site, one: Follower) -> None:
    site.provider.script(reply("Half", Wait()), reply(" and whole."))
    assert (await one.ask("send", content="More"))["ok"]
    await eventually(lambda: "Half" in str(one.told()))
    await one.ask("stop")
    last = (await one.ask("messages", limit=1))["messages"][-1]["info"]["id"]
    assert (await one.ask("continue", message_id=last))["ok"]


async def switch_text(site: Site, one: Follower) -> None:
    await edit(site, one)
    await eventually(lambda: not RUNS)
    question = await message("user")
    assert (await one.ask("version", message_id=str(question.pk), version=1))["ok"]


async def switch_answer(site: Site, one: Follower) -> None:
    await regenerate(site, one)
    await eventually(lambda: not RUNS)
    answer = await message("assistant")
    assert (await one.ask("version", message_id=str(answer.pk), version=1))["ok"]


async def amend(site: Site, one: Follower) -> None:
    part = await in_thread(Part.objects.filter(type="text", text="Answer.").first)()
    await in_thread(services.amend_part)(part, "Corrected.", services.amendable(part))


async def remove_a_part(site: Site, one: Follower) -> None:
    await in_thread(lambda: services.remove_part(Part.objects.filter(text="Answer.")[0]))()


async def remove_a_message(site: Site, one: Follower) -> None:
    await in_thread(services.remove_message)(await message("assistant"))


async def remove_a_version(site: Site, one: Follower) -> None:
    """The number of versions on the answer that is shown changes with it."""
    await regenerate(site, one)
    await eventually(lambda: not RUNS)
    archived = Message.objects.filter(archived_at__isnull=False, parent__isnull=False)
    await in_thread(lambda: services.remove_message(archived.filter(parts__text="Answer.")[0]))()


async def remove_a_question(site: Site, one: Follower) -> None:
    """Its answer is then the answer to nothing."""
    await in_thread(services.remove_message)(await message("user"))


async def compact(site: Site, one: Follower) -> None:
    """Old outputs are set aside, and then what is older is summed up."""
    models = LanguageModel.objects.filter(model_id="scripted-small")
    await in_thread(models.update)(context_window=2600, max_output=200)
    site.provider.script(reply("In short: words."), reply("Enough."))
    assert (await one.ask("send", content="More"))["ok"]


CHANGES: list[Callable[[Site, Follower], Awaitable[None]]] = [
    edit, regenerate, go_on, switch_text, switch_answer, amend, remove_a_part, remove_a_message,
    remove_a_version, remove_a_question, compact,
]  # fmt: skip


@in_thread
def a_long_talk(site: Site) -> None:
    question = make.a_message_with_parts(site.talk, "user", "Question?")
    call = make.a_finished_call(output=WORDS)
    make.a_message_with_parts(site.talk, "assistant", "Answer.", tools=(call,), parent=question)
    for _ in range(4):
        make.a_message_with_parts(site.talk, "user", f"Question? {WORDS}")
        make.a_message_with_parts(
            site.talk, "assistant", WORDS, tools=(make.a_finished_call(output=WORDS),)
        )


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
async def test_a_change_is_mirrored_without_reading_again(change: Any, site: Site) -> None:
    await a_long_talk(site)
    one = await Follower(site.alice, site.talk.pk).open()
    tab = await site.tab()
    try:
        await change(site, one)
        await eventually(lambda: not RUNS)
        kept = (await one.ask("messages", limit=100))["messages"]
        await one.until_it_knows(stored(kept))
        assert one.snapshots == 1, "the one that it attached with"
        await tab.equals_a_fresh_page()
    finally:
        await one.cut()
