"""Why an answer of Claude's command line failed is there as what it is, with its words (D1, B2)."""

from typing import Any

import pytest

from chat.models import Conversation, Message
from tests.imports.test_imports import imported
from tests.imports.transcripts import asked, call, failed, lines, returned, said, text
from tests.support.downloads import downloaded
from tests.support.site import Site

OVERLOADED = "API Error: 529 Overloaded. Try again in a moment."
RESULT = {"type": "result", "subtype": "success", "is_error": True, "result": "Overloaded"}


def overloaded(number: int) -> dict[str, Any]:
    return failed(OVERLOADED, number, error="server_error", apiErrorStatus=529)


async def told(site: Site, *given: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The messages that became of a file: who says it, how it ended, and what is on the page."""
    report = await imported(site, lines(*given))
    assert not report.skipped
    page = await site.alice.page(report.chats[0].id)
    shown = [" ".join("".join(each.itertext()).split()) for each in page.messages()]
    rows = [each async for each in Message.objects.order_by("position")]
    return [(row.role, row.status, text) for row, text in zip(rows, shown, strict=True)]


async def test_an_answer_that_failed_stands_between_its_questions(site: Site) -> None:
    found = await told(
        site, asked("One?"), overloaded(2), asked("Two?", 3), said(text("Yes."), number=4)
    )
    assert [(role, status) for role, status, _ in found] == [
        ("user", "success"), ("assistant", "error"), ("user", "success"), ("assistant", "success"),
    ]  # fmt: skip
    assert f"The answer failed: {OVERLOADED}" in found[1][2]
    assert "Two?" in found[2][2]
    failure = await Message.objects.aget(status="error")
    assert failure.error_key == "error.chat_imported_failure"
    assert failure.error_data == {"code": "server_error", "detail": OVERLOADED, "status": 529}


async def test_an_export_keeps_what_was_imported_of_a_failure(site: Site) -> None:
    """Its words, which its owner is shown, are there after a round trip."""
    await told(site, asked("One?"), overloaded(2))
    talk = await Conversation.objects.aget(owner=site.alice.user, external_session_id__gt="")
    file = await downloaded(site.alice.client, f"/c/{talk.pk}/export/json/")
    report = await imported(site, file)
    assert report.chats[0].id != str(talk.pk)
    failures = [row.error_data async for row in Message.objects.filter(status="error")]
    assert failures == [{"code": "server_error", "detail": OVERLOADED, "status": 529}] * 2


async def test_half_an_answer_that_failed_is_kept_and_has_failed(site: Site) -> None:
    half = [
        said(text("First I"), call("t1", "Bash", command="ls"), number=2),
        returned("t1", "a", 3),
    ]
    found = await told(site, asked("Count"), *half, overloaded(4))
    assert [(role, status) for role, status, _ in found] == [
        ("user", "success"), ("assistant", "error"),
    ]  # fmt: skip
    assert "First I" in found[1][2]
    assert OVERLOADED in found[1][2]


async def test_a_failure_after_which_the_model_spoke_is_none(site: Site) -> None:
    """The command line has asked again by itself."""
    found = await told(site, asked("One?"), overloaded(2), said(text("Yes."), number=3))
    assert [(role, status) for role, status, _ in found] == [
        ("user", "success"), ("assistant", "success"),
    ]  # fmt: skip


@pytest.mark.parametrize("after", [[], [asked("Two?", 5)]])
async def test_a_failure_whose_end_is_told_is_one_failure(
    site: Site, after: list[dict[str, Any]]
) -> None:
    found = await told(site, asked("One?"), overloaded(2), RESULT, *after)
    assert [status for _, status, _ in found] == ["success", "error", *("success" for _ in after)]


async def test_an_older_failure_has_words_and_no_code(site: Site) -> None:
    found = await told(site, asked("One?"), failed("Credit balance is too low", 2))
    assert "The answer failed: Credit balance is too low" in found[1][2]


async def test_one_that_was_stopped_after_a_failure_is_one_answer(site: Site) -> None:
    stopped = asked("[Request interrupted by user]", 3)
    found = await told(site, asked("One?"), overloaded(2), stopped, asked("Two?", 4))
    assert [status for _, status, _ in found] == ["success", "error", "success"]


async def test_a_sub_agent_that_failed_fails_its_call_alone(site: Site) -> None:
    task = call("t1", "Task", description="Look", prompt="Look around")
    found = await told(
        site,
        asked("One?"),
        said(task, number=2),
        asked("Look around", 3, isSidechain=True, uuid="side-1"),
        failed("Overloaded", 4, error="server_error", isSidechain=True, parentUuid="side-1"),
        returned("t1", "It failed", 5, message=None),
        said(text("Then not."), number=6),
    )
    assert [status for _, status, _ in found] == ["success", "success"]
