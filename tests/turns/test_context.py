"""A conversation that no longer fits: old outputs are set aside, then older turns summed up."""

import json

import pytest

from chat.engine.context import SUMMARISE
from chat.engine.history import CLEARED
from chat.models import Agent, LanguageModel, Message, ModelAdjustment, Part
from tests.support import factories as make
from tests.support.model_server import Gate, Received, Reply, Say, refuse, reply
from tests.support.site import Site
from tests.support.tabs import in_thread

WORDS = "word " * 400
WINDOW = {"error": {"message": "This model's maximum context length is 4097 tokens.",
                    "code": "context_length_exceeded"}}  # fmt: skip


def _window(size: int | None) -> None:
    LanguageModel.objects.filter(model_id="scripted-small").update(
        context_window=size, max_output=200
    )


def _turns_with_outputs(site: Site, turns: int) -> None:
    for _ in range(turns):
        make.a_message_with_parts(site.talk, "user", "Calculate.")
        make.a_message_with_parts(
            site.talk, "assistant", "Done.", tools=(make.a_finished_call(output=WORDS),)
        )


def _turns(site: Site, turns: int) -> None:
    for n in range(turns):
        make.a_message_with_parts(site.talk, "user", f"Question {n}: {WORDS}")
        make.a_message_with_parts(site.talk, "assistant", f"Answer {n}: {WORDS}")


def said(request: Received) -> str:
    return json.dumps(request.json["messages"], ensure_ascii=False)


async def test_old_outputs_are_no_longer_sent_but_kept(site: Site) -> None:
    """What a tool once returned goes first, oldest first; it stays on the page."""
    await in_thread(_window)(3000)
    await in_thread(_turns_with_outputs)(site, 6)
    tab = await site.tab()
    site.provider.script(reply(Say("Fine.")))
    await tab.send("And now?")
    await tab.sees_the_end()
    sent = said(site.provider.requests[0])
    assert CLEARED in sent
    assert sent.count(WORDS.strip()) >= 2, "the latest outputs are still sent"
    outputs = await in_thread(
        lambda: [part.data["state"]["output"] for part in Part.objects.filter(type="tool")]
    )()
    assert outputs == [WORDS] * 6
    await tab.equals_a_fresh_page()


async def test_older_turns_are_summed_up_in_a_user_message(site: Site) -> None:
    """BR-11: the summary stands with the first message that is still sent as it was."""
    await in_thread(_window)(4000)
    await in_thread(_turns)(site, 6)
    tab = await site.tab()
    site.provider.script(reply(Say("They spoke of words.")), reply(Say("Fine.")))
    await tab.send("And now?")
    await tab.sees("Summary of earlier messages")
    await tab.sees_the_end()
    asked, answered = (said(request) for request in site.provider.requests)
    assert SUMMARISE in asked
    assert "They spoke of words." in answered
    assert "Question 0" not in answered
    assert "And now?" in answered
    await tab.equals_a_fresh_page()
    kept = await in_thread(lambda: Message.objects.exclude(summary=None).get().summary)()
    assert kept == {"body": "They spoke of words."}

    site.provider.script(reply(Say("Again.")))
    await tab.send("Once more.")
    await tab.sees("Again.")
    await tab.sees_the_end()
    assert len(site.provider.requests) == 3, "what is summed up is not summed up again"


async def test_no_thought_is_spent_on_a_summary(site: Site) -> None:
    await in_thread(_window)(4000)
    await in_thread(LanguageModel.objects.filter(model_id="scripted-small").update)(
        efforts=["none", "low", "high"]
    )
    await in_thread(Agent.objects.update)(effort="high")
    await in_thread(_turns)(site, 6)
    tab = await site.tab()
    site.provider.script(reply(Say("They spoke of words.")), reply(Say("Fine.")))
    await tab.send("And now?")
    await tab.sees("Fine.")
    await tab.sees_the_end()
    efforts = [request.json["reasoning_effort"] for request in site.provider.requests]
    assert efforts == ["none", "high"]


async def test_a_provider_that_says_it_is_too_long_is_asked_again_with_less(site: Site) -> None:
    """Where the window is not known, the provider's word is taken for it."""
    await in_thread(_window)(None)
    await in_thread(_turns_with_outputs)(site, 6)
    tab = await site.tab()
    too_long = {"error": {"message": "maximum context length exceeded", "code": 400}}
    site.provider.script(refuse(400, too_long), reply(Say("Fine.")))
    await tab.send("And now?")
    await tab.sees("Fine.")
    await tab.sees_the_end()
    first, second = (len(said(request)) for request in site.provider.requests)
    assert second < first * 0.7
    await tab.equals_a_fresh_page()


async def test_what_cannot_be_shortened_says_so_in_plain_words(site: Site) -> None:
    """A12: nothing to set aside, so the reason is told."""
    tab = await site.tab()
    too_long = {"error": {"message": "maximum context length exceeded", "code": 400}}
    site.provider.script(refuse(400, too_long))
    await tab.send("Hello!")
    await tab.sees("The conversation is too long for this model.")
    await tab.equals_a_fresh_page()
    assert len(site.provider.requests) == 1


async def test_whoever_waits_for_a_summary_sees_what_for(site: Site) -> None:
    """Also who opens the page meanwhile; it is gone when the answer begins."""
    await in_thread(_window)(4000)
    await in_thread(_turns)(site, 6)
    tab = await site.tab()
    gate = Gate()
    site.provider.script(reply(gate, "They spoke of words."), reply("Fine."))
    await tab.send("And now?")
    await tab.sees("Summing up the earlier conversation…")
    later = await site.tab()
    assert "Summing up the earlier conversation…" in later.page.text_of("t")
    gate.open()
    await tab.sees("Fine.")
    await tab.sees_the_end()
    assert "Summing up" not in tab.page.text_of("t")
    await tab.equals_a_fresh_page()


@pytest.mark.parametrize("helps", [True, False])
async def test_a_window_that_is_told_is_remembered_once_it_was_of_use(
    site: Site, helps: bool
) -> None:
    """A server may name a number that has nothing to do with the window: then nothing is kept."""
    await in_thread(_window)(None)
    await in_thread(_turns)(site, 12)

    def answer(request: Received) -> Reply:
        if SUMMARISE in said(request):
            return reply("They spoke of words.")
        is_shorter = "Question 0" not in said(request)
        return reply("Fine.") if helps and is_shorter else refuse(400, WINDOW)

    site.provider.answer = answer
    tab = await site.tab()
    await tab.send("And now?")
    await tab.sees_the_end()
    assert ("Fine." in tab.page.text_of("t")) is helps
    kept = await in_thread(lambda: list(ModelAdjustment.objects.values_list("kind", "value")))()
    assert kept == ([("window", 4097)] if helps else [])
