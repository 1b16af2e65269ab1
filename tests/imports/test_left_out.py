"""Nothing is dropped without a word: what is not kept is counted, and told once for its kind."""

import json
from base64 import b64encode
from typing import Any

from chat.formats.imported.chats import read_chats
from chat.formats.imported.items import Skipped
from chat.models import Attachment
from tests.imports.test_imports import imported, upload
from tests.imports.transcripts import asked, call, lines, returned, said, text
from tests.support.sample_files import a_png
from tests.support.site import Site

Json = dict[str, Any]


def encoded(data: bytes) -> str:
    return b64encode(data).decode()


def told(file: bytes) -> list[tuple[str, str, int]]:
    items = list(read_chats([file.decode()], "…"))
    return [(item.reason, item.where, item.count) for item in items if isinstance(item, Skipped)]


def test_lines_that_nobody_knows_are_counted_by_their_kind() -> None:
    known = [{"type": kind} for kind in ("queue-operation", "attachment", "last-prompt", "system")]
    odd = [{"type": "hologram", "uuid": str(number)} for number in range(3)]
    file = lines(asked("Go", 1), *known, *odd, {"type": "x" * 99}, said(text("Gone.")))
    assert told(b"[warn] slow\n\n" + file + b"Killed\n") == [
        ("line_left_out", "hologram", 3),
        ("line_left_out", "x" * 40, 1),
        ("text_left_out", "", 2),
    ]


def test_what_claude_was_shown_is_kept_or_told() -> None:
    there = {"type": "url", "url": "https://a.example/a.png"}
    question = asked("", 1)
    question["message"]["content"] = [
        {"type": "image", "source": there}, {"type": "image", "source": there},
        {"type": "document", "source": {"type": "file", "file_id": "f1"}},
        {"type": "hologram"},
    ]  # fmt: skip
    answer = said(text("Two."), {"type": "hologram"}, {"type": "redacted_thinking", "data": "x"})
    assert told(lines(question, answer)) == [
        ("content_left_out", "image", 2),
        ("content_left_out", "hologram", 2),
        ("content_left_out", "document", 1),
        ("content_left_out", "redacted_thinking", 1),
    ]


def test_what_a_tool_returned_is_kept_as_its_text() -> None:
    elsewhere = {"type": "image", "source": {"type": "url", "url": "https://a.example/a.png"}}
    file = lines(asked("Go", 1), said(call("t1", "Look")), returned("t1", [elsewhere]))
    items = list(read_chats([file.decode()], "…"))
    assert "https://a.example/a.png" in str(items)
    assert not any(isinstance(item, Skipped) for item in items)


OPENAI: list[Json] = [
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": "Be kind."},
    {"role": "user", "content": [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "https://a.example/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"file_id": "f1"}},
        "and tell", 7,
    ]},
    {"role": "critic", "content": "No."},
    {"role": "critic", "content": "No!"},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]},
    {"role": "user", "content": "Speak"},
    {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "I speak."}},
]  # fmt: skip


def test_what_openai_messages_have_is_kept_or_told() -> None:
    file = json.dumps(OPENAI)
    assert sorted(told(file.encode())) == [
        ("content_left_out", "file", 1),
        ("content_left_out", "image_url", 1),
        ("content_left_out", "input_audio", 1),
        ("content_left_out", "int", 1),
        ("message_left_out", "critic", 2),
        ("message_left_out", "developer", 1),
        ("message_left_out", "system", 1),
    ]
    shown = str(list(read_chats([file], "…")))
    for words in ("Look", "and tell", "I will not.", "I speak."):
        assert words in shown


def test_what_tool_messages_have_is_kept_or_told() -> None:
    wire = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "hologram"}, {"type": "text", "text": "Go"}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "k", "name": "read", "input": {}}, {"type": "hologram"}]},
        {"role": "tool", "content": [
            {"type": "tool-result", "toolCallId": "k", "result": {"llmContent": "A"}}]},
    ]  # fmt: skip
    assert sorted(told(json.dumps(wire).encode())) == [
        ("content_left_out", "hologram", 2),
        ("message_left_out", "system", 1),
    ]


async def test_documents_become_files_of_ours(site: Site) -> None:
    """A PDF and a text of Claude's, a PDF and a picture of OpenAI's, and one among old blocks."""
    pdf, note = (
        encoded(b"%PDF-1.4 of hens"),
        {"type": "text", "media_type": "text/plain", "data": "hen"},
    )
    source = {"type": "base64", "media_type": "application/pdf", "data": pdf}
    question = asked("", 1)
    question["message"]["content"] = [
        text("Read"), {"type": "document", "source": source, "title": "hens.pdf"},
        {"type": "document", "source": note},
    ]  # fmt: skip
    inline = f"data:application/pdf;base64,{pdf}"
    openai = [{"role": "user", "content": [
        {"type": "file", "file": {"filename": "a.pdf", "file_data": inline}},
        {"type": "file", "file": {"filename": "b.pdf", "file_data": pdf}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encoded(a_png())}"}},
    ]}]  # fmt: skip
    blocks = [
        {"role": "user", "content": [{"type": "document", "source": source, "title": "old.pdf"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]},
    ]
    for file in (lines(question, said(text("Read."))), *(
        json.dumps(each).encode() for each in (openai, blocks))
    ):  # fmt: skip
        assert (await imported(site, file)).skipped == []
    rows = [(row.filename, row.mime) async for row in Attachment.objects.order_by("created", "pk")]
    assert rows[:4] == [
        ("hens.pdf", "application/pdf"), ("document.txt", "text/plain"),
        ("a.pdf", "application/pdf"), ("b.pdf", "application/pdf"),
    ]  # fmt: skip
    assert rows[4][1] == "image/png"
    assert rows[5:] == [("old.pdf", "application/pdf")]


async def test_the_report_tells_every_kind_once(site: Site) -> None:
    odd = [{"type": "hologram", "uuid": str(number)} for number in range(3)]
    file = ("a.jsonl", lines(asked("Go", 1), *odd, said(text("Gone."))))
    page = await upload(site.alice, file)
    assert "Lines of the kind “hologram” were passed over: 3." in page
    chinese = await upload(site.alice.speaking("zh-hans"), file)
    assert "类型为“hologram”的行已跳过：3 行。" in chinese
