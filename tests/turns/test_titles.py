"""Titles: the first words at once, then what the model finds; a hand-given one always wins."""

import logging
from typing import Any

import pytest

from chat.models import Agent, Conversation, LanguageModel, Message
from chat.services import Caller
from chat.services.catalog.defaults import DEMO_MODEL
from chat.services.conversations import organise
from chat.services.conversations.search import search
from chat.services.runs import titles
from tests.support import factories as make
from tests.support.model_server import Gate, Received, Reply, Wait, refuse, reply
from tests.support.site import Site
from tests.support.tabs import Tab, in_thread
from tests.support.waiting import eventually

QUESTION = "Could you please tell me what the weather will be like in Rome tomorrow morning?"
FIRST = "Could you please tell me what the weather will be like in…"


@pytest.fixture(autouse=True)
def by_the_model(settings: Any) -> None:
    settings.PARLEY_TITLES = "model"


async def a_new_talk(site: Site, *replies: Reply) -> Tab:
    site.provider.script(*replies)
    talk = await in_thread(make.a_conversation)(site.alice.user, title="")
    return await site.tab(talk=talk)


async def ask(tab: Tab, text: str = QUESTION) -> None:
    await tab.send(text)
    await tab.sees_the_end()


async def asked_for_nothing_more() -> None:
    await eventually(lambda: not titles._asking)


@in_thread
def row(tab: Tab) -> Conversation:
    return Conversation.objects.get(pk=tab.conversation_id)


def is_for_a_title(request: Received) -> bool:
    return bool(request.json["messages"][0]["content"] == titles.SYSTEM)


async def test_the_first_words_at_once_and_a_better_title_after(site: Site) -> None:
    """The page, its column and the search all follow."""
    gate = Gate()
    tab = await a_new_talk(site, reply("Sunny in Rome."), reply(gate, '"Weather in Rome."\n'))
    await ask(tab)
    assert tab.page.text_of("title") == FIRST
    await tab.equals_a_fresh_page()
    gate.open()
    await tab.until(lambda: tab.page.text_of("title") == "Weather in Rome")
    await tab.until(lambda: "Weather in Rome" in tab.page.text_of("column"))
    await tab.equals_a_fresh_page()
    (found,) = (await in_thread(search)(Caller(site.alice.user.pk), "rome")).found
    assert found.title == (("Weather in ", False), ("Rome", True))


async def test_the_request_is_short_and_costs_the_message_nothing(site: Site) -> None:
    tab = await a_new_talk(site, reply("Sunny. " * 2000), reply("Weather"))
    await ask(tab)
    await tab.until(lambda: tab.page.text_of("title") == "Weather")
    answer, title = site.provider.requests
    assert not is_for_a_title(answer)
    assert is_for_a_title(title)
    assert title.json["model"] == "scripted-small"
    assert "tools" not in title.json
    assert title.json["max_tokens"] == titles.MAX_OUTPUT
    said = title.json["messages"][1]["content"]
    assert QUESTION in str(said)
    assert "Sunny." in str(said)
    assert len(str(said)) < 2 * titles.EXCERPT
    told = await in_thread(Message.objects.get)(conversation=tab.conversation_id, role="assistant")
    assert (told.input_tokens, told.output_tokens) == (10, 5)


async def test_it_is_asked_once(site: Site) -> None:
    """Another answer to the first question finds a title that is no longer its first words."""
    tab = await a_new_talk(site, reply("Sunny."), reply("Weather"), reply("Rain."))
    await ask(tab)
    await tab.until(lambda: tab.page.text_of("title") == "Weather")
    answer = [message.get("data-id") for message in tab.page.messages()][-1]
    assert (await tab.ask("regenerate", message_id=answer))["ok"]
    await tab.sees("Rain.")
    await tab.sees_the_end()
    await asked_for_nothing_more()
    assert [is_for_a_title(request) for request in site.provider.requests] == [False, True, False]


