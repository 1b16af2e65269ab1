"""A session is imported while it goes on, and turn by turn: what is here already is found (D2)."""

from typing import Any

import pytest

from chat.models import Message, Part
from tests.imports.test_imports import imported, upload
from tests.imports.test_recorded import recorded
from tests.imports.transcripts import asked, call, lines, returned, said, text
from tests.live.test_notes import cards, words
from tests.support.site import Site

QUESTION = asked("Count them")
CALLS = [said(call("t1", "Bash", command="ls"), number=2), returned("t1", "a b", 3)]
MORE = [said(call("t2", "Bash", command="wc"), number=4), returned("t2", "2", 5)]
END = [said(text("There are two."), number=6)]
THEN = [asked("Thanks", 7), said(text("Gladly."), number=8)]
WHOLE = [QUESTION, *CALLS, *MORE, *END, *THEN]


async def rows() -> list[Any]:
    return [row async for row in Part.objects.order_by("message__position", "position").values()]


@pytest.mark.parametrize("length", range(1, len(WHOLE)))
async def test_an_answer_that_was_imported_half_is_whole_later(site: Site, length: int) -> None:
    await imported(site, lines(*WHOLE[:length]))
    report = await imported(site, lines(*WHOLE))
    assert not report.chats[0].is_unchanged
    page = await site.alice.page(report.chats[0].id)
    roles = [each.get("data-role") for each in page.messages()]
    assert roles == ["user", "answer", "user", "answer"]
    assert [card.get("data-state") for card in cards(page)] == ["done", "done"]
    assert page.text_of("t").count("There are two.") == 1
    before = await rows()
    report = await imported(site, lines(*WHOLE))
    assert report.chats[0].is_unchanged
    assert await rows() == before


async def test_a_shorter_file_takes_nothing_away(site: Site) -> None:
    await imported(site, lines(*WHOLE))
    before = await rows()
    for length in range(1, len(WHOLE)):
        report = await imported(site, lines(*WHOLE[:length]))
        assert report.chats[0].is_unchanged
        assert await rows() == before


async def test_a_real_session_that_was_imported_while_it_ran(site: Site) -> None:
    whole = recorded("edit-transcript").splitlines(keepends=True)
    await imported(site, b"".join(whole[: len(whole) // 2]))
    few = await Part.objects.filter(type="tool").acount()
    report = await imported(site, b"".join(whole))
    states = Part.objects.filter(type="tool").order_by("position").values_list("tool_status")
    assert [state async for (state,) in states] == ["completed"] * 3 + ["error"] * 2
    assert few < 5
    assert report.chats[0].messages == await Message.objects.acount()


def printed(number: int, words: str, *more: dict[str, Any]) -> bytes:
    """What the command line prints of one turn: nothing of earlier ones, nor what was asked."""
    init = {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-x"}
    content = [*more, text(words)]
    told = {"type": "assistant", "message": {"id": f"msg_{number}", "content": content}}
    return lines(init, told, {"type": "result", "subtype": "success", "is_error": False})


async def test_turns_that_were_printed_one_by_one_are_one_conversation(site: Site) -> None:
    """`--resume` keeps the session; each file has the next turn of it alone."""
    turns = [printed(1, "One."), printed(2, "Two.", call("t1", "Bash")), printed(3, "Three.")]
    for turn in turns:
        report = await imported(site, turn)
        assert not report.chats[0].is_unchanged
    page = await site.alice.page(report.chats[0].id)
    answers = [words(each) for each in page.messages() if each.get("data-role") == "answer"]
    pairs = zip(("One.", "Two.", "Three."), answers, strict=True)
    assert all(said in shown for said, shown in pairs)
    before = await rows()
    for turn in turns:
        report = await imported(site, turn)
        assert report.chats[0].is_unchanged
    assert await rows() == before
    again = await upload(site.alice, ("turn.jsonl", turns[1]))
    assert "It was here already, and nothing is new." in again
