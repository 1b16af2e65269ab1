"""The most important test of the project: the page that was streamed into is the page that a
reload shows, for every action and at every moment."""

import asyncio
import json

import pytest

from chat.models import Message
from tests.support import factories as make
from tests.support.model_server import Call, Drop, Gate, Say, Think, Wait, refuse, reply
from tests.support.model_server.replies import Step
from tests.support.page import normal
from tests.support.site import Site
from tests.support.tabs import Tab, equal_pages, in_thread
from tests.support.texts import mixed
from tests.support.waiting import eventually

SUM = Call("calculator", {"expression": "6*7"})
PRODUCT = Call("calculator", {"expression": "2**10"})
BROKEN = Call("calculator", {"expression": "1/0"})
MARKDOWN = "Hello, **Alice**. This is `code` and a list:\n\n- one\n- two\n"


async def at(gate: Gate) -> None:
    """The provider has said all before the gate and stands still."""
    await eventually(gate.reached.is_set)


async def test_a_question_and_its_answer(site: Site) -> None:
    """A1, A3, F2: sent over the socket, answered word by word."""
    tab = await site.tab()
    site.provider.script(reply(MARKDOWN, ms=5))
    sent = await tab.send("Hello!\nWhat is `this`?\n\n```py\nprint(1)\n```")
    assert sent["ok"]
    assert sent["request_id"]
    await tab.sees("two")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    assert tab.page.answers() == ["Hello, Alice. This is code and a list:onetwo"]


async def test_thinking_that_grows_and_ends(site: Site) -> None:
    """A3: thinking is a part of its own, open while it grows."""
    tab = await site.tab()
    gate = Gate()
    site.provider.script(reply(Think("Let me *think* about\nthis.", ms=5), gate, Say("Done.")))
    await tab.send("Think!")
    await at(gate)
    await tab.sees("this.")
    await tab.equals_a_fresh_page()
    gate.open()
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    assert "growing" not in {
        mark for each in tab.page.by_id("t").iter() for mark in each.get("class", "").split()
    }


@pytest.mark.parametrize("calls", [(SUM,), (SUM, PRODUCT), (BROKEN,), (SUM, BROKEN, PRODUCT)])
async def test_tools_in_all_their_states(site: Site, calls: tuple[Call, ...]) -> None:
    """A2, A3: one call, calls side by side, and calls that fail."""
    tab = await site.tab()
    gate = Gate()
    site.provider.script(
        reply(Say("I will calculate."), *calls), reply(Say("So it is"), gate, Say(" 42."))
    )
    await tab.send("How much?")
    await at(gate)
    await tab.sees("So it is")
    await tab.equals_a_fresh_page()
    gate.open()
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    cards = [each for each in tab.page.by_id("t").iter() if "tool" in each.get("class", "").split()]
    states = ["failed" if call is BROKEN else "done" for call in calls]
    assert [card.get("data-state") for card in cards] == states


async def test_a_long_answer_of_mixed_markdown(site: Site) -> None:
    """Ten thousand tokens, streamed; what is sent grows with the answer, not with its square."""
    tokens = mixed(10_000)
    tab = await site.tab()
    site.provider.script(reply(Say(tokens, ms=0.2)))
    await tab.send("Tell me everything")
    await tab.sees_the_end(60)
    await tab.equals_a_fresh_page()
    assert tab.received < 20 * sum(map(len, tokens))


async def test_several_turns_one_after_the_other(site: Site) -> None:
    tab = await site.tab()
    for n in range(4):
        site.provider.script(reply(Think("Hm."), Say(f"Answer {n}, **bold**."), ms=2))
        await tab.send(f"Question {n}")
        await tab.sees(f"Answer {n}, bold.")
        await tab.sees_the_end()
    await tab.equals_a_fresh_page()