async def test_one_that_was_no_better_is_not_asked_for_again(site: Site) -> None:
    tab = await a_new_talk(site, reply("Sunny."), reply("Sorry, I cannot."), reply("Rain."))
    await ask(tab)
    await asked_for_nothing_more()
    assert (await row(tab)).title == FIRST
    answer = [message.get("data-id") for message in tab.page.messages()][-1]
    assert (await tab.ask("regenerate", message_id=answer))["ok"]
    await tab.sees("Rain.")
    await tab.sees_the_end()
    await asked_for_nothing_more()
    assert [is_for_a_title(request) for request in site.provider.requests] == [False, True, False]


async def test_a_title_given_by_hand_wins_the_race(site: Site) -> None:
    gate = Gate()
    tab = await a_new_talk(site, reply("Sunny."), reply(gate, "Weather"))
    await ask(tab)
    await site.provider.until(lambda _: gate.reached.is_set())
    await organise.rename(Caller(site.alice.user.pk), tab.conversation_id, "My own")  # type: ignore[arg-type]
    gate.open()
    await asked_for_nothing_more()
    await tab.until(lambda: tab.page.text_of("title") == "My own")
    assert (await row(tab)).title == "My own"
    await tab.equals_a_fresh_page()


async def test_the_same_words_given_by_hand_win_too(site: Site) -> None:
    gate = Gate()
    tab = await a_new_talk(site, reply("Sunny."), reply(gate, "Weather"))
    await ask(tab)
    await site.provider.until(lambda _: gate.reached.is_set())
    await organise.rename(Caller(site.alice.user.pk), tab.conversation_id, FIRST)  # type: ignore[arg-type]
    gate.open()
    await asked_for_nothing_more()
    assert (await row(tab)).title == FIRST


async def test_a_title_that_was_there_before_is_not_improved(site: Site) -> None:
    site.provider.script(reply("Sunny."), reply("Weather"))
    tab = await site.tab()
    await ask(tab)
    await asked_for_nothing_more()
    assert (await row(tab)).title == "A talk"
    assert len(site.provider.requests) == 1


@pytest.mark.parametrize(
    "bad", [refuse(500), refuse(401), reply(""), reply("***\n"), reply(Wait(None))], ids=range(5)
)
async def test_a_failure_leaves_the_first_words(
    site: Site, bad: Reply, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(titles, "PATIENCE", 0.5)
    caplog.set_level(logging.WARNING, "chat.services.runs.titles")
    tab = await a_new_talk(site, reply("Sunny."), bad)
    await ask(tab)
    await site.provider.until(lambda provider: len(provider.requests) == 2)
    await asked_for_nothing_more()
    kept = await row(tab)
    assert (kept.title, kept.rev) == (FIRST, 2)
    assert [record.levelname for record in caplog.records] in ([], ["WARNING"])
    assert not any(text.rstrip().endswith(":") for text in caplog.messages), "it says why"
    await tab.equals_a_fresh_page()


async def test_a_failed_answer_gets_no_title(site: Site) -> None:
    tab = await a_new_talk(site, refuse(401), reply("Weather"))
    await ask(tab)
    await asked_for_nothing_more()
    assert len(site.provider.requests) == 1


@in_thread
def use_the_demo() -> None:
    demo = LanguageModel.objects.get(model_id=DEMO_MODEL)
    Agent.objects.filter(is_default=True).update(model=demo)


async def test_the_demo_and_the_first_words_ask_nobody(site: Site, settings: Any) -> None:
    tab = await a_new_talk(site, reply("Sunny."))
    settings.PARLEY_TITLES = "first"
    await ask(tab)
    settings.PARLEY_TITLES = "model"
    await use_the_demo()
    second = await a_new_talk(site)
    await second.send("hello")
    await second.sees_the_end()
    await asked_for_nothing_more()
    assert len(site.provider.requests) == 1


async def test_no_thought_is_spent_on_a_title(site: Site) -> None:
    """However hard the model is to think about the answer."""
    await in_thread(LanguageModel.objects.filter(model_id="scripted-small").update)(
        efforts=["none", "low", "high"]
    )
    await in_thread(Agent.objects.update)(effort="high")
    tab = await a_new_talk(site, reply("Sunny in Rome."), reply("Weather in Rome"))
    await ask(tab)
    await asked_for_nothing_more()
    efforts = [request.json["reasoning_effort"] for request in site.provider.requests]
    assert efforts == ["high", "none"]
