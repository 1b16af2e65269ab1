"""A5: stop, at every point of an answer."""

import time
from typing import Any

import pytest

from chat.models import DailyUsage, Generation, LanguageModel, Message
from tests.support.invariants import faults
from tests.support.model_server import Call, Gate, Say, Think, Wait, refuse, reply
from tests.support.site import Held, Programs, Site
from tests.support.tabs import equal_pages, in_thread
from tests.support.waiting import eventually, quickest

HOLD = Call("hold", {}, id="call_1")
SUM = Call("calculator", {"expression": "6*7"}, id="call_2")


def last_answer() -> dict[str, Any]:
    """The answer as it is kept: state, texts, calls."""
    row = Message.objects.filter(role="assistant").latest("position")
    parts = list(row.parts.order_by("position"))
    return {
        "status": row.status,
        "finish": row.finish_reason,
        "who": row.error_data,
        "text": "".join(part.text for part in parts if part.type == "text"),
        "thought": "".join(part.text for part in parts if part.type == "reasoning"),
        "calls": {part.call_id: part.data["state"] for part in parts if part.type == "tool"},
        "open": [part.pk for part in parts if part.type == "text" and part.ended_at is None],
    }


# What the model says before it is stopped, and what of it is kept.
MOMENTS: dict[str, tuple[list[Any], str, str]] = {
    "before the first byte": ([], "", ""),
    "before the first token": ([], "", ""),
    "in text": ([Say("Half a sent")], "Half a sent", ""),
    "in thinking": ([Think("Let me see")], "", "Let me see"),
    "after thinking, in text": ([Think("Hm."), Say("Well,")], "Well,", "Hm."),
    "in the arguments of a call": (
        [Say("I will."), Call("calculator", '{"expression": "1', id="call_3")],
        "I will.",
        "",
    ),
    "at the very end": ([Say("All is said.")], "All is said.", ""),
}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_what_was_said_is_kept_and_the_request_is_closed(
    moment: str, site: Site, program: Programs
) -> None:
    """Stopped in the midst of a model call: one terminal state, upstream gone."""
    said, text, thought = MOMENTS[moment]
    gate = Gate()
    if moment == "before the first byte":
        site.provider.script(reply(before=(gate,)))
    else:
        site.provider.script(reply(*said, gate))
    page, one = await site.tab(), await program()
    begun = await one.send("Go")
    await eventually(gate.reached.is_set)
    if text or thought:
        await one.hears((text or thought)[-4:])
    assert (await one.ask("stop"))["ok"]
    ended = await one.ends(begun["request_id"])
    await site.provider.until(lambda provider: provider.requests[0].disconnected_at)

    assert ended["name"] == "chat:stopped"
    assert (ended["status"], ended["by"]) == ("cancelled", "Alice")
    kept = await in_thread(last_answer)()
    assert (kept["status"], kept["finish"]) == ("cancelled", "cancelled")
    assert (kept["text"], kept["thought"], kept["open"]) == (text, thought, [])
    await page.sees("Stopped by you")
    await equal_pages(page)
    assert await in_thread(faults)(one.seen) == []
    gate.open()


async def test_a_stop_while_a_tool_runs_closes_the_call(
    site: Site, program: Programs, held: Held
) -> None:
    """44: what the tool would have said counts no more."""
    site.provider.script(reply(Say("I will."), HOLD, SUM))
    page, one = await site.tab(), await program()
    begun = await one.send("Go")
    await eventually(lambda: held.calls)
    await one.until(
        lambda: any(
            event["tool_call_id"] == "call_2" and event["type"] == "result"
            for event in one.named("chat:tool")
        )
    )
    await one.ask("stop")
    await one.ends(begun["request_id"])
    await eventually(lambda: held.cancelled)
    held.go.set()
    kept = await in_thread(last_answer)()
    assert kept["calls"]["call_1"]["error"] == "Tool execution aborted"
    assert kept["calls"]["call_1"]["metadata"]["interrupted"] is True
    assert kept["calls"]["call_2"]["output"] == "42"
    await page.sees("Stopped by you")
    await equal_pages(page)
    assert await in_thread(faults)(one.seen, calls=held.calls) == []


