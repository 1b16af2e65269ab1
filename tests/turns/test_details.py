"""A15: what is known of an answer besides its words, and what its conversation has taken."""

import html
import json
import re
from typing import Any

import pytest

from chat.models import Agent, BackgroundCall, LanguageModel, Message, Part, Provider
from chat.rendering.page.footer import cost_text
from chat.services.runs import titles
from tests.support import factories as make
from tests.support.model_server import Call, Gate, Say, Tally, Think, reply
from tests.support.site import Programs, Site
from tests.support.tabs import Person, Tab, in_thread
from tests.support.waiting import eventually

SUM = Call("calculator", {"expression": "6*7"}, id="call_1")
FIRST = Tally(input=100, output=20, reasoning=8, cache_read=1000)
SECOND = Tally(input=30, output=7, cache_read=1100)


@in_thread
def last_answer() -> Message:
    return Message.objects.filter(role="assistant").latest("position")


@in_thread
def set_prices(**prices: float) -> None:
    LanguageModel.objects.filter(model_id="scripted-small").update(**prices)


async def opened(person: Person, answer: Message) -> str:
    """The dialog, as a script asks for it."""
    response = await person.client.get(
        f"/c/{answer.conversation_id}/m/{answer.pk}/details/", headers={"HX-Request": "true"}
    )
    assert response.status_code == 200
    return str(response.content.decode())


def facts(dialog: str) -> dict[str, str]:
    """What stands beside each name."""
    found = re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", dialog, re.S)
    bare = (re.sub(r"<[^>]+>", "", value) for _, value in found)
    return {
        html.unescape(name): " ".join(html.unescape(value).split())
        for (name, _), value in zip(found, bare, strict=True)
    }


@pytest.mark.parametrize(
    ("cost", "shown"),
    [(0, ""), (0.00002, "< $0.0001"), (0.0002, "$0.0002"), (0.02, "$0.020"), (3, "$3.00")],
)
def test_a_cost_is_not_shown_as_nothing(cost: float, shown: str) -> None:
    assert cost_text(cost) == shown


def rows(dialog: str) -> list[dict[str, Any]]:
    code = re.search(r"<pre.*?<code>(.*?)</code>", dialog, re.S)
    assert code is not None
    return list(json.loads(html.unescape(re.sub(r"<[^>]+>", "", code[1]))))


async def test_an_answer_says_who_gave_it_how_it_ended_and_what_it_took(site: Site) -> None:
    await set_prices(input_price=1, output_price=10, cache_read_price=0.1, cache_write_price=2)
    tab = await site.tab()
    site.provider.script(
        reply(Think("Multiply."), SUM, usage=FIRST), reply("It is 42.", usage=SECOND)
    )
    await tab.send("How much is six times seven?")
    await tab.sees_the_end()
    dialog = await opened(site.alice, await last_answer())
    found = facts(dialog)
    assert found["Provider"] == "Scripted"
    assert found["Model"] == "Scripted scripted-small"
    assert found["Status"] == "Done success"
    assert found["Finish reason"] == "The model had said all stop"
    assert re.fullmatch(r"\d+ ms|\d+\.\d s", found["First word after"])
    assert re.fullmatch(r"\d+\.\d s", found["Duration"])
    assert (found["Steps"], found["Tools used"]) == ("2", "Calculator")
    # The wire counts what was cached with the input, and the thinking with the output.
    assert found["Read from the cache"] == "2,100"
    assert found["Thinking"] == "8"
    [row, result] = rows(dialog)
    assert found["Input"] == str(row["input_tokens"])
    assert found["Output"] == str(row["output_tokens"])
    assert found["Cost"].startswith("$0.00")
    assert (row["role"], row["thinking_content"]) == ("assistant", "Multiply.")
    assert [call["function"]["name"] for call in row["tool_calls"]] == ["calculator"]
    assert (result["role"], result["tool_call_id"], result["content"]) == ("tool", "call_1", "42")


async def test_the_time_to_the_first_word_is_that_of_the_first_thing_that_came(site: Site) -> None:
    """From the question on, thinking included; what comes later does not count."""
    tab = await site.tab()
    site.provider.script(reply(Think("Hm."), "Well."))
    await tab.send("Go")
    await tab.sees_the_end()
    answer = await last_answer()

    @in_thread
    def earlier(seconds: float, type_: str) -> None:
        """As if this part had begun so many seconds after the question."""
        part = Part.objects.get(message=answer, type=type_)
        start = int(answer.created.timestamp() * 1000) + round(seconds * 1000)
        part.data["time"]["start"] = start
        part.save(update_fields=["data"])

    await earlier(5, "text")
    await earlier(2.4, "reasoning")
    assert facts(await opened(site.alice, answer))["First word after"] == "2.4 s"


