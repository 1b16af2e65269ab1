"""What the real Claude Code printed and kept: imported, every call has its result. (2.1.327 where a
sub-agent works in the background and for the edits, 2.1.328 for the ways back and for the session
with all that happens in one, else 2.1.197.)"""

import pytest

from chat.models import Attachment, Conversation, Message, Part
from tests.imports.test_imports import imported
from tests.imports.transcripts import lines
from tests.support.claude_program import CAPTURED, begins, ends, notified, requests, says, text
from tests.support.downloads import downloaded
from tests.support.site import Site


def recorded(name: str) -> bytes:
    return (CAPTURED / f"claude-code-{name}.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("bash", ["completed", "error"]),
        ("bash-transcript", ["completed", "error"]),
        ("task", ["completed", "completed"]),
        ("task-transcript", ["completed"]),
        ("task-subagent", ["completed"]),
        ("write-transcript", ["completed", "error"]),
        ("background", ["completed", "completed"]),
        ("edit-transcript", ["completed", "completed", "completed", "error", "error"]),
        ("rewind-transcript", []),
    ],
)
async def test_every_call_has_its_result(site: Site, name: str, states: list[str]) -> None:
    report = await imported(site, recorded(name))
    assert report.skipped == []
    rows = Part.objects.filter(type="tool").order_by("position")
    assert [row.tool_status async for row in rows] == states


async def test_a_session_with_all_that_happens_in_one(site: Site) -> None:
    """A failure of the API, a picture and a PDF file that were read, a locked thought, a compaction
    and a picture that was asked about."""
    report = await imported(site, recorded("session-transcript"))
    assert [(each.reason, each.where) for each in report.skipped] == [
        ("content_left_out", "redacted_thinking")
    ]
    rows = [row async for row in Message.objects.order_by("position").prefetch_related("parts")]
    texts = ["".join(part.text for part in row.parts.all() if part.type == "text") for row in rows]
    assert list(zip((row.status for row in rows), texts, strict=True)) == [
        ("success", "Say hello"), ("success", "Hello, Ada."),
        ("success", "Again please"), ("error", ""),
        ("success", "Look at the picture and the paper"), ("success", "A dot, and a hello."),
        ("success", "Think in secret"), ("success", "I have thought."),
        ("success", "After the compaction"), ("success", "Yes."),
        ("success", "What is this?"), ("success", "A dot, I say."),
    ]  # fmt: skip
    assert rows[3].error_data["detail"].startswith("API Error: 529 Overloaded.")
    files = Attachment.objects.order_by("created")
    mimes = ["image/png", "application/pdf", "image/png"]
    assert sorted([file.mime async for file in files]) == sorted(mimes)
    page = await site.alice.page(report.chats[0].id)
    assert "base64" not in page.text_of("t")


@pytest.mark.parametrize("order", [("transcript", "subagent"), ("subagent", "transcript")])
async def test_what_a_sub_agent_did_is_not_taken_for_the_conversation(
    site: Site, order: tuple[str, str]
) -> None:
    """Its file names the same session; whichever comes first, neither hides the other."""
    for name in order:
        await imported(site, recorded(f"task-{name}"))
    made = Conversation.objects.exclude(external_session_id="")
    assert await made.acount() == 2
    assert await Part.objects.filter(type="tool").acount() == 2


async def test_a_turn_that_a_background_task_wakes_is_one_turn(site: Site) -> None:
    """The program begins anew in its midst, and nobody has asked anything."""
    report = await imported(site, recorded("background"))
    page = await site.alice.page(report.chats[0].id)
    assert [each.get("data-role") for each in page.messages()] == ["user", "answer"]
    assert "The agent is back." in page.text_of("t")
    assert "It was 43 characters long." in page.text_of("t")


async def test_a_turn_that_is_woken_after_its_end_is_one_turn(site: Site) -> None:
    """A task has ended after the last request of the turn, and before its end."""
    told = [begins(), says(text("It works for me.")), notified(), ends(0.1)]
    woken = [begins(), requests(), says(text("It is done."), message="msg_2"), ends(0.3)]
    then = [begins(), says(text("Another turn."), message="msg_3"), ends(0.4)]
    data = lines(*(each["line"] for each in (*told, *woken, *then)))
    report = await imported(site, data)
    page = await site.alice.page(report.chats[0].id)
    assert [each.get("data-role") for each in page.messages()] == ["user", "answer"] * 2
    first, second = [each async for each in Message.objects.filter(role="assistant").order_by("pk")]
    assert [float(each.cost) for each in (first, second)] == [0.3, 0.4]
    parts = Part.objects.filter(message=first, type="text").order_by("position")
    assert [part.text async for part in parts] == ["It works for me.", "It is done."]


async def test_the_words_of_a_sub_agent_are_not_those_of_the_answer(site: Site) -> None:
    """They stand below its call; they are neither sent nor copied as if the model had said them."""
    report = await imported(site, recorded("background"))
    talk = await Conversation.objects.aget(pk=report.chats[0].id)
    words, own = "Nothing here.", "The agent is back."
    tab = await site.tab(talk=talk)
    [inner] = [each for each in tab.page.root.iter() if "nested" in each.get("class", "").split()
               and "markdown" in each.get("class", "").split()]  # fmt: skip
    assert words in "".join(map(str, inner.itertext()))
    site.provider.script("Gladly.")
    await tab.send("Go on.")
    await tab.sees("Gladly.")
    await tab.sees_the_end()
    sent = site.provider.requests[0].body.decode()
    assert own in sent
    assert words not in sent
    address = f"/c/{talk.pk}"
    openai = (await downloaded(site.alice.client, f"{address}/export/openai/")).decode()
    assert own in openai
    assert words not in openai
    markdown = (await downloaded(site.alice.client, f"{address}/export/markdown/")).decode()
    assert f"\n> {words}" in markdown
    answer = await Message.objects.aget(conversation=talk, position=2)
    source = await site.alice.client.get(f"{address}/m/{answer.pk}/source/")
    assert own in source.content.decode()
    assert words not in source.content.decode()
