"""Somebody went back in a session of Claude's command line: what was left is a version (D1, B2)."""

from typing import Any

import pytest

from chat.models import Attachment, Conversation, Message, Part
from chat.services import Caller, show_version
from tests.imports.test_imports import PIXEL, imported
from tests.imports.test_recorded import recorded
from tests.imports.transcripts import asked, call, lines, returned, said, text
from tests.live.test_notes import words
from tests.support.downloads import downloaded
from tests.support.site import Site

HELLO = [asked("Hello", 1), said(text("Hello, Ada."), number=1)]
JOKE = [
    asked("Tell a joke", 2, parentUuid="assistant-1"),
    said(call("t1", "Read", file_path="jokes"), number=2),
    returned("t1", "few", 2, parentUuid="assistant-2"),
    said(text("A joke."), number=3, parentUuid="result-t1"),
]
POEM = [
    asked("Tell a poem", 4, parentUuid="assistant-3"),
    said(text("A poem."), number=4),
]
# Back to where the joke was asked for.
RIDDLE = [
    asked("Tell a riddle", 5, parentUuid="assistant-1"),
    said(text("A riddle."), number=5),
]
SONG = [asked("And a song", 6, parentUuid="assistant-5"), said(text("A song."), number=6)]
# And on with what had been left.
PROSE = [asked("Now prose", 7, parentUuid="assistant-4"), said(text("Prose."), number=7)]
LATER = [asked("More", 8, parentUuid="assistant-7"), said(text("And more."), number=8)]
TALK = [*HELLO, *JOKE, *POEM, *RIDDLE, *SONG]
# What is shown with which version of the third message.
WAYS = {
    1: ["Hello", "Hello, Ada.", "Tell a joke", "A joke.", "Tell a poem", "A poem."],
    2: ["Hello", "Hello, Ada.", "Tell a riddle", "A riddle.", "And a song", "A song."],
}


async def shown(site: Site, chat_id: str) -> list[str]:
    """What is said on the page, message by message."""
    page = await site.alice.page(chat_id)
    bodies = [
        each
        for message in page.messages()
        for each in message.iter()
        if each.get("class") == "body"
    ]
    return [" ".join(words(body).split()) for body in bodies]


async def texts() -> list[str]:
    """The texts of the messages that are shown, in their order, from the rows."""
    found = Part.objects.filter(type="text", message__archived_at=None)
    return [row.text async for row in found.order_by("message__position", "position")]


async def rows() -> list[Any]:
    parts = [row async for row in Part.objects.order_by("pk").values()]
    messages = [row async for row in Message.objects.order_by("pk").values()]
    return [parts, messages]


async def switch(site: Site, chat_id: str, position: int, version: int) -> None:
    message = await Message.objects.aget(conversation_id=chat_id, position=position)
    caller = Caller(user_id=site.alice.user.pk)
    await show_version(caller, chat_id, str(message.pk), version)


async def test_what_was_left_is_a_version_and_is_not_sent(site: Site) -> None:
    report = await imported(site, lines(*TALK))
    (chat,) = report.chats
    assert not report.skipped
    assert (chat.title, chat.messages) == ("Hello", 6)
    talk = await Conversation.objects.aget(pk=chat.id)
    tab = await site.tab(talk=talk)
    assert await shown(site, chat.id) == WAYS[2]
    assert "2 / 2" in tab.page.text_of("m3")
    site.provider.script("Gladly.")
    await tab.send("Thanks")
    await tab.sees("Gladly.")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    sent = site.provider.requests[0].body.decode()
    for said_ in ("Hello, Ada.", "A riddle.", "A song."):
        assert said_ in sent
    for left in ("Tell a joke", "A poem.", "t1"):
        assert left not in sent


async def test_what_was_left_is_shown_again(site: Site) -> None:
    """With all that had followed it, there and back."""
    chat = (await imported(site, lines(*TALK))).chats[0]
    for version in (1, 2, 1, 2):
        await switch(site, chat.id, 3, version)
        assert await texts() == WAYS[version]


@pytest.mark.parametrize("length", range(1, len(TALK)))
async def test_a_session_that_has_grown_by_going_back(site: Site, length: int) -> None:
    """Wherever it was imported before; and once more changes nothing."""
    await imported(site, lines(*TALK[:length]))
    chat = (await imported(site, lines(*TALK))).chats[0]
    assert await texts() == WAYS[2]
    before = await rows()
    again = await imported(site, lines(*TALK))
    assert again.chats[0].is_unchanged
    assert await rows() == before
    await switch(site, chat.id, 3, 1)
    assert await texts() == WAYS[1]


@pytest.mark.parametrize("length", [len(TALK), len(TALK) + 1, len(TALK) + 2])
async def test_what_was_left_is_gone_on_with_in_the_session(site: Site, length: int) -> None:
    """The branch that was left is the one that is shown, and the other a version of it."""
    whole = [*TALK, *PROSE, *LATER]
    await imported(site, lines(*whole[:length]))
    chat = (await imported(site, lines(*whole))).chats[0]
    assert await texts() == [*WAYS[1], "Now prose", "Prose.", "More", "And more."]
    await switch(site, chat.id, 3, 2)
    assert await texts() == WAYS[2]
    assert (await imported(site, lines(*whole))).chats[0].is_unchanged


