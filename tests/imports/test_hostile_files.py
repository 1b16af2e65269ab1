"""Files that are broken, hostile or very long: nothing is raised, and the cost is linear (D1)."""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any

import pytest

from chat.formats.imported import chatgpt, librechat
from chat.formats.imported.chats import read_chats
from chat.formats.imported.items import Ended, Skipped
from chat.formats.imported.updates import Update, Words
from chat.protocol.citations import MOST, Citation
from chat.protocol.messages import WithParts
from tests.imports.transcripts import TRANSCRIPT, asked, call, returned, said, text
from tests.support.measuring import ratio


def mutated(value: Any, chance: random.Random) -> Any:
    """The same, with something in it that should not be there, or without something."""
    odd = (None, True, -1, 1e308, "", "\x00", "\ud800", [], {}, [[]], {"type": []}, "x" * 50)
    if chance.random() < 0.08:
        return chance.choice(odd)
    if isinstance(value, dict):
        kept = {k: mutated(v, chance) for k, v in value.items() if chance.random() > 0.05}
        if chance.random() < 0.05:
            kept[chance.choice(("type", "id", "content", "message", "uuid"))] = chance.choice(odd)
        return kept
    if isinstance(value, list):
        return [mutated(item, chance) for item in value for _ in range(chance.choice((1, 1, 1, 2)))]
    return value


def partial_lines() -> Iterator[dict[str, Any]]:
    """Blocks in pieces, old forms, session updates, ends: one of each."""
    yield {"type": "system", "subtype": "init", "session_id": "s", "model": "m"}
    for event in (
        {"type": "message_start", "message": {"id": "m1", "model": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_start", "index": 1,
         "content_block": {"type": "tool_use", "id": "t9", "name": "Bash", "input": {}}},
        {"type": "content_block_delta", "index": 1,
         "delta": {"type": "input_json_delta", "partial_json": '{"command": "ls"}'}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"},
         "usage": {"output_tokens": 3}},
    ):  # fmt: skip
        yield {"type": "stream_event", "event": event, "session_id": "s"}
    yield {"type": "tool", "tool": {"id": "o1", "name": "Bash", "input": {"command": "pwd"}}}
    yield {"type": "tool_result", "tool_result": {"id": "o1", "content": "/w"}}
    yield {"type": "mcp_call", "content": {"id": "k1", "server": "s", "tool": "t", "input": {}}}
    yield {"type": "bash_request", "content": {"id": "b1", "command": "ls"}}
    yield {"type": "result", "subtype": "success", "is_error": True, "result": "no", "usage": {}}


SEEDS = [*map(json.loads, TRANSCRIPT.splitlines()), *partial_lines()]


def test_ten_thousand_mutated_lines_never_raise() -> None:
    chance = random.Random(7)
    for _ in range(400):
        rows = [json.dumps(mutated(chance.choice(SEEDS), chance)) for _ in range(25)]
        if chance.random() < 0.3:
            rows[3] = rows[3][: len(rows[3]) // 2]
        file = json.dumps({"type": "system"}) + "\n" + "\n".join(rows)
        cut = chance.randrange(1, len(file))
        for item in read_chats([file[:cut], file[cut:]], "…"):
            if isinstance(item, WithParts):
                item.model_dump_json(by_alias=True)


@pytest.mark.parametrize("whole", [False, True])
def test_mutated_messages_of_other_forms_never_raise(whole: bool) -> None:
    chance = random.Random(11)
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "content": "b", "tool_calls": [
            {"id": "1", "function": {"name": "f", "arguments": "{"}}]},
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "c"}]},
        {"role": "assistant",
         "content": [{"type": "tool_use", "id": "k", "name": "r", "input": 1}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "k", "result": {}}]},
    ]  # fmt: skip
    for _ in range(400):
        given = mutated(messages, chance)
        value = {"format": "parley.v1", "messages": given} if whole else given
        list(read_chats([json.dumps(value)], "…"))


def test_mutated_exports_of_ours_never_raise() -> None:
    """By lines, as they are written: with other values, cut off anywhere, lines lost and twice."""
    chance = random.Random(13)
    ids = {"sessionID": "0d7c6f7e-2f5d-4d0a-9b5c-9a1f0c1d2e3f"}
    key = "0d7c6f7e-2f5d-4d0a-9b5c-9a1f0c1d2e40"
    part = {"id": "p", "type": "text", "text": "a", "messageID": key, **ids}
    message = {
        "place": {"parent": key, "copyOf": key, "created": "2026-01-02T03:04:05Z"},
        "info": {"id": key, "role": "user", "time": {"created": 1}, "version": 2, **ids},
        "parts": [part],
    }
    head = {"format": "parley.v2", "id": key, "folder": {"name": "f"}, "toolsOff": ["a"]}
    file = {"id": key, "mime": "image/png", "data": "AAAA"}
    for _ in range(400):
        odd = {key: mutated(value, chance) for key, value in head.items()}
        lines = [json.dumps({**odd, "format": "parley.v2"})[:-1] + ","]
        for section, entry in (("files", file), ("messages", message), ("queue", message)):
            entries = [json.dumps(mutated(entry, chance)) for _ in range(chance.randrange(3))]
            lines += [f'"{section}": [', *(f"{each}," for each in entries), "],"]
        if chance.random() < 0.2:
            lines[1:] = chance.choices(lines[1:], k=len(lines))
        text = "\n".join(lines)
        list(read_chats([text[: chance.randrange(len(text) + 1)]], "…"))


