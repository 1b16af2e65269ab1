"""Thoughts that only their provider can read are told of, and leave nothing behind (D1, B2)."""

from chat.models import Part
from chat.rendering.page.imports import skipped_text
from tests.imports.test_imports import imported
from tests.imports.transcripts import asked, lines, said, text
from tests.support.site import Site

LOCKED = {"type": "redacted_thinking", "data": "RW5jcnlwdGVk"}


async def kinds() -> list[str]:
    return [row.type async for row in Part.objects.filter(message__role="assistant").order_by("pk")]


async def test_a_step_of_nothing_but_a_locked_thought_is_none(site: Site) -> None:
    """As the command line writes it: it asks the model to go on and say something."""
    note = asked("Your previous response had no visible output.", 2, isMeta=True)
    talk = [asked("Think"), said(LOCKED, number=1), note, said(text("Done."), number=3)]
    report = await imported(site, lines(*talk))
    assert await kinds() == ["step-start", "text", "step-finish"]
    [told] = report.skipped
    words = skipped_text(told.reason, told.where, count=told.count)
    assert words == "Contents of the kind “redacted_thinking” were left out: 1."


async def test_what_was_said_beside_a_locked_thought_is_kept(site: Site) -> None:
    talk = [asked("Think"), said(LOCKED, text("Done."), number=1)]
    report = await imported(site, lines(*talk))
    assert await kinds() == ["step-start", "text", "step-finish"]
    assert [(each.reason, each.where) for each in report.skipped] == [
        ("content_left_out", "redacted_thinking")
    ]
