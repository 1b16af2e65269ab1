"""Files that are broken, hostile or very long: nothing is raised, and the cost is linear (D1)."""

import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chat.formats.imported.chats import Ended, Skipped, read_chats
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
def test_a_hundred_megabytes_need_little_memory() -> None:
    """50,000 lines, read and written by the command, in a process of its own."""
    program = "from tests.imports.test_hostile_files import import_much; import_much()"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=900
    )
    figures = json.loads(run.stdout.splitlines()[-1])
    assert figures["bytes"] > 100_000_000
    assert figures["megabytes"] < 300, figures


def import_much() -> None:
    """Import a transcript of 100 MB into a database of its own, and print what it took."""
    import os
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(PARLEY_DATA=folder, DJANGO_SETTINGS_MODULE="chatsite.settings")
        import django

        django.setup()
        from django.contrib.auth.models import User
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        User.objects.create_user("alice")
        path = Path(folder) / "long.jsonl"
        with path.open("w") as file:
            for chunk in a_long_transcript(12_500, size=7_200):
                file.write(chunk)
        start = time.monotonic()
        call_command("import_chats", str(path))
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        seconds = round(time.monotonic() - start, 1)
        print(json.dumps({"bytes": path.stat().st_size, "megabytes": used, "seconds": seconds}))