async def test_titles_and_summaries_are_counted_with_their_conversation(
    site: Site, settings: Any
) -> None:
    settings.PARLEY_TITLES = "model"
    await set_prices(input_price=500_000)
    talk = await in_thread(make.a_conversation)(site.alice.user, title="")
    tab: Tab = await site.tab(talk=talk)
    site.provider.script(
        reply("Sunny.", usage=Tally(input=6, output=1)),
        reply("Weather", usage=Tally(input=4, output=1)),
    )
    await tab.send("How is the weather?")
    await tab.sees_the_end()
    await eventually(lambda: not titles._asking)
    [call] = await in_thread(lambda: list(BackgroundCall.objects.all()))()
    assert (call.purpose, call.model_id, call.conversation_id) == (
        "title",
        "scripted-small",
        talk.pk,
    )
    await in_thread(make.a_background_call)(talk, purpose="summary", input_tokens=6, cost=6)
    found = facts(await opened(site.alice, await last_answer()))
    assert found["Answers"] == "1 request · 7 tokens · $3.00"
    assert found["Titles"] == "1 request · 5 tokens · $2.00"
    assert found["Summaries"] == "1 request · 6 tokens · $6.00"
    assert found["Total"] == "3 requests · 18 tokens · $11.00"


async def test_older_turns_that_are_summed_up_are_counted(site: Site) -> None:
    await in_thread(
        lambda: LanguageModel.objects.filter(model_id="scripted-small").update(
            context_window=4000, max_output=200
        )
    )()
    words = "word " * 400
    for number in range(6):
        await in_thread(make.a_message_with_parts)(site.talk, "user", f"{number} {words}")
        await in_thread(make.a_message_with_parts)(site.talk, "assistant", f"{number} {words}")
    tab = await site.tab()
    site.provider.script(reply("They talked.", usage=Tally(input=900, output=3)), reply("Yes."))
    await tab.send("And now?")
    await tab.sees_the_end()
    [call] = await in_thread(lambda: list(BackgroundCall.objects.all()))()
    assert (call.purpose, call.input_tokens, call.output_tokens) == ("summary", 900, 3)


async def test_a_stopped_answer_has_the_tokens_until_then(site: Site, program: Programs) -> None:
    """Anthropic counts the input before the first word, and what was cached; of the output it says
    only that it begins, so that is estimated by the words."""
    await in_thread(
        lambda: Provider.objects.filter(name="Scripted").update(
            kind="anthropic", base_url=f"{site.provider.root}/v1"
        )
    )()
    gate = Gate()
    tally = Tally(input=70, output=500, cache_read=600, cache_write=9)
    site.provider.script(reply(Say("Half a sent"), gate, usage=tally))
    page, one = await site.tab(), await program()
    begun = await one.send("Go")
    await one.hears("sent")
    await one.ask("stop")
    await one.ends(begun["request_id"])
    gate.open()
    found = facts(await opened(site.alice, await last_answer()))
    assert found["Status"].startswith("Stopped by you after")
    assert found["Finish reason"] == "Stopped cancelled"
    assert (found["Input"], found["Output"]) == ("70", "3")
    assert (found["Read from the cache"], found["Written to the cache"]) == ("600", "9")
    await page.sees("Stopped by you")
    await page.equals_a_fresh_page()


async def test_how_hard_the_model_had_to_think_is_kept_with_the_answer(site: Site) -> None:
    await in_thread(
        lambda: LanguageModel.objects.filter(model_id="scripted-small").update(
            reasoning=True, efforts=["low", "high"]
        )
    )()
    await in_thread(lambda: Agent.objects.filter(is_default=True).update(effort="high"))()
    tab = await site.tab()
    site.provider.script(reply("Hello."))
    await tab.send("Hi")
    await tab.sees_the_end()
    assert facts(await opened(site.alice, await last_answer()))["Thinking effort"] == "High high"
    found = facts(await opened(site.alice.speaking("zh-hans"), await last_answer()))
    assert found["思考强度"] == "高 high"


async def test_what_was_left_to_the_model_is_said_of_an_answer_that_was_thought_about(
    site: Site,
) -> None:
    tab = await site.tab()
    site.provider.script(reply(Think("Hm."), "Hello."), reply("Hello again."))
    for words, expected in (("Hello.", "Automatic"), ("Hello again.", None)):
        await tab.send("Hi")
        await tab.sees(words)
        await tab.sees_the_end()
        found = facts(await opened(site.alice, await last_answer()))
        assert found.get("Thinking effort") == expected


async def test_the_details_are_in_the_language_of_their_reader(site: Site) -> None:
    tab = await site.tab()
    site.provider.script(reply("Hello."))
    await tab.send("Hi")
    await tab.sees_the_end()
    found = facts(await opened(site.alice.speaking("zh-hans"), await last_answer()))
    assert found["结束原因"] == "模型已说完 stop"


async def test_without_scripts_they_are_a_page(site: Site) -> None:
    tab = await site.tab()
    site.provider.script(reply("Hello."))
    await tab.send("Hi")
    await tab.sees_the_end()
    answer = await last_answer()
    fresh = await site.alice.client.get(f"/c/{site.talk.pk}/m/{answer.pk}/details/")
    assert facts(fresh.content.decode())["Status"] == "Done success"
    asked = await in_thread(lambda: answer.parent_id)()
    nothing = await site.alice.client.get(f"/c/{site.talk.pk}/m/{asked}/details/")
    assert nothing.status_code == 404, "only answers have details"
