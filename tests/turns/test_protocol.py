"""A3, A18: the socket as programs speak it."""

import json
from pathlib import Path

import pytest

from chat.consumers import json_wire
from chat.consumers.outbox import Outbox
from chat.models import Conversation
from chat.protocol.ids import is_uuid
from tests.support import factories as make
from tests.support.model_server import Call, Say, Think, reply
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread
from tests.support.waiting import eventually

HEADER = {"conversation_id", "rev", "tab_id", "request_id", "seq", "message_id", "ts", "name"}


async def test_the_whole_tour(site: Site, program: Programs) -> None:
    """Every command once, every event with its header, in order and without a gap."""
    one, other = await program(), await program()
    assert one.events[0]["name"] == "chat:snapshot"
    site.provider.script(
        reply(Think("Hm."), Say("I count."), Call("calculator", {"expression": "6*7"}, id="k1")),
        reply("42."),
    )
    begun = await one.send("How much?")
    assert is_uuid(begun["request_id"])
    ended = await other.ends(begun["request_id"])
    told = [event for event in other.events if event["request_id"] == begun["request_id"]]
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    assert all(set(event) >= HEADER for event in told)
    assert {event["tab_id"] for event in told} == {one.tab_id}
    assert all(event["message_id"] == ended["message_id"] for event in told)
    names = [event["name"] for event in told]
    assert (names[0], names[-1]) == ("chat:start", "chat:complete")
    assert {"chat:thinking", "chat:chunk", "chat:tool", "chat:step"} < set(names)
    calls = [event for event in told if event["name"] == "chat:tool"]
    (call,) = [event for event in calls if event["type"] == "call"]
    assert json.loads(call["args_json"]) == {"expression": "6*7"}
    assert (calls[-1]["type"], calls[-1]["result_json"]) == ("result", "42"), "encoded once"
    assert told[0]["status"] == "streaming"
    assert {call["tool_call_id"] for call in calls} == {"k1"}
    assert (ended["status"], ended["finish_reason"]) == ("success", "stop")
    assert ended["usage"]["output"] == 5

    read = await one.ask("messages", limit=1)
    assert [message["info"]["role"] for message in read["messages"]] == ["assistant"]
    assert read["older"] is True
    before = read["messages"][0]["info"]["position"]
    earlier = await one.ask("messages", before=before)
    assert [message["info"]["role"] for message in earlier["messages"]] == ["user"]
    one.say("ack", seq=1_000)
    assert (await one.ask("rename", title=" A  new name "))["title"] == "A new name"
    await eventually(lambda: other.named("chat:title"))
    assert (await one.ask("pin"))["ok"]
    row = await in_thread(Conversation.objects.get)(pk=site.talk.pk)
    assert (row.title, row.pinned) == ("A new name", True)
    assert (await one.ask("delete"))["ok"], "the reply comes before the socket closes"
    await eventually(lambda: one.closed == other.closed == 4404)


async def test_what_is_not_a_command_is_refused_and_nothing_breaks(
    site: Site, program: Programs
) -> None:
    one = await program()
    for text in ("", "{", "[]", "null", '"x"', "[" * 5_000, '{"command": {}}'):
        one.wire.send(text)
    one.wire.send(None, b"\x00")
    assert (await one.ask("messages"))["ok"]
    assert one.closed is None


def test_the_documented_client_is_the_one_that_is_run() -> None:
    """`tests/crash` and the tour use it over a real server."""
    root = Path(__file__).parents[2]
    client = (root / "tests/support/readme_client.py").read_text("utf-8")
    documented = (root / "chat/README.md").read_text("utf-8")
    assert client[client.index("import json") :].strip() in documented


async def test_saying_how_far_one_has_read_is_not_asking(site: Site, program: Programs) -> None:
    """A program acknowledges every event, and may still ask."""
    one = await program()
    for seq in range(60):
        one.say("ack", seq=seq)
    assert (await one.ask("messages"))["ok"]


async def test_a_program_that_is_always_some_events_behind_is_told_each(
    site: Site, program: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has read was told a while ago: it is far from here."""
    monkeypatch.setattr(Outbox, "window", 10_000)
    one = await program()
    monkeypatch.setattr(one, "heard", lambda: one.say("ack", seq=one.events[-3:][0]["seq"]))
    site.provider.script(reply("word " * 3_000, ms=0.5))
    await one.ends((await one.send("Go"))["request_id"])
    assert sum(len(json.dumps(event)) for event in one.events) > 2 * Outbox.window
    assert len(one.named("chat:snapshot")) == 1


@pytest.mark.parametrize("form", ["", "tool-messages"])
async def test_a_reply_holds_no_more_messages_than_can_be_read_at_once(
    site: Site, program: Programs, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """Two hundred long messages would be forty megabytes; all of them are read bit by bit."""
    await in_thread(make.a_talk)(site.talk, 12)
    await in_thread(make.a_message_with_parts)(site.talk, text="long " * 1_000)
    monkeypatch.setattr(json_wire, "MOST_BYTES", 2_000)
    one = await program(attach=False)
    told: list[str] = []
    read = {"first": None, "older": True}
    replies = 0
    while read["older"]:
        read = await one.ask("messages", before=read["first"], limit=200, form=form)
        told = [json.dumps(message) for message in read["messages"]] + told
        replies += 1
    assert 3 < replies < 13
    assert len(told) == 13
    for position, text in enumerate(told[:12], 1):
        assert f"Text {position}" in text
    assert "long long" in told[12]