@pytest.mark.parametrize("moment", ["before the first word", "thinking", "text", "code"])
async def test_a_stop_at_any_moment(site: Site, moment: str) -> None:
    """A5: what was said stays, open parts are closed, the foot says who stopped it."""
    before: dict[str, list[Step]] = {
        "before the first word": [],
        "thinking": [Think("Let me see, *really*")],
        "text": [Think("Hm."), Say("Half a **sent")],
        "code": [Say("See:\n\n```python\nprint(1)\nfor x in")],
    }
    tab, other = await site.tab(), await site.tab()
    gate = Gate()
    site.provider.script(reply(*before[moment], gate, Say("never said")))
    await tab.send("Go")
    await at(gate)
    stopped = await other.stop()
    assert stopped["ok"]
    await tab.sees_the_end()
    await other.sees_the_end()
    await equal_pages(tab, other)
    assert "Stopped by you" in tab.page.text_of("t")
    assert "never said" not in tab.page.text_of("t")
    gate.open()


async def test_a_stop_while_a_tool_runs(site: Site) -> None:
    """A5: an open call becomes an interrupted one."""
    tab = await site.tab()
    gate = Gate()
    site.provider.script(reply(Say("I will."), Call("calculator", {"expression": "1"}), gate))
    await tab.send("Go")
    await at(gate)
    await tab.stop()
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    gate.open()


async def test_a_stop_without_an_answer_is_refused_in_words(site: Site) -> None:
    """A5, A12: nothing runs, so there is nothing to stop."""
    tab = await site.tab()
    refused = await tab.stop()
    assert refused["error_key"] == "error.chat_no_active_generation"
    await eventually(lambda: refused["message"] in tab.page.text_of("toasts"))
    await tab.equals_a_fresh_page()


@pytest.mark.parametrize("seed", range(4))
async def test_a_second_page_loaded_in_the_middle(site: Site, seed: int) -> None:
    """A8: whoever comes in the middle sees the same, at once and at the end."""
    tokens = mixed(120, seed)
    gate = Gate()
    cut = 20 + 23 * seed
    tab = await site.tab()
    site.provider.script(
        reply(Think("Thinking first"), Say(tokens[:cut]), gate, Say(tokens[cut:], ms=1))
    )
    await tab.send("Go")
    await at(gate)
    second = await site.tab()
    await equal_pages(tab, second)
    gate.open()
    third = await site.tab()
    await tab.sees_the_end()
    await second.sees_the_end()
    await third.sees_the_end()
    await equal_pages(tab, second, third)


@pytest.mark.parametrize("seed", range(6))
async def test_a_socket_cut_and_opened_again(site: Site, seed: int) -> None:
    """A8: what was missed is added to what is shown; nothing is drawn twice."""
    tokens = mixed(160, 100 + seed)
    gates = [Gate(), Gate(), Gate()]
    tab = await site.tab()
    first, second = 15 + 20 * seed, 40 + 20 * seed
    site.provider.script(
        reply(Think("Hm, "), Think("well."), Say(tokens[:first]), gates[0], SUM),
        reply(Say(tokens[first:second]), gates[1], Say(tokens[second:]), gates[2]),
    )
    await tab.send("Go")
    await at(gates[0])
    if seed % 2:
        await tab.equals_a_fresh_page()
    await tab.cut()
    gates[0].open()
    await at(gates[1])
    await tab.open()
    await tab.equals_a_fresh_page()
    await tab.cut()
    gates[1].open()
    await at(gates[2])
    gates[2].open()
    if seed % 3 == 0:
        await eventually(lambda: site.provider.requests[-1].answered_at)
    await tab.open()
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()


@pytest.mark.parametrize("state", ["queued", "running"])
async def test_a_page_that_left_while_a_tool_ran_gets_one_card_not_two(
    site: Site, state: str
) -> None:
    """A card that is shown in another state is replaced, never added again."""
    gates = [Gate(), Gate()]
    tab = await site.tab()
    site.provider.script(
        reply(Say("Let me see."), Call("calculator", '{"expression": '), gates[0]),
        reply(Say("Well,"), gates[1], Say("that failed.")),
    )
    await tab.send("Go")
    await at(gates[0])
    await tab.until(lambda: "Calculator" in tab.page.text_of("t"))
    await tab.cut()
    gates[0].open()
    await at(gates[1])
    await tab.open()
    await tab.sees("Well,")
    await tab.equals_a_fresh_page()
    gates[1].open()
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()