async def test_what_is_new_is_shown_where_it_belongs(site: Site) -> None:
    """Somebody looks at an earlier version here when the file that has grown is imported."""
    chat = (await imported(site, lines(*TALK))).chats[0]
    await switch(site, chat.id, 3, 1)
    more = [asked("More", 8, parentUuid="assistant-6"), said(text("And more."), number=8)]
    await imported(site, lines(*TALK, *more))
    assert await texts() == [*WAYS[2], "More", "And more."]
    await switch(site, chat.id, 3, 1)
    back = [asked("Sing", 9, parentUuid="assistant-5"), said(text("La."), number=9)]
    await imported(site, lines(*TALK, *more, *back))
    assert await texts() == [*WAYS[2][:4], "Sing", "La."]


async def test_a_question_without_an_answer_that_was_asked_in_other_words(site: Site) -> None:
    """It was stopped before the model said anything, and then corrected."""
    talk = [*HELLO, asked("Tel", 2, parentUuid="assistant-1"), *RIDDLE]
    chat = (await imported(site, lines(*talk))).chats[0]
    assert await texts() == ["Hello", "Hello, Ada.", "Tell a riddle", "A riddle."]
    await switch(site, chat.id, 3, 1)
    assert await texts() == ["Hello", "Hello, Ada.", "Tel"]
    await switch(site, chat.id, 3, 2)
    assert await texts() == ["Hello", "Hello, Ada.", "Tell a riddle", "A riddle."]


async def test_what_followed_a_question_without_an_answer_comes_back_with_it(site: Site) -> None:
    two = [asked("Tell", 3, parentUuid="user-2"), said(text("What?"), number=3)]
    talk = [*HELLO, asked("Tel", 2, parentUuid="assistant-1"), *two, *RIDDLE]
    chat = (await imported(site, lines(*talk))).chats[0]
    ways = {1: ["Tel", "Tell", "What?"], 2: ["Tell a riddle", "A riddle."]}
    for version in (1, 2, 1, 2):
        await switch(site, chat.id, 3, version)
        assert await texts() == ["Hello", "Hello, Ada.", *ways[version]]


async def test_an_answer_that_comes_later_answers_its_own_question(site: Site) -> None:
    """It was being written when the session was imported, and another version is shown now."""
    chat = (await imported(site, lines(*HELLO, *JOKE, *POEM, RIDDLE[0]))).chats[0]
    await switch(site, chat.id, 3, 1)
    assert await texts() == WAYS[1]
    await imported(site, lines(*TALK))
    assert await texts() == WAYS[2]
    await switch(site, chat.id, 3, 1)
    assert await texts() == WAYS[1]


async def test_the_picture_goes_with_its_question(site: Site) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    content = [text("What is this?"), {"type": "image", "source": source}]
    picture = asked("", 2, parentUuid="assistant-1", message={"role": "user", "content": content})
    talk = [*HELLO, picture, said(text("A dot."), number=2), *RIDDLE]
    chat = (await imported(site, lines(*talk))).chats[0]
    file = await Attachment.objects.select_related("message").aget()
    assert file.message is not None
    assert file.message.copy_of_id is not None
    address = f"/c/{chat.id}/"
    assert str(file.pk) not in (await site.alice.client.get(address)).content.decode()
    await switch(site, chat.id, 3, 1)
    assert str(file.pk) in (await site.alice.client.get(address)).content.decode()


@pytest.mark.parametrize(
    "parent",
    [
        pytest.param("lost", id="a line that is not in the file"),
        pytest.param("assistant-2", id="another line of the same turn"),
        pytest.param(None, id="nothing, as in older files"),
    ],
)
async def test_what_is_no_way_back_is_a_turn_like_others(site: Site, parent: str | None) -> None:
    talk = [
        *HELLO,
        *JOKE,
        asked("Tell a poem", 4, parentUuid=parent),
        said(text("A poem."), number=4),
    ]
    if parent is None:
        talk[2] = {**talk[2], "parentUuid": None}
    await imported(site, lines(*talk))
    assert await texts() == WAYS[1]
    assert not await Message.objects.filter(archived_at__isnull=False).aexists()


async def test_calls_beside_each_other_are_no_way_back(site: Site) -> None:
    two = said(call("t1", "Read"), call("t2", "Read"), number=2)
    results = [returned(f"t{n}", "x", 2, parentUuid="assistant-2") for n in (1, 2)]
    then = said(text("Done."), number=3, parentUuid="result-t1")
    await imported(
        site, lines(*HELLO, asked("Go", 2, parentUuid="assistant-1"), two, *results, then)
    )
    assert await texts() == ["Hello", "Hello, Ada.", "Go", "Done."]


async def test_a_real_session_with_two_ways_back(site: Site) -> None:
    """Back to the second question, and later to the first."""
    chat = (await imported(site, recorded("rewind-transcript"))).chats[0]
    last = ["Say goodbye", "Goodbye, Ada.", "Once more", "See you."]
    assert await texts() == last
    await switch(site, chat.id, 1, 1)
    riddle = ["Tell a riddle", "A riddle.", "And a song", "And a song."]
    assert await texts() == ["Say hello", "Hello, Ada.", *riddle]
    await switch(site, chat.id, 3, 1)
    joke = ["Tell a joke", "A joke.", "Tell a poem", "A poem."]
    assert await texts() == ["Say hello", "Hello, Ada.", *joke]
    assert (await imported(site, recorded("rewind-transcript"))).chats[0].is_unchanged


async def test_it_comes_back_from_an_export_with_its_versions(site: Site) -> None:
    chat = (await imported(site, lines(*TALK))).chats[0]
    exported = await downloaded(site.alice.client, f"/c/{chat.id}/export/json/")
    await Conversation.objects.filter(pk=chat.id).adelete()
    again = (await imported(site, exported)).chats[0]
    assert await texts() == WAYS[2]
    await switch(site, again.id, 3, 1)
    assert await texts() == WAYS[1]
