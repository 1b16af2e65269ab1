"""Continue: an answer that ended early goes on in the same message."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from chat.models import Generation, Message, Part
from tests.support.invariants import ended_runs, faults
from tests.support.model_server import Call, Drop, Reply, Say, Wait, reply
from tests.support.site import Held, Programs, Site
from tests.support.tabs import equal_pages, in_thread
from tests.support.waiting import eventually

SUM = Call("calculator", {"expression": "6*7"}, id="call_sum")
HOLD = Call("hold", {}, id="call_hold")

ENDS: dict[str, Reply] = {
    "length": reply("Half a sentence", finish="length"),
    "failed": reply("Half a sentence", Drop("reset")),
    "stopped": reply("Half a sentence", Wait()),
    "interrupted": reply("Half a sentence", Wait()),
}


@pytest.mark.parametrize("how", ENDS)
async def test_it_goes_on_where_it_ended(how: str, site: Site, program: Programs) -> None:
    """The model reads what it has said, and is asked to go on; the message is the same."""
    tab, one = await site.tab(), await program()
    site.provider.script(ENDS[how], reply(" goes on."))
    begun = await one.send("Go")
    await one.hears("Half a sentence")
    if how == "stopped":
        await one.ask("stop")
    elif how == "interrupted":
        await in_thread(_lose_process)(begun["request_id"])
        from chat.services.processes.recovery import settle_orphans
        from chat.services.runs.flush import flusher

        await flusher.flush()
        assert await settle_orphans() == 1
        await flusher.flush()
    if how == "interrupted":
        await one.until(lambda: one.events[-1]["name"] in ("chat:error", "chat:snapshot"))
    else:
        await one.ends(begun["request_id"])
    ended = await in_thread(ended_runs)()
    answer = await in_thread(Message.objects.get)(role="assistant")
    assert answer.status == {"length": "success", "stopped": "cancelled"}.get(how, "error")
    again = await one.ask("continue", message_id=str(answer.pk))
    assert again["ok"], again
    assert (await one.ends(again["request_id"]))["name"] == "chat:complete"

    after = await in_thread(Message.objects.get)(role="assistant")
    assert (after.pk, after.status, after.error_key) == (answer.pk, "success", "")
    texts = await in_thread(lambda: list(after.parts.filter(type="text").order_by("position")))()
    assert "".join(part.text for part in texts) == "Half a sentence goes on."
    told = site.provider.requests[1].json["messages"]
    assert [message["role"] for message in told[-3:]] == ["user", "assistant", "user"]
    assert told[-2]["content"] == "Half a sentence"
    await tab.sees("goes on.")
    await tab.sees_the_end()
    await equal_pages(tab)
    assert await in_thread(faults)(one.seen, ended=ended) == []


def _lose_process(request_id: str) -> None:
    Generation.objects.filter(pk=request_id).update(process=None)


async def test_a_finished_tool_does_not_run_again(
    site: Site, program: Programs, held: Held
) -> None:
    """17: the model is told what the finished call gave and that the other was interrupted."""
    tab, one = await site.tab(), await program()
    site.provider.script(reply(Say("I will."), SUM, HOLD), reply("It is 42."))
    begun = await one.send("Go")
    await eventually(lambda: held.calls)
    await one.until(lambda: any(e.get("result_json") for e in one.named("chat:tool")))
    await one.ask("stop")
    await one.ends(begun["request_id"])
    answer = await in_thread(Message.objects.get)(role="assistant")
    again = await one.ask("continue", message_id=str(answer.pk))
    await one.ends(again["request_id"])

    told: list[Any] = site.provider.requests[1].json["messages"]
    results = {each["tool_call_id"]: each["content"] for each in told if each["role"] == "tool"}
    assert list(results.values()) == ["42", "[Tool execution was interrupted]"]
    assert told[-1]["role"] == "tool"
    assert len(held.calls) == 1
    sums = await in_thread(Part.objects.filter(tool="calculator").count)()
    assert sums == 1
    await tab.sees("It is 42.")
    await tab.sees_the_end()
    await equal_pages(tab)
    assert await in_thread(faults)(one.seen, calls=held.calls) == []


async def test_what_is_done_cannot_be_continued(site: Site, program: Programs) -> None:
    one = await program()
    site.provider.script("Done.")
    begun = await one.send("Go")
    await one.ends(begun["request_id"])
    answer = await in_thread(Message.objects.get)(role="assistant")
    refused = await one.ask("continue", message_id=str(answer.pk))
    assert refused["error_key"] == "error.chat_nothing_to_continue"


async def test_the_pause_before_going_on_is_no_time_of_the_answer(
    site: Site, program: Programs
) -> None:
    """Of an answer that lay stopped for an hour, what was worked on before and after it counts."""
    one = await program()
    site.provider.script(reply("Half a sentence", Wait()), reply(" goes on", Wait()))
    begun = await one.send("Go")
    await one.hears("Half a sentence")
    await one.ask("stop")
    await one.ends(begun["request_id"])
    hour = timedelta(hours=1)
    earlier = {name: F(name) - hour for name in ("created", "completed_at")}
    await in_thread(Message.objects.filter(role="assistant").update)(**earlier)
    answer = await in_thread(Message.objects.get)(role="assistant")
    tab = await site.tab()
    again = await one.ask("continue", message_id=str(answer.pk))
    await one.hears(" goes on")
    await one.ask("stop")
    await one.ends(again["request_id"])

    [pause] = (await in_thread(Message.objects.get)(role="assistant")).pauses
    assert pause[1] - pause[0] >= hour.total_seconds() * 1000
    await tab.sees("Stopped by you after")
    told = tab.page.text_of("f2").partition("after")[2].split("Continue")[0]
    assert "h" not in told, told
    await tab.equals_a_fresh_page()
