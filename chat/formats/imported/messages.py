"""A list of messages, or an object that has one → a conversation: OpenAI's form, ToolMessage2 and
its forerunners, our own first format, and lines of Claude's command line in one list."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from chat.formats.imported import openai, parley
from chat.formats.imported.claude_lines import is_line, read_values
from chat.formats.imported.fold import Fold, left_out
from chat.formats.imported.items import Began, Ended, Item, Known, Skipped
from chat.formats.imported.older_blocks import as_tool_messages, has_blocks, lost_of_tool_messages
from chat.formats.tool_message_parts import from_tool_messages
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import new_id

# What programs call the id of a conversation.
_IDS = ("id", "conversation_id", "session_id")


def has_role(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("role"), str)


def read_value(
    value: Any, hashed: str, missing_prompt: str, *, is_whole: bool = True
) -> Iterator[Item]:
    """The conversation that a value is. Where a message could not be read `None` stands; `hashed`
    is the id of a conversation that has none of its own."""
    match value:
        case {"format": str(form), "messages": list(messages)} if form.startswith("parley."):
            if form == parley.FIRST_FORMAT and None in messages:
                value = {**value, "id": hashed}
            yield from parley.read_value(value, is_whole=is_whole)
        case {"messages": list(messages)}:
            title = value.get("title")
            key = _key(value, messages, hashed)
            yield from read_messages(messages, (key, hashed), missing_prompt, title)
        case list() if any(map(has_role, value)):
            key = _key({}, value, hashed)
            yield from read_messages(value, (key, hashed), missing_prompt, None)
        case list() if any(map(is_line, value)):
            yield from read_values(value, missing_prompt)
        case dict() if is_line(value):
            yield from read_values([value], missing_prompt)
        case _:
            yield Skipped("file_not_understood")


def _key(value: JsonObject, messages: list[Any], hashed: str) -> str:
    """By what the conversation is known again when it has grown. One with a gap is another: what
    is missing in it could not be put in its place later."""
    if None in messages:
        return hashed
    first = messages[0] if messages and isinstance(messages[0], dict) else {}
    given = (*(value.get(name) for name in _IDS), first.get("uuid"))
    return next((each for each in given if isinstance(each, str) and each), hashed)


def read_messages(
    messages: list[Any], ids: tuple[str, str], missing_prompt: str, title: Any
) -> Iterator[Item]:
    """`ids` are those by which the conversation is known: by its own, and by all that it says."""
    external_id, hashed = ids
    known = [message for message in messages if has_role(message)]
    if not known:
        yield Skipped("file_not_understood")
        return
    for number, message in enumerate(messages, start=1):
        if not has_role(message):
            yield Skipped("message_not_understood", str(number))
    title = title if isinstance(title, str) else ""
    if any(map(has_blocks, known)):
        yield from _tool_messages(known, ids, title)
        return
    fold = Fold(missing_prompt, external_id, hashed)
    yield Began(fold.id, "openai")
    for update in openai.read_messages(known):
        yield from fold.add(update)
    for item in fold.end():
        yield Ended(external_id, title) if isinstance(item, Ended) else item


def _tool_messages(messages: list[JsonObject], ids: tuple[str, str], title: str) -> Iterator[Item]:
    external_id, hashed = ids
    session_id = new_id()
    yield Began(session_id, "tool-messages")
    yield Known(external_id, apart=hashed)
    wire = list(as_tool_messages(messages))
    read = from_tool_messages(wire, session_id)
    yield from read.messages
    for fault in read.faults:
        yield Skipped(fault.code, fault.call_id)
    yield from left_out(Counter(lost_of_tool_messages(wire)))
    yield Ended(external_id, title)
