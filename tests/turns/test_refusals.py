"""A12: every refusal a person can meet, made for real and read in both languages."""

import asyncio
import html
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import translation

from chat.consumers.commands import COMMANDS
from chat.models import Agent, LanguageModel, Message, Provider
from chat.protocol.ids import new_id
from chat.rendering.errors import error_text
from chat.services.processes import lease
from chat.services.runs.run import RUNS
from chat.services.turns import stop
from tests.support import factories as make
from tests.support.model_server import Wait, reply
from tests.support.program import Program
from tests.support.site import Programs, Site
from tests.support.sockets import Wire
from tests.support.tabs import Person, in_thread
from tests.support.waiting import eventually

Act = Callable[[Site, Program, pytest.MonkeyPatch], Awaitable[dict[str, Any]]]


def asked(command: str, **values: Any) -> Act:
    """A refusal that needs nothing but the command."""

    async def act(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
        return await one.ask(command, **values)

    return act


def without(change: Callable[[], Any]) -> Act:
    """A send, after something was switched off."""

    async def act(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
        await in_thread(change)()
        return await one.send("Go")

    return act


async def busy(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    site.provider.script(reply("Half", Wait()))
    assert (await one.send("Go"))["ok"]
    return await one.send("Again")


async def busy_elsewhere(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    site.provider.script(reply("Half", Wait()))
    assert (await one.send("Go", tab_id="another:tab"))["ok"]
    return await one.send("Again")


async def crowded(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    limits = {**django_settings.PARLEY_LIMITS, "generations_per_user": 0}
    patch.setattr(django_settings, "PARLEY_LIMITS", limits)
    return await one.send("Go")


async def full(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    patch.setattr(lease, "closing", True)
    return await one.send("Go")


async def flooded(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A flood is told once, without the id of a command: none of it is read any more."""
    limits = {**django_settings.PARLEY_LIMITS, "frames_per_second": 10}
    patch.setattr(django_settings, "PARLEY_LIMITS", limits)
    for _ in range(40):
        one.say("messages", limit=1)

    def told() -> list[dict[str, Any]]:
        found = [each for each in one.replies.values() if not each["ok"]]
        return [each for each in found if each["error_key"] == "error.chat_too_fast"]

    await eventually(told)
    return told()[0]


async def finished(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    site.provider.script("Done.")
    begun = await one.send("Go")
    ended = await one.ends(begun["request_id"])
    return await one.ask("continue", message_id=ended["message_id"])


async def held_elsewhere(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A run of a process that does not answer, in the way of an edit."""
    patch.setattr(stop, "PATIENCE", 0.3)

    def rows() -> str:
        said = make.a_message_with_parts(site.talk)
        answer = make.a_message(site.talk, "assistant", status="streaming", parent=said)
        make.a_generation(answer, process=make.a_process())
        return str(said.pk)

    said = await in_thread(rows)()
    refused = await one.ask("edit", message_id=said, content="x")
    await in_thread(make.Generation.objects.all().delete)()
    await in_thread(make.Message.objects.all().delete)()
    return refused


async def nowhere(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The socket of the column is about no conversation."""
    await one.close()
    patch.setattr(one, "connect", lambda: _column_wire(one))
    await one.open()
    return await one.send("Go")


def _column_wire(one: Program) -> Any:
    from chat.consumers.json_wire import SUBPROTOCOL as JSON
    from tests.support.sockets import Wire

    return Wire("/ws/", one.person.headers, (JSON,))


async def broken(site: Site, one: Program, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A fault of ours in the middle of a command."""

    async def fail(*_: Any) -> None:
        raise RuntimeError("a fault of ours")

    patch.setitem(COMMANDS, "messages", fail)
    return await one.ask("messages")


REFUSALS: dict[str, Act] = {
    "error.chat_command_failed": broken,
    "error.chat_content_required": asked("send", content=" \n"),
    "error.chat_content_too_long": asked("send", content="x" * 200_001),
    "error.chat_stale": asked("send", content="x", head=7),
    "error.chat_message_not_found": asked("regenerate", message_id=new_id()),
    "error.chat_no_active_generation": asked("stop"),
    "error.chat_unknown_command": asked("dance"),
    "error.chat_bad_command": asked("messages", limit="many"),
    "error.chat_title_required": asked("rename", title="  "),
    "error.chat_generation_in_progress": busy,
    "error.chat_generation_in_progress_other_tab": busy_elsewhere,
    "error.chat_too_many_generations": crowded,
    "error.chat_server_busy": full,
    "error.chat_too_fast": flooded,
    "error.chat_nothing_to_continue": finished,
    "error.chat_previous_generation_not_finished": held_elsewhere,
    "error.chat_conversation_not_found": nowhere,
    "error.chat_agent_not_found": without(lambda: Agent.objects.update(enabled=False)),
    "error.chat_model_not_configured": without(lambda: LanguageModel.objects.update(enabled=False)),
    "error.chat_provider_not_enabled": without(lambda: Provider.objects.update(enabled=False)),
}


@pytest.mark.parametrize("key", REFUSALS)
async def test_a_refusal_in_words(
    key: str, site: Site, program: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reply has the key, its values, and a sentence in the reader's language."""
    language = "zh-hans" if len(key) % 2 else "en"
    one = await program(site.alice.speaking(language))
    refused = await REFUSALS[key](site, one, monkeypatch)
    monkeypatch.undo()
    assert (refused["ok"], refused["error_key"]) == (False, key)
    words = {}
    for each in ("en", "zh-hans"):
        with translation.override(each):
            words[each] = error_text(key, refused["error_data"])
    assert refused["message"] == words[language]
    assert words["en"] != words["zh-hans"]
    assert "…" not in "".join(words.values())
    if one.named("chat:start") and not one.named("chat:complete"):
        await one.ask("stop")
        await eventually(lambda: one.named("chat:stopped"))


class OnThePage(Program):
    """The same as a program, on the socket of a page: refusals come as toasts too."""

    def __init__(self, person: Person, conversation_id: object) -> None:
        super().__init__(person, conversation_id)
        self.shown: list[str] = []

    async def open(self, *, attach: bool = True) -> Program:
        self.wire = self.connect()
        assert await self.wire.accepted()
        self._reading = asyncio.create_task(self._read())
        assert (await self.ask("attach", tab_id=self.tab_id))["ok"]
        return self

    def connect(self) -> Wire:
        return Wire(f"/ws/c/{self.conversation_id}/", self.person.headers)

    async def _read(self) -> None:
        while True:
            frame = await self.wire.receive()
            if frame.startswith("{"):
                said = json.loads(frame)
                self.replies[said["client_id"]] = said
            else:
                self.shown.append(html.unescape(frame))

    async def ends(self, request_id: str, seconds: float = 10) -> dict[str, Any]:
        await eventually(lambda: not RUNS, seconds)
        answer = await in_thread(Message.objects.get)(generations=request_id)
        return {"message_id": str(answer.pk)}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("key", sorted(set(REFUSALS) - {"error.chat_conversation_not_found"}))
async def test_a_refusal_on_the_page(
    key: str, language: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A12: the toast says it in the reader's language. (Every page is about a conversation.)"""
    one = OnThePage(site.alice.speaking(language), site.talk.pk)
    await one.open()
    refused = await REFUSALS[key](site, one, monkeypatch)
    monkeypatch.undo()
    with translation.override(language):
        words = error_text(key, refused["error_data"])
    await eventually(lambda: [f for f in one.shown if words in f and 'class="toast' in f])
    if key.startswith("error.chat_generation_in_progress"):
        await one.ask("stop")
        await eventually(lambda: not RUNS)
    await one.close()


async def test_a_refused_form_says_the_same(site: Site) -> None:
    """Without scripts: the page again, with the reason and with what was typed."""
    client = site.alice.speaking("zh-hans").client
    response = await client.post(f"/c/{site.talk.pk}/send/", {"content": "x" * 200_001})
    with translation.override("zh-hans"):
        expected = error_text("error.chat_content_too_long", {"limit": 200_000})
    assert response.status_code == 409
    assert expected in response.content.decode()
    assert "x" * 100 in response.content.decode()