async def test_a_stop_closes_the_request_within_300_ms(site: Site, program: Programs) -> None:
    one = await program()

    async def stopped() -> float:
        gate = Gate()
        site.provider.script(reply("Half a sent", gate))
        begun = await one.send("Go")
        await eventually(gate.reached.is_set)
        request = site.provider.requests[-1]
        before = time.monotonic()
        await one.ask("stop")
        await site.provider.until(lambda _: request.disconnected_at)
        await one.ends(begun["request_id"])
        return request.disconnected_at - before  # type: ignore[operator]

    assert await quickest(stopped, 0.3) < 0.3


async def test_a_stop_ends_a_tool_within_a_second(
    site: Site, program: Programs, held: Held
) -> None:
    """44"""
    one = await program()

    async def stopped() -> float:
        held.calls.clear()
        site.provider.script(reply(HOLD))
        begun = await one.send("Go")
        await eventually(lambda: held.calls)
        before = time.monotonic()
        await one.ask("stop")
        await one.ends(begun["request_id"])
        return time.monotonic() - before

    assert await quickest(stopped, 1) < 1


async def test_a_stop_between_two_steps(site: Site, program: Programs) -> None:
    """The first step is whole, the second has not begun."""
    gate = Gate()
    site.provider.script(reply(Say("First."), SUM), reply(before=(gate,)))
    one = await program()
    begun = await one.send("Go")
    await eventually(gate.reached.is_set)
    await one.ask("stop")
    await one.ends(begun["request_id"])
    kept = await in_thread(last_answer)()
    assert kept["status"] == "cancelled"
    assert kept["calls"]["call_2"]["output"] == "42"
    assert await in_thread(faults)(one.seen) == []
    gate.open()


@pytest.mark.parametrize("stopped", ["in text", "in a tool", "before the first token"])
async def test_the_next_turn_is_one_a_provider_accepts(
    stopped: str, site: Site, program: Programs, held: Held
) -> None:
    """No call without its result, none left open, and the roles in order."""
    said: dict[str, list[Any]] = {
        "in text": [Say("Half a sent"), Wait()],
        "in a tool": [Say("I will."), HOLD],
        "before the first token": [Wait()],
    }
    site.provider.script(reply(*said[stopped]), reply("Again."))
    one = await program()
    begun = await one.send("First")
    if stopped == "in text":
        await one.hears("Half a sent")
    elif stopped == "in a tool":
        await eventually(lambda: held.calls)
    else:
        await site.provider.until(lambda provider: provider.requests)
    await one.ask("stop")
    await one.ends(begun["request_id"])
    again = await one.send("Second")
    assert (await one.ends(again["request_id"]))["name"] == "chat:complete"

    messages = site.provider.requests[1].json["messages"]
    told = [message for message in messages if message["role"] != "system"]
    expected = {
        "in text": ["user", "assistant", "user"],
        "in a tool": ["user", "assistant", "tool", "user"],
        # Nothing was said between the two questions: they are one message.
        "before the first token": ["user"],
    }
    assert [message["role"] for message in told] == expected[stopped]
    assert told[-1]["content"].endswith("Second")
    if stopped == "in a tool":
        assert told[2]["tool_call_id"] == told[1]["tool_calls"][0]["id"]
        assert told[2]["content"] == "[Tool execution was interrupted]"


async def test_who_stopped_it_is_told_to_everybody(site: Site, program: Programs) -> None:
    """“by you” to whoever did, in every tab of theirs and in their language; else the name."""
    site.provider.script(reply("Well,", Wait()))
    english, chinese = await site.tab(), await site.tab(site.alice.speaking("zh-hans"))
    await english.send("Go")
    await english.sees("Well,")
    await chinese.stop()
    await english.sees("Stopped by you")
    await chinese.sees_the_end()
    await equal_pages(english, chinese)
    # Another name: an administrator stopped it, or the account changed hands.
    await in_thread(Message.objects.filter(role="assistant").update)(
        error_data={"by_id": "0", "by": "Bob", "reason": ""}
    )
    fresh = await site.alice.page(site.talk.pk)
    assert "Bob" in fresh.text_of("t")