@pytest.mark.parametrize(
    ("start", "more", "end", "reason"),
    [
        ("[", "[],", "[]]", "file_too_large"),
        ('{"messages": [', "{},", "{}]}", "file_too_large"),
        ('{"type": "system"}\n{"type": "user", "a": [', "[],", "[]]}", "line_not_json"),
        (
            '{"format": "parley.v2", "id": "x",\n"messages": [\n{"a": [',
            "{},",
            "{}]}\n]}",
            "line_not_json",
        ),
    ],
)
def test_a_text_that_would_fill_the_memory_is_not_read(
    start: str, more: str, end: str, reason: str
) -> None:
    """Three letters of it take 64 bytes: fifty megabytes would take one gigabyte."""
    text = start + more * 2_100_000 + end
    skipped = [each.reason for each in read_chats([text], "…") if isinstance(each, Skipped)]
    assert reason in skipped


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        ('["', "file_too_large"),
        ('"', "file_too_large"),
        ('{"format": "parley.v2", "id": "x",\n"messages": [\n{"a": "', "line_not_json"),
        ('{"type": "system"}\n{"a": "', "line_too_long"),
    ],
)
def test_no_value_is_longer_than_what_fits_the_memory(start: str, reason: str) -> None:
    """Little bytes of an archive may be unpacked to a gigabyte of one text."""
    chunks = chain((start,), repeat("a" * 1_000_000, 1000))
    skipped = [each.reason for each in read_chats(chunks, "…") if isinstance(each, Skipped)]
    assert reason in skipped


