"""Results inside user messages: Anthropic's API, and the form before ToolMessage2 (B1, B2)."""

import json
from typing import Any

import pytest

from tests.imports.test_imports import PIXEL, imported
from tests.imports.transcripts import asked, lines, said, text
from tests.live.test_notes import cards, words
from tests.support.site import Site

PICTURE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
}
ANTHROPIC = {
    "messages": [
        {"role": "user", "content": "How is the weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I must look.", "signature": "s"},
                text("One moment."),
                {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Bern"}},
                {"type": "tool_use", "id": "t2", "name": "weather", "input": {"city": "Atlantis"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [text("sunny"), PICTURE]},
                {"type": "tool_result", "tool_use_id": "t2", "content": "sunk", "is_error": True},
                text("And tomorrow?"),
            ],
        },
        {"role": "assistant", "content": "Sunny too."},
    ]
}
EARLIER = [
    {"role": "user", "content": "How is the weather?"},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "I must look."},
            {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Bern"}},
            {"type": "tool_use", "id": "t2", "name": "weather", "input": {"city": "Atlantis"}},
        ],
    },
    *(
        {
            "role": "user",
            "content": [{"type": "tool_result", "id": each, "name": "weather", "result": result}],
        }
        for each, result in (
            ("t1", {"llmContent": "sunny"}),
            ("t2", {"llmContent": "sunk", "isError": True}),
        )
    ),
    {"role": "user", "content": "And tomorrow?"},
    {"role": "assistant", "content": "Sunny too."},
]


@pytest.mark.parametrize("wire", [ANTHROPIC, EARLIER])
async def test_results_in_a_user_message_find_their_calls(wire: Any, site: Site) -> None:
    report = await imported(site, json.dumps(wire).encode())
    assert report.skipped == []
    page = await site.alice.page(report.chats[0].id)
    roles = [each.get("data-role") for each in page.messages()]
    assert roles == ["user", "answer", "user", "answer"]
    sunny, sunk = cards(page)
    assert (sunny.get("data-state"), sunk.get("data-state")) == ("done", "failed")
    assert "Bern" in words(sunny)
    assert "sunny" in words(sunny)
    assert "sunk" in words(sunk)
    shown = page.text_of("t")
    assert "I must look." in shown
    assert "And tomorrow?" in shown


async def test_what_an_editor_adds_does_not_hide_what_was_typed(site: Site) -> None:
    content = [text("<ide_opened_file>The user opened a.py</ide_opened_file>"), text("Mend it")]
    question = asked("", message={"role": "user", "content": content})
    report = await imported(site, lines(question, said(text("Mended."))))
    page = await site.alice.page(report.chats[0].id)
    assert report.chats[0].title == "Mend it"
    assert "a.py" not in page.text_of("t")
