"""What is sent while an answer runs waits in the queue, where everybody sees it (A4)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from django.conf import settings as django_settings

from chat.models import Attachment, Conversation, LanguageModel, Message, QueuedMessage, View
from chat.services.processes import presence
from chat.services.processes.presence import stop_unwatched
from chat.services.runs.run import RUNS
from chat.services.turns.queue import send_due
from tests.support import factories as make
from tests.support.model_server import Gate, reply
from tests.support.site import Programs, Site
from tests.support.tabs import Tab, equal_pages, in_thread
from tests.support.waiting import eventually

pytestmark = pytest.mark.both_databases


async def begin(site: Site, tab: Tab, *later: str) -> Gate:
    """An answer runs until the gate is opened; the next ones come at once."""
    gate = Gate()
    site.provider.script(reply("First", gate), *(reply(text) for text in later))
    assert (await tab.send("Begin"))["ok"]
    await tab.sees("First")
    return gate


async def queue(tab: Tab, text: str, **values: Any) -> str:
    """Send while an answer runs; the id of the message that waits."""
    answer = await tab.ask("send", content=text, queue=True, **values)
    assert answer["ok"], answer
    assert answer["queued"]
    await tab.until(lambda: text in tab.page.text_of("queue"))
    return str(answer["message_id"])


def waiting(tab: Tab) -> list[str]:
    return [li.get("data-id", "") for li in tab.page.by_id("queue")]


def state(tab: Tab) -> str:
    return tab.page.by_id("queue-head").get("data-state", "")


@in_thread
def asked(talk: Conversation) -> list[str]:
    rows = Message.objects.shown().filter(conversation=talk, role="user").order_by("position")
    return ["".join(row.parts.values_list("text", flat=True)) for row in rows]


async def all_answered(tab: Tab) -> None:
    await tab.until(lambda: not waiting(tab) and not RUNS)
    await tab.sees_the_end()


async def test_queued_messages_are_sent_one_by_one_in_their_order(site: Site) -> None:
    one, other = await site.tab(), await site.tab()
    gate = await begin(site, one, "Second.", "Third.")
    first, second = await queue(one, "Then this"), await queue(other, "And that")
    assert waiting(one) == [first, second]
    await equal_pages(one, other)
    gate.open()
    await all_answered(one)
    assert await asked(site.talk) == ["Begin", "Then this", "And that"]
    shown = [each.get("data-id") for each in one.page.messages()]
    assert [key for key in shown if key in (first, second)] == [first, second], "they keep their id"
    await equal_pages(one, other)


async def test_nothing_is_queued_for_who_does_not_ask_for_it(site: Site) -> None:
    """A4"""
    tab = await site.tab()
    gate = await begin(site, tab)
    refused = await tab.ask("send", content="And?")
    assert refused["error_key"] == "error.chat_generation_in_progress"
    assert not await in_thread(QueuedMessage.objects.exists)()
    gate.open()
    await tab.sees_the_end()


async def test_it_goes_on_with_no_tab_open(site: Site) -> None:
    tab = await site.tab()
    gate = await begin(site, tab, "Second.")
    await queue(tab, "Then this")
    await tab.cut()
    gate.open()
    await eventually(lambda: not RUNS and len(site.provider.requests) == 2)
    assert await asked(site.talk) == ["Begin", "Then this"]
    await tab.open()
    await tab.equals_a_fresh_page()


async def long_after(do: Callable[[], Awaitable[None]]) -> None:
    """When what was asked without a socket, or through one that is gone, is long ago."""
    presence._seen.clear()
    for run in RUNS.values():
        run.began_at = float("-inf")
    await do()
    await asyncio.sleep(0)


async def test_nobody_need_watch_what_is_queued(site: Site) -> None:
    """A8: neither the answer in front of it nor its own is stopped when the last tab is closed."""
    tab = await site.tab()
    gate, second = await begin(site, tab), Gate()
    site.provider.script(reply("Second.", second))
    await queue(tab, "Then this")
    await tab.cut()
    await in_thread(View.objects.all().delete)()
    await long_after(stop_unwatched)
    gate.open()
    await eventually(lambda: len(site.provider.requests) == 2)
    await long_after(stop_unwatched)
    second.open()
    await eventually(lambda: not RUNS)
    ended = await in_thread(lambda: list(Message.objects.filter(role="assistant")))()
    assert [answer.status for answer in ended] == ["success", "success"]


async def test_after_a_stop_the_queue_waits_for_a_person(site: Site) -> None:
    one, other = await site.tab(), await site.tab()
    await begin(site, one, "Second.")
    await queue(one, "Then this")
    await other.stop()
    await one.until(lambda: state(one) == "held")
    await equal_pages(one, other)
    assert await asked(site.talk) == ["Begin"]
    assert (await other.ask("queue-hold", held=False))["ok"]
    await all_answered(one)
    assert await asked(site.talk) == ["Begin", "Then this"]
    await equal_pages(one, other)


async def test_what_is_sent_after_a_stop_does_not_wait_behind_what_is_held(site: Site) -> None:
    tab = await site.tab()
    await begin(site, tab, "Better.")
    await queue(tab, "Then this")
    await tab.stop()
    answer = await tab.ask("send", content="Something else", queue=True)
    assert "queued" not in answer, answer
    await tab.sees("Better.")
    await tab.sees_the_end()
    assert state(tab) == "held"
    await tab.equals_a_fresh_page()


async def test_after_a_failure_the_queue_waits(site: Site) -> None:
    tab = await site.tab()
    gate = Gate()
    site.provider.script(reply("Half", gate, finish="content_filter"))
    await tab.send("Begin")
    await tab.sees("Half")
    await queue(tab, "Then this")
    gate.open()
    await tab.until(lambda: state(tab) == "held")
    await tab.equals_a_fresh_page()


async def test_send_now_stops_the_answer_and_sends_that_one(site: Site) -> None:
    one, other = await site.tab(), await site.tab()
    await begin(site, one, "Now.", "Later.")
    await queue(one, "Later this")
    now = await queue(one, "Now this")
    sent = await other.ask("queue-send", message_id=now)
    assert sent["ok"], sent
    assert sent["message_id"] == now
    await all_answered(one)
    assert await asked(site.talk) == ["Begin", "Now this", "Later this"]
    await equal_pages(one, other)
    again = await other.ask("queue-send", message_id=now)
    assert again["request_id"] == sent["request_id"], "the same again starts nothing"


async def test_a_queued_message_is_changed_and_removed_in_every_tab(site: Site) -> None:
    one, other = await site.tab(), await site.tab()
    gate = await begin(site, one, "Second.")
    kept, gone = await queue(one, "Tihs"), await queue(one, "No")
    assert (await other.ask("queue-edit", message_id=kept, content="This"))["ok"]
    assert (await other.ask("queue-remove", message_id=gone))["ok"]
    await one.until(lambda: waiting(one) == [kept] and "This" in one.page.text_of("queue"))
    await equal_pages(one, other)
    gate.open()
    await all_answered(one)
    assert await asked(site.talk) == ["Begin", "This"]
    late = await one.ask("queue-edit", message_id=kept, content="Too late")
    assert late["error_key"] == "error.chat_not_queued"
    strange = await one.ask("queue-remove", message_id="nonsense")
    assert strange["error_key"] == "error.chat_not_queued"


async def test_a_held_queue_does_not_go_on_when_the_answer_ends(site: Site) -> None:
    """So that nobody's text is sent while they change it."""
    tab = await site.tab()
    gate = await begin(site, tab, "Second.")
    await queue(tab, "Then this")
    assert (await tab.ask("queue-hold"))["ok"]
    gate.open()
    await tab.sees_the_end()
    assert state(tab) == "held"
    await tab.equals_a_fresh_page()
    assert (await tab.ask("queue-hold", held=False))["ok"]
    await all_answered(tab)