async def test_a_text_that_ended_is_not_ended_again_after_a_reconnect(site: Site) -> None:
    """What a text holds back is shown at its end, once."""
    gates = [Gate(), Gate()]
    tab = await site.tab()
    site.provider.script(
        reply(Say("Term[^1] is long\n\n[^1]: a note\n\n1"), SUM),
        reply(gates[0], Say("Go"), gates[1], Say(" on.")),
    )
    await tab.send("Go")
    await at(gates[0])
    await tab.equals_a_fresh_page()
    await tab.cut()
    gates[0].open()
    await at(gates[1])
    await tab.open()
    await tab.sees("Go")
    await tab.equals_a_fresh_page()
    gates[1].open()
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()


async def test_two_readers_in_two_languages(site: Site) -> None:
    """A13: each sees the stream in its own language, and equals its own reload."""
    english = await site.tab()
    chinese = await site.tab(site.alice.speaking("zh-hans"))
    gate = Gate()
    site.provider.script(
        reply(Think("Hm."), SUM),
        reply(Say("The answer is **42**.\n\n```python\nx = 1\n```\n"), gate),
    )
    await english.send("How much?")
    await at(gate)
    await equal_pages(english, chinese)
    gate.open()
    await english.sees_the_end()
    await chinese.sees_the_end()
    await equal_pages(english, chinese)
    assert "Calculator" in english.page.text_of("t")
    assert "计算器" in chinese.page.text_of("t")
    assert "计算器" not in english.page.text_of("t")


async def test_a_reader_of_another_language_who_comes_back(site: Site) -> None:
    """A13: what the page says by itself inside a text is in the reader's language, too."""
    gate = Gate()
    chinese = await site.tab(site.alice.speaking("zh-hans"))
    site.provider.script(
        reply("Words", gate, " and\n\n```python\nx = 1\n```\n\n[^1]\n\n[^1]: note\n")
    )
    await chinese.send("Go")
    await chinese.sees("Words")
    await chinese.cut()
    await chinese.open()
    gate.open()
    await chinese.sees_the_end()
    await chinese.equals_a_fresh_page()
    assert "复制" in str(normal(chinese.page))


@pytest.mark.parametrize(
    "answer",
    [
        refuse(401, {"error": {"message": "bad key"}}),
        refuse(400, {"error": {"message": "no such thing"}}),
        reply("Half a sentence", Drop(), finish=None, done=False),
        reply(Think("Hm"), Drop("reset"), finish=None, done=False),
    ],
    ids=["401", "400", "cut off", "reset"],
)
async def test_a_failing_provider(site: Site, answer: object) -> None:
    """A12: the reason stands under the answer, what was said stays."""
    tab, staff = await site.tab(), await site.tab()
    site.provider.script(answer)  # type: ignore[arg-type]
    site.provider.answer = refuse(400)
    await tab.send("Go")
    await tab.sees_the_end()
    await staff.sees_the_end()
    await equal_pages(tab, staff)
    assert tab.page.select("#f2")[0].get("data-state") == "failed"


@pytest.mark.parametrize(
    "question", ["/fail 401", "/fail overloaded", "/think 30 /tools 2 /slow 1 hello"]
)
async def test_the_demo_model(site: Site, question: str) -> None:
    """The commands of the demo show the same on both ways."""
    demo = await in_thread(lambda: make.LanguageModel.objects.get(provider__kind="demo"))()
    talk = await in_thread(make.a_conversation)(site.alice.user, model=demo)
    tab = await site.tab(talk=talk)
    await tab.send(question)
    await tab.until(lambda: tab.running)
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()


async def test_an_empty_conversation_gets_its_title_live(site: Site) -> None:
    """The first words become the title; the heading, the tab and the column say it."""
    talk = await in_thread(make.a_conversation)(site.alice.user, title="")
    tab = await site.tab(talk=talk)
    site.provider.script("Fine.")
    await tab.send("How are you today?")
    await tab.sees("Fine.")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    assert tab.page.text_of("title") == "How are you today?"


