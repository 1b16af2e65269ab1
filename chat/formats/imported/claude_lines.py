"""A stream of Claude's command line, or a transcript that it keeps: by lines, or in one list."""

from collections.abc import Iterable, Iterator
from typing import Any

from chat.formats.claude_stream import AgentFiles, BadLine, ClaudeReader, Line, LineReader
from chat.formats.imported.fold import Fold
from chat.formats.imported.items import Began, Item, Skipped

# One of these is in every line that says something.
_MARKS = ("uuid", "message", "session_id", "sessionId", "event")


def is_line(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("type"), str)
        and any(mark in value for mark in _MARKS)
    )


def read_lines(
    chunks: Iterable[str], missing_prompt: str, agents: AgentFiles | None = None
) -> Iterator[Item]:
    """A session; what its sub-agents did may lie in files of their own."""
    lines = LineReader()
    yield from _read(_lines(lines, chunks), missing_prompt, agents or AgentFiles())
    if lines.passed:
        yield Skipped("text_left_out", count=lines.passed)


def read_values(values: Iterable[Any], missing_prompt: str) -> Iterator[Item]:
    lines = (
        Line(number, value) if isinstance(value, dict) else BadLine(number, "line_not_json")
        for number, value in enumerate(values, start=1)
    )
    return _read(lines, missing_prompt, AgentFiles())


def _lines(reader: LineReader, chunks: Iterable[str]) -> Iterator[Line | BadLine]:
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.close()


def _read(
    lines: Iterable[Line | BadLine], missing_prompt: str, agents: AgentFiles
) -> Iterator[Item]:
    reader = ClaudeReader(agents)
    fold = Fold(missing_prompt)
    yield Began(fold.id, "claude")
    for line in lines:
        if isinstance(line, BadLine):
            yield Skipped(line.fault, str(line.number))
        else:
            for update in reader.read(line.value):
                yield from fold.add(update)
            for name, broken in agents.take_broken():
                yield Skipped(broken.fault, str(broken.number), inside=name)
    for update in reader.close():
        yield from fold.add(update)
    yield from fold.end()
