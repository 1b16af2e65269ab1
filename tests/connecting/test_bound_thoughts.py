"""Thoughts of the newest Claude models belong to the conversation in which they were thought. An
ordinary conversation is never refused for it, and one that has changed goes on."""

import json
from typing import Any

from chat.models import Agent, LanguageModel, Message, Part
from tests.connecting.test_every_wire import speak
from tests.support.model_server import Call, reply
from tests.support.model_server.vendor_rules import Bound
from tests.support.program import Program
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread

CALL = Call("calculator", {"expression": "6*7"}, "c1")


@in_thread
def set_up(**columns: Any) -> None:
    steps = ["low", "medium", "high"]
    LanguageModel.objects.filter(provider__name="Scripted").update(
        model_id="claude-opus-5-5", efforts=steps, thinking="adaptive", **columns
    )


async def opened(site: Site, program: Programs, *answers: Any, **columns: Any) -> Program:
    await speak("anthropic", site.provider.root)
    await set_up(**columns)
    site.provider.answer = Bound(*answers)
    return await program()


async def asked(one: Program, question: str) -> str:
    begun = await one.send(question)
    ended = await one.ends(begun["request_id"])
    assert ended["name"] == "chat:complete", ended
    return str(ended["message_id"])


def refused(site: Site) -> int:
    assert isinstance(site.provider.answer, Bound)
    return site.provider.answer.refused


def thoughts(site: Site) -> int:
    """How many the model was given back with the last request."""
    return json.dumps(site.provider.requests[-1].json).count('"signature"')


async def test_an_ordinary_conversation_keeps_its_thoughts_and_is_never_refused(
    site: Site, program: Programs
) -> None:
    """With tools, another effort, another answer, and an earlier question asked anew."""
    answers = (reply("Let me see.", CALL), reply("42."), reply("Quite."), reply("Still."))
    one = await opened(site, program, *answers, reply("Yes."), reply("No."))
    await asked(one, "Six by seven?")
    await one.ask("choose", effort="high")
    second = await asked(one, "Sure?")
    await asked(one, "Really?")
    assert thoughts(site) == 3
    begun = await one.ask("regenerate", message_id=second)
    await one.ends(begun["request_id"])
    await asked(one, "Once more?")
    assert refused(site) == 0
    assert thoughts(site) == 3


async def test_what_was_thought_with_other_tools_is_left_out(site: Site, program: Programs) -> None:
    answers = (reply("Let me see.", CALL), reply("42."), reply("I cannot say."), reply("No."))
    one = await opened(site, program, *answers)
    await asked(one, "Six by seven?")
    await one.ask("choose", tools={"calculator": False})
    await asked(one, "And by eight?")
    assert (refused(site), thoughts(site)) == (1, 0)
    await asked(one, "Why?")
    assert (refused(site), thoughts(site)) == (2, 0)
    kept = await in_thread(Part.objects.filter(type="reasoning").count)()
    assert kept == 4, "they stay with their answers"


async def test_what_was_thought_before_other_instructions_is_left_out(
    site: Site, program: Programs
) -> None:
    """In the middle of its tools, too: what the model thinks now it is given back at once."""
    one = await opened(site, program, reply("Hello."), reply("Let me see.", CALL), reply("42."))
    await asked(one, "Hello?")
    await in_thread(Agent.objects.update)(system_prompt="Be brief.", system_prompt_en="Be brief.")
    await asked(one, "Six by seven?")
    assert (refused(site), thoughts(site)) == (1, 1)


async def test_what_was_thought_before_a_summary_does_not_end_a_long_conversation(
    site: Site, program: Programs
) -> None:
    words = "word " * 400
    answers = [reply(f"Answer {n}: {words}") for n in range(4)]
    one = await opened(site, program, *answers, reply("They spoke of words."), reply("Fine."))
    for n in range(4):
        await asked(one, f"Question {n}: {words}")
    await set_up(context_window=4000, max_output=200)
    await asked(one, "And now?")
    kept = await in_thread(lambda: Message.objects.exclude(summary=None).get().summary)()
    assert kept == {"body": "They spoke of words."}
    summing_up = site.provider.requests[4].json
    assert "signature" not in json.dumps(summing_up), "thoughts are no part of what is summed up"
    assert refused(site) == 1
