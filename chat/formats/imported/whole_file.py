"""A file that is read as a whole: one JSON value, or messages that stand one in each line."""

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from chat.formats.claude_stream import BadLine, LineReader
from chat.formats.imported import claude_lines, exports
from chat.formats.imported.elements import LONGEST_VALUE
from chat.formats.imported.items import Item, Lookup, Skipped
from chat.formats.imported.messages import read_messages, read_value
from chat.formats.imported.salvage import salvage
from chat.protocol.text import clean_json, has_too_many, is_deep


def read_whole(chunks: Iterable[str], missing_prompt: str, files: Lookup) -> Iterator[Item]:
    """A file that is one JSON value; of a broken one, what can be read."""
    text = _joined(chunks)
    if text is None:
        yield Skipped("file_too_large")
        return
    if not text.strip():
        yield Skipped("file_empty")
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        yield from _salvaged(text, _fault(text, error), missing_prompt)
        return
    if exports.is_form(value):
        yield from exports.read(value, missing_prompt, files, "1")
    else:
        yield from _value(value, text, missing_prompt)


def read_message_lines(chunks: Iterable[str], missing_prompt: str) -> Iterator[Item]:
    """OpenAI's messages, one in each line."""
    text = _joined(chunks)
    if text is None:
        yield Skipped("file_too_large")
        return
    lines = LineReader()
    messages: list[Any] = []
    for line in (*lines.feed(text), *lines.close()):
        if isinstance(line, BadLine):
            yield Skipped(line.fault, str(line.number))
        else:
            messages.append(line.value)
    if lines.passed:
        yield Skipped("text_left_out", count=lines.passed)
    hashed = _hash(text)
    yield from read_messages(messages, (hashed, hashed), missing_prompt, None)


def _joined(chunks: Iterable[str]) -> str | None:
    """The text of a file, if it fits the memory with all that is in it."""
    pieces: list[str] = []
    length = 0
    for chunk in chunks:
        pieces.append(chunk)
        length += len(chunk)
        if length > LONGEST_VALUE:
            return None
    text = "".join(pieces).lstrip("\ufeff")
    return None if has_too_many(text) else text


def _hash(text: str) -> str:
    return sha256(text.encode(errors="replace")).hexdigest()[:40]


def _fault(text: str, error: ValueError | RecursionError) -> Skipped:
    if isinstance(error, RecursionError):
        return Skipped("file_too_deep")
    if text.lstrip()[0] not in "[{":
        return Skipped("file_other")
    at = f"{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else ""
    return Skipped("file_not_json", at)


def _salvaged(text: str, fault: Skipped, missing_prompt: str) -> Iterator[Item]:
    found = salvage(text)
    if found is not None:
        value, count = found
        yield from _value(value, text, missing_prompt, is_whole=False)
        yield Skipped("file_cut_off", str(count))
    elif any(map(_is_typed, text.split("\n"))):
        # Lines, of which those at the beginning are broken.
        yield from claude_lines.read_lines((text,), missing_prompt)
    else:
        yield fault


def _is_typed(line: str) -> bool:
    try:
        return line.lstrip().startswith("{") and claude_lines.is_line(json.loads(line))
    except (ValueError, RecursionError):
        return False


def _value(value: Any, text: str, missing_prompt: str, *, is_whole: bool = True) -> Iterator[Item]:
    messages = value.get("messages") if isinstance(value, dict) else value
    rest = value
    if isinstance(messages, list):
        # One that is too deep costs no other.
        messages = [None if is_deep(each) else each for each in messages]
        rest = {**value, "messages": []} if isinstance(value, dict) else []
        value = {**value, "messages": messages} if isinstance(value, dict) else messages
    if is_deep(rest):
        yield Skipped("file_too_deep")
        return
    yield from read_value(clean_json(value), _hash(text), missing_prompt, is_whole=is_whole)
