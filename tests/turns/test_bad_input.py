"""Whatever comes in over a socket is answered in words; the socket stays, nothing is lost."""

import asyncio
import json
from typing import Any

import pytest

from chat.consumers.outbox import Outbox
from chat.models import Message
from chat.services.conversations import organise
from chat.services.conversations.snapshot import digests
from tests.support import factories as make
from tests.support.follower import Follower
from tests.support.model_server import reply
from tests.support.site import Programs, Site
from tests.support.sockets import Closed, Wire
from tests.support.tabs import ORIGIN, Person, impatient, in_thread
from tests.support.waiting import eventually

BAD = "error.chat_bad_command"
UNKNOWN = "error.chat_unknown_command"
EMPTY = "error.chat_content_required"
TOO_LONG = "error.chat_content_too_long"

FRAMES: dict[str, tuple[str, str]] = {
    "not JSON": ("{", BAD),
    "nothing": ("", BAD),
    "a list": ("[1, 2]", BAD),
    "a number": ("7", BAD),
    "null": ("null", BAD),
    "very deep": ("[" * 30_000, BAD),
    "huge": (json.dumps({"command": "send", "content": "x" * 2_000_000}), TOO_LONG),
    "too long": (json.dumps({"command": "send", "content": "汉" * 200_001}), TOO_LONG),
    "no command": ("{}", UNKNOWN),
    "an unknown command": ('{"command": "explode"}', UNKNOWN),
    "a command of a wrong type": ('{"command": {"a": [1]}}', UNKNOWN),
    "a command in surrogates": (r'{"command": "\ud800\u0000", "client_id": "\udfff"}', UNKNOWN),
    "an empty message": ('{"command": "send", "content": ""}', EMPTY),
    "only spaces": ('{"command": "send", "content": " \\n "}', EMPTY),
    "only NUL": (r'{"command": "send", "content": "\u0000"}', EMPTY),
    "a message that is a number": ('{"command": "send", "content": 5}', EMPTY),
    "a message that is a list": ('{"command": "send", "content": ["a"]}', EMPTY),
    "201 KB": (json.dumps({"command": "send", "content": "x" * 201_000}), TOO_LONG),
    "an ack of words": ('{"command": "ack", "frames": "many"}', BAD),
    "an ack of nothing": ('{"command": "ack"}', BAD),
    "messages before words": ('{"command": "messages", "before": "x"}', BAD),
    "no messages": ('{"command": "messages", "limit": 0}', BAD),
    "too many messages": ('{"command": "messages", "limit": 100000}', BAD),
    "nothing to stop": ('{"command": "stop"}', "error.chat_no_active_generation"),
    "no message to edit": ('{"command": "edit", "content": "a"}', "error.chat_message_not_found"),
    "nobody to ask again": (
        '{"command": "regenerate", "message_id": "../x"}', "error.chat_message_not_found",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh-hans"])
async def test_nonsense_is_answered_in_words_and_the_socket_stays(
    site: Site, language: str
) -> None:
    """A12, A13: a translated reason; the next message is taken as if nothing had happened."""
    tab = await site.tab(site.alice.speaking(language))
    await tab.until(lambda: "attach" in tab.replies)
    for name, (frame, key) in FRAMES.items():
        tab.refusals.clear()
        tab.wire.send(frame)
        await tab.until(lambda: tab.refusals)
        [refusal] = tab.refusals
        assert refusal["error_key"] == key, name
        assert refusal["message"], name
        assert "error." not in refusal["message"], name
        assert refusal["message"].isascii() is (language == "en"), name
        said = refusal["message"]
        await tab.until(lambda said=said: said in tab.page.text_of("toasts"))  # type: ignore[misc]
    site.provider.script("Fine.")
    assert (await tab.send("And now?"))["ok"]
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()


async def test_a_binary_frame_is_refused_too(site: Site) -> None:
    tab = await site.tab()
    tab.wire.send(data=b"\x00\x01")
    await tab.until(lambda: tab.refusals)
    assert tab.refusals[0]["error_key"] == BAD
    assert tab.closed is None


NONSENSE: list[Any] = [
    None, 7, "x", [], {}, {"messages": 5, "parts": {}}, {"messages": {"x": "y"}, "parts": {}},
    {"messages": {"1": "streaming"}, "parts": {"p1-0": 10**30}},
    {"messages": {}, "parts": {"p-1": {}, "": None}},
    {"rev": 1e999, "messages": {"1": 1e999}, "parts": {"p1-1": 1e999}},
]  # fmt: skip


async def test_a_page_that_says_nonsense_of_itself_is_answered(site: Site) -> None:
    await in_thread(make.a_talk)(site.talk, 4)
    wire = Wire(f"/ws/c/{site.talk.pk}/", site.alice.headers)
    assert await wire.accepted()
    for shown in NONSENSE:
        wire.send(json.dumps({"command": "attach", "shown": shown, "column": shown}))
        while not (frame := await wire.receive()).startswith('{"reply": "attach"'):
            assert "hx-swap-oob" in frame, shown
    await wire.close()


async def test_a_message_with_nul_and_lone_surrogates_is_cleaned_and_kept(site: Site) -> None:
    """Every store downstream can take what is left of it."""
    tab = await site.tab()
    site.provider.script("Fine.")
    tab.wire.send(r'{"command": "send", "client_id": "c\u0000\ud800", "tab_id": "\udfff\u0000", '
                  r'"content": "a\u0000b \ud83d\ude42 \ud800 c"}')  # fmt: skip
    await tab.sees("Fine.")
    said = await in_thread(lambda: Message.objects.get(role="user").parts.get().text)()
    assert said == "ab 🙂 \ufffd c"
    await tab.equals_a_fresh_page()


async def test_a_flood_is_slowed_down_in_words(site: Site, settings: Any) -> None:
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "frames_per_second": 10}
    tab = await site.tab()
    for _ in range(60):
        tab.say("messages", limit=1)
    await tab.until(lambda: tab.refusals)
    assert tab.refusals[0]["error_key"] == "error.chat_too_fast"
    assert tab.closed is None


async def test_a_flood_through_many_sockets_is_slowed_down_too(
    site: Site, program: Programs, settings: Any
) -> None:
    """S8: what a person may ask for is of all their sockets together; others are answered."""
    limits = {"frames_per_second": 1, "sockets_per_user": 20}
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, **limits}
    bob = await Person(await in_thread(make.a_user)("bob")).enter()
    theirs = await in_thread(make.a_conversation)(bob.user)
    crowd = [await program(attach=False) for _ in range(20)]
    told = await asyncio.gather(*(one.ask("messages", limit=1) for one in crowd))
    assert {each.get("error_key", "") for each in told} == {"", "error.chat_too_fast"}
    assert (await (await program(bob, theirs)).ask("messages"))["ok"]
    # Who leaves and comes back at once is the same person.
    for one in crowd:
        await one.close()
    again = [await program(attach=False) for _ in range(20)]
    told = await asyncio.gather(*(one.ask("messages", limit=1) for one in again))
    assert "error.chat_too_fast" in {each.get("error_key") for each in told}


