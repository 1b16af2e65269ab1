"""A conversation whose calls have ids that another program made is gone on with on every wire."""

import json
from string import ascii_letters, digits
from typing import Any

import pytest

from chat.models import Conversation
from chat.protocol.ids import new_id
from chat.protocol.parts import ToolPart
from tests.connecting.test_every_wire import speak
from tests.imports.test_imports import imported
from tests.imports.test_openai_calls import asks, calls, result, says
from tests.providers.sdk_types import check_anthropic
from tests.support import factories as make
from tests.support.site import Site
from tests.support.tabs import in_thread

ALLOWED = set(f"{ascii_letters}{digits}_-")
IDS = ("a b:1", "a_b_1", "a-b-1", "一", "二", "x" * 250, "")


def told(body: Any, kind: str, name: str) -> list[str]:
    contents = [message["content"] for message in body["messages"]]
    return [block[name] for content in contents for block in content if block["type"] == kind]


@pytest.mark.parametrize("turns", [1, 2])
async def test_odd_ids_are_ones_that_anthropic_takes(site: Site, turns: int) -> None:
    """It refuses all but letters, digits and two marks, and one id for two calls."""
    turn = [
        asks(), calls(*(call_id or None for call_id in IDS)),
        *(result(f"result {n}", **({"tool_call_id": each} if each else {}))
          for n, each in enumerate(IDS)),
        says("Done."),
    ]  # fmt: skip
    report = await imported(site, json.dumps(turn * turns).encode())
    assert report.skipped == []
    await speak("anthropic", site.provider.root)
    talk = await Conversation.objects.aget(pk=report.chats[0].id)
    tab = await site.tab(talk=talk)
    site.provider.script("Gladly.")
    await tab.send("And now thank me.")
    await tab.sees("Gladly.")
    await tab.sees_the_end()
    body = site.provider.requests[0].json
    check_anthropic(body)
    called = told(body, "tool_use", "id")
    assert called == told(body, "tool_result", "tool_use_id")
    assert len(set(called)) == len(IDS) * turns
    assert all(set(each) <= ALLOWED for each in called)


def a_talk_of_another_provider(talk: Conversation) -> None:
    """It counted its calls from nought in every answer."""
    for number in ("one", "two"):
        question = make.a_message_with_parts(talk, "user", f"Question {number}")
        answer = make.a_message(talk, "assistant", parent=question)
        ids = {"id": new_id(), "call_id": "call_0", **make.of(answer)}
        make.a_part(ToolPart(tool="calculator", state=make.a_finished_call(number), **ids))


async def test_calls_of_one_id_are_told_apart(site: Site) -> None:
    """Also in a conversation that was lived here, with a provider that does not mind."""
    await in_thread(a_talk_of_another_provider)(site.talk)
    await speak("anthropic", site.provider.root)
    tab = await site.tab()
    site.provider.script("Gladly.")
    await tab.send("And now thank me.")
    await tab.sees("Gladly.")
    await tab.sees_the_end()
    body = site.provider.requests[0].json
    check_anthropic(body)
    called = told(body, "tool_use", "id")
    assert len(set(called)) == 2
    assert told(body, "tool_result", "tool_use_id") == called
    assert told(body, "tool_result", "content") == ["one", "two"]
