"""A turn on both databases: sent, streamed, flushed, stopped, settled once, and after a crash."""

import asyncio
from datetime import timedelta
from random import Random

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Conversation, Generation, Message, Part, Process
from chat.protocol.errors import ChatError
from chat.protocol.stopped import StoppedBy
from chat.services import Caller
from chat.services.pool import in_pool
from chat.services.processes.recovery import settle_orphans
from chat.services.runs import generate
from chat.services.runs.flush import flusher
from chat.services.runs.run import RUNS
from chat.services.turns.send import send
from tests.support import factories as make
from tests.support.model_server import Call, Gate, Reply, Say, Tally, Think, reply
from tests.support.site import Site
from tests.support.tabs import equal_pages, impatient, in_thread
from tests.support.turn_rows import write_send
from tests.support.waiting import eventually

pytestmark = pytest.mark.both_databases

active = in_thread(lambda: Generation.objects.filter(status="active").count())
answers = in_thread(
    lambda: [
        (row.status, row.error_key, [part.text for part in row.parts.filter(type="text")])
        for row in Message.objects.filter(role="assistant").order_by("position")
    ]
)


async def settled() -> None:
    await eventually(lambda: not RUNS)


async def test_a_turn_is_kept_as_it_was_streamed(site: Site) -> None:
    """A1, A10: rows at the start, flushes on the way, one last write."""
    tab = await site.tab()
    gate = Gate()
    site.provider.script(
        reply(Think("Hm."), Call("calculator", {"expression": "6*7"})),
        reply(Say("It is "), gate, Say("**42**.")),
    )
    sent = await tab.send("How much?")
    assert await active() == 1
    await eventually(gate.reached.is_set)
    await tab.sees("It is")
    await flusher.flush()
    half = await in_thread(
        lambda: list(Part.objects.filter(type="text").values_list("text", flat=True))
    )()
    assert half == ["How much?", "It is "]
    gate.open()
    await tab.sees_the_end()
    await settled()
    run = await in_thread(lambda: Generation.objects.get(pk=sent["request_id"]))()
    assert run.status == "done"
    assert run.finished is not None
    assert await answers() == [("success", "", ["It is **42**."])]
    tools = await in_thread(
        lambda: list(Part.objects.filter(type="tool").values_list("tool_status", flat=True))
    )()
    assert tools == ["completed"]
    await tab.equals_a_fresh_page()


async def test_a_stop_keeps_what_was_said(site: Site) -> None:
    """A5: cancelled, with the words so far; the provider is let go."""
    tab = await site.tab()
    gate = Gate()
    site.provider.script(reply(Say("Half of"), gate, Say(" it")))
    await tab.send("Go")
    await tab.sees("Half of")
    assert (await tab.stop())["ok"]
    await tab.sees_the_end()
    await settled()
    assert await answers() == [("cancelled", "", ["Half of"])]
    await eventually(lambda: site.provider.requests[0].disconnected_at)
    gate.open()


async def test_a_stop_before_the_first_step_of_the_run(site: Site) -> None:
    """A run that never came to run is settled all the same."""
    site.provider.script("Never said.")
    begun = await in_pool(write_send, Caller(site.alice.user.pk), site.talk.pk, "Go")
    assert begun.spec is not None
    generate.start_run(begun.spec, begun.event).stop(StoppedBy(by="Alice"))
    await settled()
    assert [status for status, _, _ in await answers()] == ["cancelled"]
    assert await active() == 0


async def test_a_client_that_leaves_while_it_sends_leaves_nothing_open(site: Site) -> None:
    """The rows and the run belong together, whoever is still there to hear of it."""
    site.provider.script("Said to nobody.")
    sending = asyncio.create_task(send(Caller(site.alice.user.pk), site.talk.pk, "Go"))
    await asyncio.sleep(0)
    sending.cancel()
    await asyncio.wait({sending})
    await eventually(lambda: site.provider.requests)
    await settled()
    assert await answers() == [("success", "", ["Said to nobody."])]