async def test_so_many_characters_are_taken_of_a_person_and_no_more(
    site: Site, program: Programs, settings: Any
) -> None:
    """S8: the longest message a second, however many sockets it comes through."""
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "frame_bytes": 20_000}
    crowd = [await program() for _ in range(4)]
    long = "x" * 15_000
    told = [await one.ask("rename", title=long) for one in crowd]
    assert [each.get("error_key") for each in told].count("error.chat_too_fast") >= 1
    assert told[0].get("error_key") != "error.chat_too_fast"


async def test_a_strangers_conversation_is_not_there(site: Site) -> None:
    """404 for the page, 4404 for the socket: the same as for one that never was."""
    bob = await Person(await in_thread(make.a_user)("bob")).enter()
    nowhere = "01890000-0000-7000-8000-000000000000"
    for key in (site.talk.pk, nowhere):
        assert (await bob.client.get(f"/c/{key}/")).status_code == 404
        wire = Wire(f"/ws/c/{key}/", bob.headers)
        assert await wire.accepted()
        with pytest.raises(Closed) as closed:
            await wire.receive()
        assert closed.value.code == 4404
        await wire.close()


async def test_nobody_is_sent_away(site: Site) -> None:
    wire = Wire(f"/ws/c/{site.talk.pk}/", {"origin": ORIGIN})
    assert await wire.accepted()
    with pytest.raises(Closed) as closed:
        await wire.receive()
    assert closed.value.code == 4401
    await wire.close()


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
async def test_a_socket_from_a_foreign_page_is_refused(site: Site, origin: str) -> None:
    wire = Wire(f"/ws/c/{site.talk.pk}/", {**site.alice.headers, "origin": origin})
    assert not await wire.accepted()
    await wire.close()


async def test_a_program_is_refused_in_words_as_well(site: Site) -> None:
    program = await Follower(site.alice, site.talk.pk).open()
    refused = await program.ask("send", content="")
    assert refused["error_key"] == EMPTY
    assert (await program.ask("messages", before=10**30))["ok"]
    await program.cut()


async def test_a_reader_who_stops_reading_is_caught_up_later(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What may be under way is bounded: Daphne itself would take any amount."""
    monkeypatch.setattr(Outbox, "window", 3_000)
    wire = Wire(f"/ws/c/{site.talk.pk}/", site.alice.headers)
    assert await wire.accepted()
    wire.send(json.dumps({"command": "attach", "shown": {"messages": {}, "parts": {}}}))
    site.provider.script(reply("word " * 3000, ms=0.5))
    wire.send(json.dumps({"command": "send", "client_id": "s", "content": "Go"}))
    await eventually(lambda: site.provider.requests and site.provider.requests[0].answered_at)
    sent = "".join([await wire.receive() for _ in range(wire.waiting)])
    assert len(sent) < 12_000
    frame = ""
    while 'data-state="done"' not in frame:
        wire.send(json.dumps({"command": "ack", "frames": 10_000}))
        frame = await wire.receive()
    await wire.close()


async def test_a_message_too_long_to_be_read_is_answered_by_its_id(site: Site) -> None:
    """The page waits for a reply with its id, and would take no other message until then."""
    tab = await site.tab()
    answer = await tab.send("x" * 300_000)
    assert (answer["ok"], answer["error_key"]) == (False, TOO_LONG)
    assert (await tab.send("Short."))["ok"]
    await tab.sees_the_end()


async def test_who_deletes_is_answered_before_the_socket_is_closed(
    site: Site, program: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R12: also when the socket learns meanwhile, by itself, that the conversation is gone."""
    let_go, tell_sidebar = asyncio.Event(), organise.tell_sidebar

    async def held(*words: Any) -> None:
        await let_go.wait()
        await tell_sidebar(*words)

    monkeypatch.setattr(organise, "tell_sidebar", held)
    with impatient(0.01):
        one = await program()
        client_id = one.say("delete")
        try:
            while await digests.get(str(site.talk.pk)):
                pass
            # The socket asks together with this, at every second time at the latest.
            for _ in range(6):
                assert await digests.get(str(site.talk.pk)) is None
        finally:
            let_go.set()
        assert (await one.reply(client_id))["ok"]
        await eventually(lambda: one.closed)
        assert one.closed == 4404