async def test_the_queue_has_an_end(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {**django_settings.PARLEY_LIMITS, "queued_messages": 1}
    monkeypatch.setattr(django_settings, "PARLEY_LIMITS", few)
    tab = await site.tab()
    gate = await begin(site, tab, "Second.")
    await queue(tab, "Then this")
    refused = await tab.ask("send", content="And that", queue=True)
    assert refused["error_key"] == "error.chat_queue_full"
    assert refused["error_data"] == {"limit": 1}
    gate.open()
    await all_answered(tab)


async def test_the_same_send_again_queues_once(site: Site) -> None:
    tab = await site.tab()
    gate = await begin(site, tab, "Second.")
    waits = await queue(tab, "Then this", client_id="same")
    again = await tab.ask("send", content="Then this", queue=True, client_id="same")
    assert again["message_id"] == waits
    assert await in_thread(QueuedMessage.objects.count)() == 1
    gate.open()
    await all_answered(tab)
    late = await tab.ask("send", content="Then this", queue=True, client_id="same")
    assert late["message_id"] == waits, "it was sent meanwhile"
    assert await asked(site.talk) == ["Begin", "Then this"]


async def test_files_wait_with_their_message(site: Site) -> None:
    tab = await site.tab()
    gate = await begin(site, tab, "Second.")
    kept = await in_thread(make.an_attachment)(site.alice.user, filename="kept.txt")
    gone = await in_thread(make.an_attachment)(site.alice.user, filename="gone.txt")
    waits = await queue(tab, "Look", attachments=[str(kept.pk)])
    removed = await queue(tab, "No", attachments=[str(gone.pk)])
    assert "kept.txt" in tab.page.text_of("queue")
    twice = await tab.ask("send", content="Again", queue=True, attachments=[str(kept.pk)])
    assert twice["error_key"] == "error.chat_attachment_not_found"
    await tab.equals_a_fresh_page()
    assert (await tab.ask("queue-remove", message_id=removed))["ok"]
    assert not await in_thread(Attachment.objects.filter(pk=gone.pk).exists)()
    gate.open()
    await all_answered(tab)
    stored = await in_thread(Attachment.objects.get)(pk=kept.pk)
    assert (str(stored.message_id), stored.queued_id) == (waits, None)
    await tab.equals_a_fresh_page()


async def test_a_message_that_cannot_be_sent_waits_for_a_person(site: Site) -> None:
    tab = await site.tab()
    gate = await begin(site, tab)
    await queue(tab, "Then this")
    await in_thread(LanguageModel.objects.update)(enabled=False)
    gate.open()
    await tab.until(lambda: state(tab) == "held" and not tab.running)
    await in_thread(LanguageModel.objects.update)(enabled=True)
    await tab.equals_a_fresh_page()


async def test_what_a_crash_left_in_the_queue_is_sent(site: Site) -> None:
    """Nobody held it, and no answer runs: the process that looks next sends it."""
    tab = await site.tab()
    await in_thread(make.a_queued_message)(site.talk, text="Left over")
    site.provider.script(reply("Found."))
    await send_due()
    await eventually(lambda: not RUNS and site.provider.requests)
    assert await asked(site.talk) == ["Left over"]
    await tab.equals_a_fresh_page()


async def test_a_program_mirrors_the_queue(site: Site, program: Programs) -> None:
    tab = await site.tab()
    one = await program()
    gate = await begin(site, tab, "Second.")
    kept, gone = await queue(tab, "Tihs"), await queue(tab, "No")
    await tab.ask("queue-edit", message_id=kept, content="This")
    await tab.ask("queue-remove", message_id=gone)
    late = await program()
    [snapshot] = late.named("chat:snapshot")
    assert [each["info"]["id"] for each in snapshot["queue"]] == [kept]
    assert snapshot["queue"][0]["parts"][0]["text"] == "This"
    assert not snapshot["held"]
    told = one.named("chat:queue")
    assert [each["messages"][0]["info"]["id"] for each in told[:3]] == [kept, gone, kept]
    assert told[2]["messages"] == snapshot["queue"]
    assert told[3]["removed"] == [gone]
    gate.open()
    await all_answered(tab)
    await eventually(lambda: len(one.named("chat:user-message")) == 2)
    assert one.named("chat:user-message")[1]["message"]["info"]["id"] == kept
    assert len(one.named("chat:snapshot")) == 1, "nothing was missed"


async def test_a_queue_goes_with_its_conversation(site: Site) -> None:
    tab = await site.tab()
    await begin(site, tab)
    await queue(tab, "Then this")
    await tab.ask("delete")
    await eventually(lambda: not RUNS)
    await send_due()
    assert await in_thread(QueuedMessage.objects.count)() == 1, "it may be brought back"
    await in_thread(lambda: Conversation.objects.get(pk=site.talk.pk).delete())()
    assert not await in_thread(QueuedMessage.objects.exists)()