@pytest.mark.parametrize("round", range(6))
async def test_stop_against_the_end(site: Site, round: int) -> None:
    """A5: exactly one of the two wins; the text is whole or the beginning of it."""
    random = Random(round)
    tab, other = await site.tab(), await site.tab()
    gate = Gate()
    site.provider.script(reply(Say("One two "), gate, Say("three.")))
    await tab.send("Go")
    await eventually(gate.reached.is_set)
    gate.open()
    await asyncio.sleep(random.random() * 0.03)
    reply_ = await other.stop()
    await tab.sees_the_end()
    await other.sees_the_end()
    await settled()
    [(status, _, texts)] = await answers()
    assert status in ("success", "cancelled")
    assert "One two three.".startswith("".join(texts))
    if not reply_["ok"]:
        assert status == "success"
    assert await in_thread(lambda: list(Generation.objects.values_list("status", flat=True)))() in (
        ["done"], ["stopped"],
    )  # fmt: skip
    await equal_pages(tab, other)


@pytest.mark.parametrize("round", range(3))
async def test_of_two_sends_at_once_exactly_one_wins(site: Site, round: int) -> None:
    """A4: the other is told that another tab was first, and keeps its text."""
    gate = Gate()
    site.provider.answer = reply(gate, "Fine.")
    one, two = await site.tab(), await site.tab()
    replies = await asyncio.gather(one.ask("send", content="One"), two.ask("send", content="Two"))
    assert sorted(reply["ok"] for reply in replies) == [False, True]
    [refused] = [reply for reply in replies if not reply["ok"]]
    assert refused["error_key"] in (
        "error.chat_generation_in_progress_other_tab", "error.chat_stale",
    )  # fmt: skip
    assert await active() == 1
    gate.open()
    await one.sees_the_end()
    await settled()
    await equal_pages(one, two)


async def test_a_send_while_the_same_tab_runs_is_refused(site: Site) -> None:
    """A4: named as what it is, never queued."""
    gate = Gate()
    site.provider.script(reply("Now", gate))
    tab = await site.tab()
    await tab.send("One")
    refused = await tab.ask("send", content="Two")
    assert refused["error_key"] == "error.chat_generation_in_progress"
    gate.open()
    await tab.sees_the_end()


async def test_a_repeated_send_is_one_message(site: Site) -> None:
    """After a double click, or once more after a reconnect: the same answer to the same id."""
    site.provider.script("Fine.")
    tab = await site.tab()
    replies = [await tab.ask("send", content="Once", client_id="same") for _ in range(3)]
    assert len({reply["request_id"] for reply in replies}) == 1
    assert all(reply["ok"] for reply in replies)
    await tab.sees_the_end()
    assert await in_thread(lambda: Message.objects.filter(role="user").count())() == 1
    await tab.equals_a_fresh_page()


async def test_what_a_dead_process_left_is_settled_with_its_text(site: Site) -> None:
    """After a crash: interrupted, the text kept, and an open page is told."""

    @transaction.atomic  # the sweep takes a dead process without a run away at once
    def left_behind() -> Process:
        dead = make.a_process(lease=timezone.now() - timedelta(days=2))
        said = make.a_message_with_parts(site.talk, text="Go")
        answer = make.a_message(site.talk, "assistant", status="streaming", parent=said)
        make.a_text_part(answer, "Half of")
        make.a_generation(answer, process=dead, user=site.alice.user, flushed_seq=4)
        return dead

    dead = await in_thread(left_behind)()
    with impatient():
        tab = await site.tab()
        assert await settle_orphans() in (0, 1)  # the sweep may have been first
        await tab.sees_the_end()
        await tab.equals_a_fresh_page()
    assert await answers() == [("error", "error.chat_interrupted", ["Half of"])]
    assert await active() == 0
    assert not await in_thread(Process.objects.filter(pk=dead.pk).exists)()
    site.provider.script("On we go.")
    assert (await tab.send("And now?"))["ok"]
    await tab.sees_the_end()


async def test_a_run_whose_process_was_taken_for_dead_says_nothing_more(site: Site) -> None:
    """The old owner can no longer write: whoever settled it has the last word."""
    gate = Gate()
    site.provider.script(reply("Half of", gate, " it"))
    with impatient():
        tab = await site.tab()
        await tab.send("Go")
        await tab.sees("Half of")
        await flusher.flush()
        long_ago = timezone.now() - timedelta(minutes=1)

        @transaction.atomic  # the sweep takes a dead process without a run away at once
        def taken_for_dead() -> None:
            Generation.objects.update(process=make.a_process(lease=long_ago))

        await in_thread(taken_for_dead)()
        assert await settle_orphans() in (0, 1)  # the sweep may have been first
        gate.open()
        await flusher.flush()
        await settled()
        await tab.sees_the_end()
        await tab.equals_a_fresh_page()
    assert await answers() == [("error", "error.chat_interrupted", ["Half of"])]