async def test_a_stop_without_a_run_is_refused(site: Site, program: Programs) -> None:
    """A5, A12."""
    one = await program()
    refused = await one.ask("stop")
    assert refused["error_key"] == "error.chat_no_active_generation"
    site.provider.script("Done.")
    begun = await one.send("Go")
    await one.ends(begun["request_id"])
    refused = await one.ask("stop")
    assert refused["error_key"] == "error.chat_no_active_generation"


async def test_a_stop_that_means_an_earlier_run_leaves_the_next_alone(
    site: Site, program: Programs
) -> None:
    """A9: a program names the run it wants to be rid of."""
    one = await program()
    site.provider.script("First.", reply("Second", Wait()))
    first = await one.send("One")
    await one.ends(first["request_id"])
    second = await one.send("Two")
    await one.hears("Second")
    refused = await one.ask("stop", request_id=first["request_id"])
    assert refused["error_key"] == "error.chat_no_active_generation"
    assert (await in_thread(Generation.objects.get)(pk=second["request_id"])).status == "active"
    assert (await one.ask("stop", request_id=second["request_id"]))["ok"]
    await one.ends(second["request_id"])


async def test_ten_stops_at_once_are_one(site: Site, program: Programs) -> None:
    one, two = await program(), await program()
    site.provider.script(reply("Well,", Wait()))
    begun = await one.send("Go")
    await one.hears("Well,")
    asked = [(who, who.say("stop")) for who in (one, two) for _ in range(4)]
    await one.ends(begun["request_id"])
    await two.ends(begun["request_id"])
    replies = [await who.reply(client_id) for who, client_id in asked]
    assert {each.get("error_key", "ok") for each in replies} <= {
        "ok",
        "error.chat_no_active_generation",
    }
    assert await in_thread(faults)(one.seen, two.seen) == []


async def test_what_a_stopped_answer_used_is_estimated(site: Site) -> None:
    """BR-13: its provider had no time to say it; the step says that it is an estimate."""

    def with_prices() -> None:
        LanguageModel.objects.filter(model_id="scripted-small").update(
            input_price=1000, output_price=1000
        )

    await in_thread(with_prices)()
    tab = await site.tab()
    site.provider.script(
        reply(Think("Let me see. " * 20), Say("Half a sentence. " * 20 + "There"), Wait())
    )
    await tab.send("Tell me a long story, please.")
    await tab.sees("There")
    await tab.stop()
    await tab.sees_the_end()
    row = await in_thread(Message.objects.get)(role="assistant")
    assert row.input_tokens > 5
    assert 60 < row.output_tokens < 120
    assert 40 < row.reasoning_tokens < 90
    assert row.cost > 0
    step = await in_thread(row.parts.get)(type="step-finish")
    assert step.data["reason"] == "cancelled-estimated"
    await tab.equals_a_fresh_page()


async def test_what_was_read_before_the_first_word_is_counted(site: Site) -> None:
    """A long conversation that is sent and stopped, again and again, is read each time."""
    tab = await site.tab()
    site.provider.script(reply(Wait()))
    await tab.send("Read this, please. " * 100)
    await eventually(lambda: site.provider.requests)
    await tab.stop()
    await tab.sees_the_end()
    row = await in_thread(Message.objects.get)(role="assistant")
    assert row.input_tokens > 400
    assert row.output_tokens == 0
    [day] = await in_thread(lambda: list(DailyUsage.objects.all()))()
    assert day.input_tokens == row.input_tokens
    await tab.equals_a_fresh_page()


async def test_a_request_that_was_refused_costs_nothing(site: Site) -> None:
    tab = await site.tab()
    site.provider.script(refuse(401))
    await tab.send("Read this, please. " * 100)
    await tab.sees_the_end()
    row = await in_thread(Message.objects.get)(role="assistant")
    assert (row.status, row.input_tokens) == ("error", 0)