def a_long_transcript(turns: int, size: int = 400) -> Iterator[str]:
    for number in range(turns):
        rows = (
            asked("What is in it?", uuid=f"u{number}"),
            said(call(f"t{number}", "Read", file_path="a"), uuid=f"a{number}"),
            returned(f"t{number}", "word " * (size // 5), uuid=f"r{number}"),
            said(text("Many words."), uuid=f"b{number}"),
        )
        yield "".join(f"{json.dumps(_renamed(row, number))}\n" for row in rows)


def _renamed(row: dict[str, Any], number: int) -> dict[str, Any]:
    message = {**row["message"], **({"id": row["uuid"]} if row["type"] == "assistant" else {})}
    return {**row, "message": message, "parentUuid": f"p{number}"}


def read(chunks: list[str]) -> Callable[[], object]:
    return lambda: [1 for _ in read_chats(chunks, "…")]


def test_reading_is_linear() -> None:
    long, short = list(a_long_transcript(1200)), list(a_long_transcript(600))
    assert ratio(read(long), read(short), 2.2) <= 2.2


def test_one_long_answer_is_linear() -> None:
    """Thousands of calls in one answer."""

    def answer(calls: int) -> list[str]:
        rows = [json.dumps(asked("Go", 1))]
        for number in range(calls):
            rows.append(json.dumps(said(call(f"t{number}", "Read"), uuid=f"a{number}")))
            rows.append(json.dumps(returned(f"t{number}", "x", uuid=f"r{number}")))
        return ["\n".join(rows)]

    assert ratio(read(answer(4000)), read(answer(2000)), 2.2) <= 2.2


def test_every_call_of_a_long_transcript_is_paired() -> None:
    items = list(read_chats(a_long_transcript(300), "…"))
    answers = [item for item in items if isinstance(item, WithParts) and item.tools]
    assert len(answers) == 300
    states = {tool.state.status for answer in answers for tool in answer.tools}
    assert states == {"completed"}
    assert not [item for item in items if isinstance(item, Skipped)]
    assert isinstance(items[-1], Ended)


@pytest.mark.full
def test_a_hundred_megabytes_need_little_memory_and_no_more_than_their_time() -> None:
    """50,000 lines, read and written in a process of its own, which says how far it has come.

    Twice as much takes at most 2.2 times as long where a batch of the second half takes at most 1.2
    times as long as one of the first. Others on the machine make single batches slower: those that
    a quarter is faster than are compared.
    """
    figures = _figures(12_500)
    assert figures["bytes"] > 100_000_000
    assert figures["megabytes"] < 300, figures
    assert figures["told"] >= 200, figures
    assert figures["late"] <= 1.2 * figures["early"], figures
    assert figures["end"] <= 0.1 * figures["seconds"], figures


def _figures(turns: int) -> dict[str, float]:
    program = f"from tests.imports.test_hostile_files import import_much; import_much({turns})"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=900
    )
    figures: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return figures


def import_much(turns: int) -> None:
    """Import a long transcript into a database of its own, and print what it took."""
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(PARLEY_DATA=folder, DJANGO_SETTINGS_MODULE="chatsite.settings")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        path = Path(folder) / "long.jsonl"
        with path.open("w") as file:
            for chunk in a_long_transcript(turns, size=7_200):
                file.write(chunk)
        print(json.dumps({"bytes": path.stat().st_size, **_import(path)}))


def _import(path: Path) -> dict[str, float]:
    """What each batch takes of the processor, those of the first half and those of the second; and
    the most memory."""
    from django.contrib.auth.models import User

    from chat.services import Caller, ImportSource, import_chats

    caller = Caller(user_id=User.objects.create_user("alice").pk)
    size = path.stat().st_size
    told: set[int] = set()
    marks = [time.process_time()]

    async def run() -> None:
        with path.open("rb") as file:
            chunks = iter(lambda: file.read(256 * 1024), b"")
            source = ImportSource(path.name, size, chunks)
            async for report in import_chats(caller, source):
                told.add(report.read)
                marks.append(time.process_time())

    asyncio.run(run())
    *steps, end, _ = (after - before for before, after in pairwise(marks))
    half = len(steps) // 2
    early, late = (sorted(each)[half // 4] for each in (steps[:half], steps[half:]))
    return {
        "megabytes": _most_memory() / 1024,
        "seconds": marks[-1] - marks[0],
        "told": len(told),
        "early": early,
        "late": late,
        "end": end,
    }


def _most_memory() -> int:
    """In kilobytes; `getrusage` would count the process that has started this one."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def a_chatgpt_answer(text: str, **metadata: Any) -> list[dict[str, Any]]:
    content = {"content_type": "text", "parts": [text]}
    return [{"author": {"role": "assistant"}, "content": content, "metadata": metadata}]


def updates_of_chatgpt(messages: list[dict[str, Any]]) -> list[Update]:
    return list(chatgpt.read({"mapping": {}}, lambda _key: None).answer(messages))


def updates_of_librechat(messages: list[dict[str, Any]]) -> list[Update]:
    return list(librechat.read({"messages": []}, lambda _key: None).answer(messages))


def citations_of(updates: list[Update]) -> list[Citation]:
    return [each for update in updates if isinstance(update, Words) for each in update.citations]


def test_a_few_marks_with_many_sources_do_not_fill_the_memory() -> None:
    mark = "\ue200a\ue201"
    reference = {"matched_text": mark, "items": [{"url": "https://a.example"}] * 300}
    found = updates_of_chatgpt(
        a_chatgpt_answer(f"a{mark}" * 300, content_references=[reference]) * 3
    )
    assert len(citations_of(found)) == MOST
    assert not any(mark in update.delta for update in found if isinstance(update, Words))

    search = {"turn": 0, "organic": [{"link": "https://a.example", "snippet": "a" * 50_000}]}
    parts = [{"type": "text", "text": f"\ue200{'turn0search0 ' * 200}\ue201 b"}] * 60
    hits = [{"web_search": search}] * 60
    named = citations_of(updates_of_librechat([{"content": parts, "attachments": hits}]))
    assert len(named) == MOST
    assert max(len(each.quote) for each in named) < 2000


def test_marks_that_lead_nowhere_are_not_looked_for_in_every_list() -> None:
    def of_chatgpt(count: int) -> Callable[[], object]:
        text = "".join(f"\ue200a{number}\ue201【{number}†a】" for number in range(count))
        given = a_chatgpt_answer(
            text,
            content_references=[{"matched_text": f"b{number}"} for number in range(count)],
            citations=[{"metadata": {"url": "https://a.example"}}] * count,
        )
        return lambda: updates_of_chatgpt(given)

    def of_librechat(count: int) -> Callable[[], object]:
        parts = [{"type": "text", "text": "\ue202turn1search0 a"}] * count
        hits = [{"web_search": {"turn": 0, "organic": [{"link": "https://a.example"}]}}] * count
        given = [{"content": parts, "attachments": hits}]
        return lambda: updates_of_librechat(given)

    def of_a_question(count: int) -> Callable[[], object]:
        pointers = [
            {"content_type": "image_asset_pointer", "asset_pointer": f"sediment://f{number}"}
            for number in range(count)
        ]
        files = [{"id": f"g{number}"} for number in range(count)]
        given = {"content": {"parts": pointers}, "metadata": {"attachments": files}}
        return lambda: chatgpt.read({"mapping": {}}, lambda _key: None).question(given)

    for make in (of_chatgpt, of_librechat, of_a_question):
        assert ratio(make(1600), make(400), 8) <= 8
