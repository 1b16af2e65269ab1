"""What a failing provider must never do: go on unseen, hold a thread, or learn and tell a key."""

import asyncio
import json
import logging
import threading
from typing import Any

import pytest

from chat.models import Agent, LanguageModel, Message, Provider
from chat.providers import registry
from chat.providers.retry import RetryPolicy
from chat.services.broadcast import tell_processes
from chat.services.notes import TryNow
from chat.services.runs.run import RUNS
from tests.support import factories as make
from tests.support.model_server import Gate, ScriptedProvider, Wait, refuse, reply
from tests.support.model_server.faults import fault
from tests.support.process import free_port
from tests.support.program import Program
from tests.support.site import Site
from tests.support.sockets import Wire
from tests.support.tabs import Tab, equal_pages, in_thread
from tests.support.waiting import PATIENCE, eventually
from tests.support.world import KEY


class Pause:
    """A nap that lasts until the test says so."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)
        await self.over.wait()


async def test_a_retry_is_seen_and_gone_when_the_answer_comes(
    failing: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """chat:retry: in the reader's language, with the wait the provider asked for."""
    pause = Pause()
    monkeypatch.setattr(registry, "_retry", RetryPolicy(sleep=pause))
    english, chinese = await failing.tab(), await failing.tab(failing.alice.speaking("zh-hans"))
    failing.provider.script(refuse(429, {"error": {"message": "slow"}}, retry_after="3"), "Here.")

    await english.send("Hello?")
    await english.sees("Trying again in 3 s (2 of 5)")
    await chinese.until(lambda: "（第 2 次，共 5 次）" in chinese.page.text_of("t"))
    assert pause.waits == [3]
    # Whoever comes during the wait sees it as well, on a page that is loaded now too.
    late = await failing.alice.page(failing.talk.pk)
    assert "Trying again in" in late.text_of("t")
    assert "Try now" in late.text_of("t")

    pause.over.set()
    await english.sees("Here.")
    await english.sees_the_end()
    await chinese.sees_the_end()
    assert "Trying again" not in english.page.text_of("t")
    assert "重试（" not in chinese.page.text_of("t")
    await english.equals_a_fresh_page()
    await chinese.equals_a_fresh_page()


