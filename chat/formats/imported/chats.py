"""A file → the conversations in it, whichever of the known forms it has; found by its content.

Nothing readable is lost: what cannot be read is `Skipped`, with the place where it stands.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from chat.formats.claude_stream import BadLine, ClaudeReader, Line, LineReader
from chat.formats.imported import openai, parley, shapes
from chat.formats.imported.conversation import ImportedConversation, LateResult
from chat.formats.imported.updates import Update
from chat.formats.tool_message_parts import from_tool_messages
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import new_id
from chat.protocol.messages import WithParts
from chat.protocol.text import clean_json, is_deep

Form = Literal["claude", "openai", "tool-messages", "parley"]
# How much of a file is looked at to see that its first line is an object by itself.
FIRST_LINE = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Began:
    """A conversation begins: where it came from, and what it is called, as far as is known."""

    id: str
    form: Form


@dataclass(frozen=True, slots=True)
class Ended:
    """The conversation is whole. Its `external_id` finds it again when it is imported again."""

    external_id: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """The id by which the conversation that is being read can be found again."""

    external_id: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was left out: why, and at which line, message or call."""

    reason: str
    where: str = ""


Item = Began | Known | WithParts | LateResult | Skipped | Ended


@dataclass(slots=True)
class _Text:
    """What has come of the file; it is read once."""

    chunks: Iterator[str]
    ahead: list[str] = field(default_factory=list)

    def start(self) -> str:
        """The beginning of the file, up to the end of a first long line."""
        length = 0
        for chunk in self.chunks:
            self.ahead.append(chunk)
            length += len(chunk)
            if "\n" in chunk or length > FIRST_LINE:
                break
        return "".join(self.ahead)

    def rest(self) -> Iterator[str]:
        yield from self.ahead
        self.ahead = []
        yield from self.chunks


def read_chats(chunks: Iterable[str], missing_prompt: str) -> Iterator[Item]:
    """The conversations of a file, piece by piece."""
    text = _Text(iter(chunks))
    start = text.start().lstrip("\ufeff \t\r\n")
    if _begins_with_lines(start):
        yield from _lines(text.rest(), missing_prompt)
    else:
        yield from _whole("".join(text.rest()).lstrip("\ufeff"), missing_prompt)


def _begins_with_lines(start: str) -> bool:
    """Whether the file has one object per line; a program may have printed warnings before."""
    lines = start.split("\n")
    for line in lines:
        first = line.strip()
        if first.startswith("["):
            # A message of a program in brackets, or the beginning of a list?
            if _parsed(first) is None and not first.rstrip(",").endswith(("[", "{")):
                continue
            return False
        if first.startswith("{"):
            value = _parsed(first)
            return isinstance(value, dict) and isinstance(value.get("type"), str)
    return False


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _lines(chunks: Iterable[str], missing_prompt: str) -> Iterator[Item]:
    """A stream of Claude's command line, or a transcript that it keeps."""
    lines, reader = LineReader(), ClaudeReader()
    fold = _Fold(missing_prompt)
    yield Began(fold.id, "claude")
    for chunk in chunks:
        yield from _read_lines(lines.feed(chunk), reader, fold)
    yield from _read_lines(lines.close(), reader, fold)
    yield from fold.end()


def _read_lines(
    lines: Iterable[Line | BadLine], reader: ClaudeReader, fold: "_Fold"
) -> Iterator[Item]:
    for line in lines:
        if isinstance(line, BadLine):
            yield Skipped(line.fault, str(line.number))
        else:
            for update in reader.read(line.value):
                yield from fold.add(update)


class _Fold:
    """One conversation that is being folded; says its id as soon as it is known."""

    def __init__(self, missing_prompt: str, external_id: str = "") -> None:
        self.id = new_id()
        self._conversation = ImportedConversation(self.id, missing_prompt)
        self._external_id = external_id
        self._is_known = False

    def add(self, update: Update) -> Iterator[Item]:
        for item in self._conversation.apply(update):
            yield from self._say_id()
            yield item
        yield from self._faults()

    def end(self) -> Iterator[Item]:
        for item in self._conversation.close():
            yield from self._say_id()
            yield item
        yield from self._faults()
        yield Ended(self._id(), self._conversation.title)

    def _faults(self) -> Iterator[Item]:
        for fault in self._conversation.faults:
            yield Skipped(fault.code, fault.call_id)
        self._conversation.faults.clear()

    def _say_id(self) -> Iterator[Item]:
        if not self._is_known:
            self._is_known = True
            yield Known(self._id())

    def _id(self) -> str:
        return self._external_id or self._conversation.external_id


