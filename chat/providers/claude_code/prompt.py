"""What the program is asked: a session to go on with, and what was said since.

An answer that came to its end keeps the id of its session (`MARK`), as a thought without words: it
goes back to the model that had it, and to no other. Every turn goes on in a copy of the session, so
each answer has one that ends with it, whatever was edited, regenerated or switched since. What no
session knows – another model's answers, one that was stopped – is handed over in words.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

from chat.protocol.frozen import JsonObject
from chat.protocol.ids import is_uuid
from chat.protocol.interfaces import (
    Block,
    FileBlock,
    ModelMessage,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from chat.providers.file_blocks import base64_of, file_note

MARK: Final = "claude_code_session"
EARLIER: Final = "This is what was said before, which you have not seen:"
NOW: Final = "This is what is said now:"
_IMAGES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
# Of what a tool returned in an earlier turn, so much is handed over.
_LONGEST: Final = 4000


def last_session(messages: Sequence[ModelMessage]) -> tuple[str, Sequence[ModelMessage]]:
    """The session that knows the most of the conversation, and what it does not know. It becomes
    an argument of the program, and an import may have brought it: what is no id is none."""
    for place in range(len(messages) - 1, -1, -1):
        for block in messages[place].content:
            session = block.metadata.get(MARK) if isinstance(block, ReasoningBlock) else None
            if isinstance(session, str) and is_uuid(session):
                return session, messages[place + 1 :]
    return "", messages


def prompt_line(messages: Sequence[ModelMessage]) -> bytes:
    """The question as one line of JSON."""
    message = {"role": "user", "content": list(_content(messages))}
    line = json.dumps({"type": "user", "message": message}, ensure_ascii=False)
    return f"{line}\n".encode("utf-8", "replace")


def _content(messages: Sequence[ModelMessage]) -> Iterator[JsonObject]:
    asked_from = len(messages)
    while asked_from and messages[asked_from - 1].role == "user":
        asked_from -= 1
    earlier, asked = messages[:asked_from], messages[asked_from:]
    if earlier:
        lines = "\n".join(map(json.dumps, _said(earlier)))
        yield _text(f"{EARLIER}\n\n{lines}\n\n{NOW}")
    for message in asked:
        for block in message.content:
            yield from _asked(block)


def _asked(block: Block) -> Iterator[JsonObject]:
    match block:
        case TextBlock(text=text):
            if text:
                yield _text(text)
        case FileBlock():
            yield _file(block)
        case ReasoningBlock() | ToolCallBlock() | ToolResultBlock():
            return  # not in what a person says
        case _:
            assert_never(block)


def _text(text: str) -> JsonObject:
    # What begins with a slash would be a command of the program.
    return {"type": "text", "text": f" {text}" if text.startswith("/") else text}


def _file(block: FileBlock) -> JsonObject:
    data = base64_of(block.url)
    if data is None or block.mime not in (*_IMAGES, "application/pdf"):
        return _text(file_note(block))
    kind = "image" if block.mime in _IMAGES else "document"
    return {"type": kind, "source": {"type": "base64", "media_type": block.mime, "data": data}}


def _said(messages: Iterable[ModelMessage]) -> Iterator[JsonObject]:
    """What was said, and what tools did, one object each: nothing in it looks like another turn."""
    for message in messages:
        for block in message.content:
            match block:
                case TextBlock(text=text):
                    if text.strip():
                        yield {message.role: text}
                case FileBlock():
                    yield {message.role: file_note(block)}
                case ToolCallBlock(name=name, input=given):
                    yield {"call": name, "input": given}
                case ToolResultBlock(name=name, text=text):
                    yield {"result of": name, "text": text[:_LONGEST]}
                case ReasoningBlock():
                    pass
                case _:
                    assert_never(block)