async def test_a_process_that_has_only_slept_keeps_what_nobody_has_taken(site: Site) -> None:
    """Its lease has run out, and it wakes up before anybody has looked."""
    gate = Gate()
    site.provider.script(reply("Half of", gate, " it"))
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees("Half of")
    await in_thread(Process.objects.update)(lease=timezone.now() - timedelta(minutes=1))
    assert await settle_orphans() == 0
    gate.open()
    await tab.sees_the_end()
    assert await answers() == [("success", "", ["Half of it"])]


async def test_a_process_that_goes_down_settles_its_runs(site: Site) -> None:
    """Shutdown: every answer is ended with its text before the process is."""
    gate = Gate()
    site.provider.script(reply("Half of", gate, " it"))
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees("Half of")
    await generate.stop_all_runs()
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    assert await answers() == [("error", "error.chat_shutdown", ["Half of"])]
    gate.open()


async def test_an_answer_that_cannot_be_kept_is_ended_nevertheless(site: Site) -> None:
    """A provider that counts beyond every column leaves no answer for ever unfinished."""
    site.provider.script(Reply((Say("Hello."),), usage=Tally(input=10**30)))
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees_the_end()
    await settled()
    await tab.equals_a_fresh_page()
    assert await active() == 0


async def test_fifty_conversations_started_within_a_second_all_start(
    site: Site, settings: object
) -> None:
    """A4: parallel across conversations; the database refuses nobody."""
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "generations_per_user": 60}  # type: ignore[attr-defined]
    site.provider.answer = reply("Fine, ", "thank you.", ms=1)
    caller = Caller(site.alice.user.pk)
    talks = await in_thread(lambda: [make.a_conversation(site.alice.user) for _ in range(50)])()
    began = await asyncio.gather(*(send(caller, talk.pk, "Go") for talk in talks))
    assert len({one.request_id for one in began}) == 50
    await settled()
    assert await answers() == [("success", "", ["Fine, thank you."])] * 50
    processes = await in_thread(lambda: Generation.objects.values("process").distinct().count())()
    assert processes == 1


async def test_a_person_cannot_start_more_than_their_share(site: Site, settings: object) -> None:
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "generations_per_user": 1}  # type: ignore[attr-defined]
    gate = Gate()
    site.provider.answer = reply(gate, "Fine.")
    other = await in_thread(make.a_conversation)(site.alice.user)
    caller = Caller(site.alice.user.pk)
    await send(caller, site.talk.pk, "Go")
    with pytest.raises(ChatError, match="too_many_generations"):
        await send(caller, other.pk, "Go")
    gate.open()
    await settled()


async def test_a_page_costs_the_same_queries_however_long_the_conversation(site: Site) -> None:
    def queries(messages: int) -> int:
        from django.test import Client

        talk = make.a_conversation(site.alice.user)
        make.a_talk(talk, messages)
        client = Client()
        client.force_login(site.alice.user)
        client.get(f"/c/{talk.pk}/")
        with CaptureQueriesContext(connection) as found:
            assert client.get(f"/c/{talk.pk}/").status_code == 200
        return len(found)

    assert await in_thread(queries)(10) == await in_thread(queries)(1000)


async def test_a_conversation_deleted_while_it_is_answered_leaves_nothing(site: Site) -> None:
    """No ghost rows, no error: the run ends, the page is sent away."""
    gate = Gate()
    site.provider.script(reply("Half of", gate, " it"))
    with impatient():
        tab = await site.tab()
        await tab.send("Go")
        await tab.sees("Half of")
        await in_thread(lambda: Conversation.objects.get(pk=site.talk.pk).delete())()
        await flusher.flush()
        gate.open()
        await settled()
        await tab.until(lambda: tab.closed == 4404)
    assert await in_thread(Part.objects.count)() == 0