async def test_a_provider_that_is_asked_again(site: Site) -> None:
    """While it waits the foot says so; with the first word it says what it said before."""
    gate = Gate()
    tab = await site.tab()
    site.provider.script(
        refuse(429, {"error": {"message": "slow down"}}, retry_after="1"),
        reply("Now", gate, " then."),
    )
    await tab.send("Go")
    await tab.sees("Trying again")
    await at(gate)
    await tab.sees("Now")
    await tab.equals_a_fresh_page()
    gate.open()
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()


async def test_the_column_of_every_page_shows_what_runs(site: Site) -> None:
    """A8: a page of another conversation sees the live dot come and go."""
    other = await in_thread(make.a_conversation)(site.alice.user, title="Another talk")
    elsewhere = await site.tab(talk=other)
    tab = await site.tab()
    gate = Gate()
    site.provider.script(reply("Now", gate))
    await tab.send("Go")
    await at(gate)
    await elsewhere.until(lambda: elsewhere.page.select(f"#c-{site.talk.pk}>a>:nth-child(2)"))
    await equal_pages(tab, elsewhere)
    gate.open()
    await tab.sees_the_end()
    await equal_pages(tab, elsewhere)


async def test_what_is_kept_is_what_was_shown(site: Site) -> None:
    """A10: the rows say the same as the page."""
    tab = await site.tab()
    site.provider.script(reply(Think("Hm."), Say("All of **this**."), ms=5))
    await tab.send("Go")
    await tab.sees_the_end()
    await asyncio.sleep(0)
    answer = await in_thread(lambda: Message.objects.get(role="assistant"))()
    texts = await in_thread(
        lambda: list(answer.parts.filter(type="text").values_list("text", flat=True))
    )()
    assert (answer.status, texts) == ("success", ["All of **this**."])


async def test_a_reader_who_waits(site: Site) -> None:
    """Nothing comes for a while: the page says so, and is not drawn again meanwhile."""
    tab = await site.tab()
    site.provider.script(reply("Word", Wait(0.7), " and word."))
    await tab.send("Go")
    await tab.sees("Word")
    await tab.equals_a_fresh_page()
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()


async def test_who_answers_next_is_the_same_in_every_tab(site: Site) -> None:
    """Also in one that was away, and while an answer is written."""
    model = await in_thread(lambda: make.a_model(make.a_provider(name="B"), model_id="b"))()
    tab, other, away = await site.tab(), await site.tab(), await site.tab()
    gate = Gate()
    site.provider.script(reply(Say("Half"), gate, Say(" and whole.")))
    await tab.send("Go")
    await at(gate)
    await away.cut()
    address = f"/c/{site.talk.pk}/choose/"
    assert (await site.alice.client.post(address, {"model": str(model.pk)})).status_code == 302
    for each in (tab, other):
        await each.until(lambda each=each: str(model.pk) == each.page.shown()["chosen"]["model"])
        await each.equals_a_fresh_page()
    await away.open()
    await away.equals_a_fresh_page()
    gate.open()
    await tab.sees_the_end()
    await equal_pages(tab, other, away)


async def test_a_window_of_its_own_is_told_of_no_column(site: Site) -> None:
    """What has no place on a page would make it say again and again what it shows."""
    tab = await Tab(site.alice, site.talk.pk).load()
    wire = tab.connect()
    assert await wire.accepted()
    shown = tab.page.shown()
    attach = {"command": "attach", "tab_id": "w", "client_id": "a", "column": None}
    wire.send(json.dumps({**attach, "shown": {**shown, "chosen": None}}))
    heard = ""
    for title in ("One", "Two"):
        form = {"rename": str(site.talk.pk), "title": title}
        await site.alice.client.post("/organise/", form)
        while f'data-title="{title}"' not in heard:
            heard += await wire.receive()
    await site.alice.client.post(f"/c/{site.talk.pk}/choose/", {"model": "", "agent": ""})
    await wire.close()
    assert 'id="column"' not in heard
    assert 'id="c-' not in heard