def _whole(text: str, missing_prompt: str) -> Iterator[Item]:
    """A file that is one JSON value."""
    try:
        value = json.loads(text)
    except RecursionError:
        yield Skipped("file_too_deep")
        return
    except ValueError as error:
        at = f"{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        yield Skipped("file_not_json", at)
        return
    if is_deep(value):
        yield Skipped("file_too_deep")
        return
    external_id = sha256(text.encode(errors="replace")).hexdigest()[:40]
    yield from _value(clean_json(value), external_id, missing_prompt)


def _value(value: Any, external_id: str, missing_prompt: str) -> Iterator[Item]:
    match value:
        case {"format": str(form), "messages": list(messages)} if form.startswith("parley."):
            yield from _parley(value, form, messages)
        case {"messages": list(messages)}:
            title = value.get("title")
            yield from _messages(messages, external_id, missing_prompt, title)
        case list() if value and all(isinstance(each, dict) for each in value):
            yield from _messages(value, external_id, missing_prompt, None)
        case _:
            yield Skipped("file_not_understood")


def _messages(
    messages: list[Any], external_id: str, missing_prompt: str, title: Any
) -> Iterator[Item]:
    known = [message for message in messages if _has_role(message)]
    if not known:
        yield Skipped("file_not_understood")
        return
    for number, message in enumerate(messages, start=1):
        if not _has_role(message):
            yield Skipped("message_not_understood", str(number))
    title = title if isinstance(title, str) else ""
    if any(map(_is_tool_message, known)):
        yield from _tool_messages(known, external_id, title)
        return
    fold = _Fold(missing_prompt, external_id)
    yield Began(fold.id, "openai")
    for update in openai.read_messages(known):
        yield from fold.add(update)
    for item in fold.end():
        yield Ended(external_id, title) if isinstance(item, Ended) else item


def _has_role(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("role"), str)


def _is_tool_message(message: JsonObject) -> bool:
    """Whether a message has blocks of ToolMessage2: calls among its content, or `tool-result`s."""
    blocks = shapes.objects(message.get("content"))
    return any(block.get("type") in ("tool-result", "tool_use") for block in blocks)


def _with_blocks(message: JsonObject) -> JsonObject:
    """The message with nothing but blocks in its content, each call among them with an id."""
    content = message.get("content")
    if not isinstance(content, list):
        return message if isinstance(content, str) else {**message, "content": ""}
    blocks = [block for block in content if isinstance(block, dict)]
    named = [
        {**block, "id": block.get("id") or f"call_{new_id()}"}
        if block.get("type") == "tool_use"
        else block
        for block in blocks
    ]
    return {**message, "content": named}


def _tool_messages(messages: list[JsonObject], external_id: str, title: str) -> Iterator[Item]:
    session_id = new_id()
    yield Began(session_id, "tool-messages")
    yield Known(external_id)
    read = from_tool_messages(map(_with_blocks, messages), session_id)
    yield from read.messages
    for fault in read.faults:
        yield Skipped(fault.code, fault.call_id)
    yield Ended(external_id, title)


def _parley(value: JsonObject, form: str, messages: list[Any]) -> Iterator[Item]:
    if form != parley.FORMAT:
        yield Skipped("file_too_new", form)
        return
    external_id = str(value.get("id") or "")
    session_id = new_id()
    yield Began(session_id, "parley")
    yield Known(external_id)
    for number, message in enumerate(messages, start=1):
        try:
            yield parley.read_message(message, session_id)
        except parley.Unreadable:
            yield Skipped("message_not_understood", str(number))
    yield Ended(external_id, str(value.get("title") or ""))