async def test_who_joins_during_a_wait_is_told_of_it(
    failing: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row says that the provider is asked again: the run does."""
    pause = Pause()
    monkeypatch.setattr(registry, "_retry", RetryPolicy(sleep=pause))
    failing.provider.script(refuse(429, {"error": {"message": "slow"}}, retry_after="3"), "Here.")
    early = await failing.tab()
    before = await Tab(failing.alice, failing.talk.pk).load()
    await early.send("Hello?")
    await early.sees("Trying again in 3 s (2 of 5)")

    # One page was loaded before the message, one during the wait.
    during = await Tab(failing.alice, failing.talk.pk).load()
    failing.tabs += [before, during]
    await before.open()
    await before.sees("Trying again in")
    program = await Program(failing.alice, failing.talk.pk).open()
    await program.until(lambda: program.named("chat:snapshot"))
    told = program.named("chat:snapshot")[0]["retry"]
    assert (told["attempt"], told["wait"]) == (2, 3)
    assert told["until"] > 3000
    await program.close()

    pause.over.set()
    for tab in (early, before):
        await tab.sees_the_end()
    # It was over when this one attached.
    await during.open()
    await during.sees_the_end()
    assert "Trying again" not in during.page.text_of("t")
    await equal_pages(early, before, during)


@pytest.mark.parametrize("where", ["here", "in another process"])
async def test_a_wait_can_be_cut_short_in_any_tab(
    where: str, failing: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tabs are told at once that the provider is asked now, and are no longer offered it."""
    monkeypatch.setattr(registry, "_retry", RetryPolicy(sleep=Pause()))
    gate = Gate()
    failing.provider.script(refuse(429, retry_after="900"), reply(gate, "Here."))
    one, other = await failing.tab(), await failing.tab()
    begun = await one.send("Hello?")
    for tab in (one, other):
        await tab.sees("Trying again in 15 min 0 s (2 of 5)")
        await tab.sees("Try now")
    await equal_pages(one, other)
    if where == "here":
        assert (await other.ask("try-now"))["ok"]
    else:
        await tell_processes(TryNow(str(failing.talk.pk), begun["request_id"]))
    for tab in (one, other):
        await tab.sees("Trying again now (2 of 5)")
        assert "Try now" not in tab.page.text_of("t")
    await equal_pages(one, other)
    # Nothing waits any more: to press it again changes nothing.
    assert (await one.ask("try-now"))["ok"]
    gate.open()
    for tab in (one, other):
        await tab.sees("Here.")
        await tab.sees_the_end()
    assert len(failing.provider.requests) == 2
    await equal_pages(one, other)
    refused = await one.ask("try-now")
    assert refused["error_key"] == "error.chat_nothing_waits"


async def test_a_server_that_is_not_running_is_told_after_one_more_try(
    failing: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has forgotten to start a local model is not let wait for half a minute."""
    pause = Pause()
    pause.over.set()
    monkeypatch.setattr(registry, "_retry", RetryPolicy(sleep=pause))
    nobody = f"http://127.0.0.1:{free_port()}/v1"
    await in_thread(Provider.objects.exclude(kind="demo").update)(base_url=nobody)
    tab = await failing.tab()
    await tab.send("Hello?")
    await tab.sees("The provider cannot be reached.")
    await tab.sees_the_end()
    assert pause.waits == [2]
    await tab.equals_a_fresh_page()


async def test_a_wait_between_tries_can_be_stopped(
    failing: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_retry", RetryPolicy(sleep=Pause()))
    tab = await failing.tab()
    failing.provider.script(fault("503"))
    await tab.send("Hello?")
    await tab.sees("Trying again")
    assert (await tab.stop())["ok"]
    await tab.sees_the_end()
    assert "Stopped by you" in tab.page.text_of("t")
    assert len(failing.provider.requests) == 1


async def test_a_conversation_that_is_too_long_is_told_in_plain_words(failing: Site) -> None:
    """A12: with what to do about it known to everybody, not only to staff."""
    tab = await failing.tab()
    failing.provider.answer = fault("400 context")
    await tab.send("Hello?")
    await tab.sees_the_end()
    assert "The conversation is too long for this model." in tab.page.text_of("t")


async def test_stalled_providers_hold_no_threads(failing: Site, settings: Any) -> None:
    """2.3: twenty that say nothing cost twenty sockets, and no thread."""
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "generations_per_user": 100}
    failing.provider.answer = reply(Wait())
    talks = [await in_thread(make.a_conversation)(failing.alice.user) for _ in range(20)]
    before = threading.active_count()
    for talk in talks:
        data = {"content": "Hello?"}
        assert (await failing.alice.client.post(f"/c/{talk.pk}/send/", data)).status_code == 302
    await eventually(lambda: len(failing.provider.requests) >= 20)
    # The few threads that the database and the views use may have been started meanwhile.
    assert threading.active_count() < before + 20
    await eventually(lambda: not RUNS)
    told = await in_thread(lambda: set(Message.objects.values_list("error_key", flat=True)))()
    assert told == {"", "error.chat_provider_stalled"}


@pytest.mark.parametrize("kind", ["openai", "anthropic", "ollama"])
async def test_the_three_wires_answer_and_fail_alike(kind: str, failing: Site) -> None:
    """Each kind of row is spoken to in its own wire, with the key where that wire has it."""

    def change() -> None:
        root = failing.provider.root
        base = root if kind == "ollama" else failing.provider.base_url
        Provider.objects.exclude(kind="demo").update(kind=kind, base_url=base)

    await in_thread(change)()
    tab = await failing.tab()
    failing.provider.script(reply("Hello from afar."), fault("401"), fault("close early"))
    await tab.send("One")
    await tab.sees("Hello from afar.")
    await tab.sees_the_end()
    await tab.send("Two")
    await tab.sees("The provider does not accept our key.")
    await tab.sees_the_end()
    await tab.send("Three")
    await tab.sees("The connection to the provider broke off.")
    await tab.sees_the_end()
    assert "Half an answer" in tab.page.text_of("t")
    assert len(failing.provider.requests) == 3
    sent = failing.provider.requests[0].headers
    assert KEY in (sent["x-api-key"] if kind == "anthropic" else sent["authorization"])


async def test_a_redirect_is_not_followed(failing: Site) -> None:
    with ScriptedProvider(answer=reply("I am somebody else.")) as elsewhere:
        moved = fault("redirect")
        moved.headers["location"] = f"{elsewhere.base_url}/chat/completions"
        failing.provider.script(moved)
        tab = await failing.tab()
        await tab.send("Hello?")
        await tab.sees("There is no model provider at the given address.")
        await tab.sees_the_end()
        assert elsewhere.requests == []


async def test_a_key_that_the_provider_repeats_is_seen_by_nobody(
    failing: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """5.5, 70: not in a log, a page, an event or a row, for staff neither."""
    caplog.set_level(logging.DEBUG)
    await in_thread(_make_staff)(failing)
    wire = Wire(f"/ws/c/{failing.talk.pk}/", failing.alice.headers, ("parley.v1+json",))
    assert await wire.accepted()
    wire.send(json.dumps({"command": "attach", "client_id": "a", "tab_id": "w:1", "shown": {}}))
    tab = await failing.tab()
    echo = {"error": {"message": f"Incorrect API key provided: {KEY}.", "code": "invalid_api_key"}}
    failing.provider.script(refuse(401, echo), *[refuse(500, echo)] * 5)
    for _ in range(2):
        await tab.send("Hello?")
        await tab.sees_the_end()

    assert "Incorrect API key provided: …" in tab.page.text_of("t")
    events: list[str] = []
    while sum('"chat:error"' in event for event in events) < 2:
        events.append(await asyncio.wait_for(wire.receive(), PATIENCE))
    await wire.close()
    page = (await failing.alice.client.get(f"/c/{failing.talk.pk}/")).content.decode()
    rows = await in_thread(lambda: repr(list(Message.objects.values())))()
    assert KEY not in caplog.text
    assert KEY not in page + "".join(events) + rows
    assert KEY not in repr(registry.Connection(kind="openai", api_key=KEY))


def _make_staff(site: Site) -> None:
    site.alice.user.is_staff = True
    site.alice.user.save()


async def test_a_model_that_is_switched_off_or_gone_is_told(failing: Site) -> None:
    """A12: refused before anything is written, with the reason."""
    tab = await failing.tab()
    await in_thread(Provider.objects.exclude(kind="demo").update)(enabled=False)
    refused = await tab.send("Hello?")
    assert refused["error_key"] == "error.chat_provider_not_enabled"
    await in_thread(LanguageModel.objects.update)(enabled=False)
    assert (await tab.send("Hello?"))["error_key"] == "error.chat_model_not_configured"
    await in_thread(Agent.objects.update)(enabled=False)
    assert (await tab.send("Hello?"))["error_key"] == "error.chat_agent_not_found"
    assert failing.provider.requests == []
