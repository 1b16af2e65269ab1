"""What can still be read of a broken JSON value that holds a list of messages."""

import json
import re
from typing import Any

from chat.formats.imported.claude_lines import is_line
from chat.formats.imported.elements import Broken, elements
from chat.formats.imported.messages import has_role
from chat.protocol.frozen import JsonObject

_KEY = re.compile(r'[\s,]*"([^"\\]{0,100})"\s*:\s*')
_MESSAGES = re.compile(r'"messages"\s*:\s*(?=\[)')
_decoder = json.JSONDecoder()


def salvage(text: str) -> tuple[Any, int] | None:
    """The value with the messages that can be read, `None` in the place of one that cannot; and
    after how many of them it breaks off."""
    text = text.lstrip()
    head, at = _head(text) if text.startswith("{") else ({}, 0)
    if at < 0 or not text.startswith("[", at):
        return None
    is_wanted = _is_ours if str(head.get("format")).startswith("parley.") else _is_theirs
    read = elements([text[at:]], is_wanted)
    messages = [None if isinstance(each, Broken) else each for each in read]
    if messages and messages[-1] is None:
        messages.pop()
    if not any(map(is_wanted, messages)):
        return None
    return ({**head, "messages": messages} if at else messages), len(messages)


def _head(text: str) -> tuple[JsonObject, int]:
    """What an object says before its messages, and where their list begins, or -1."""
    head: JsonObject = {}
    at = 1
    while key := _KEY.match(text, at):
        at = key.end()
        if key[1] == "messages" and text.startswith("[", at):
            return head, at
        try:
            head[key[1]], at = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
    found = _MESSAGES.search(text, at)
    return head, found.end() if found else -1


def _is_ours(value: Any) -> bool:
    return isinstance(value, dict) and "info" in value and "parts" in value


def _is_theirs(value: Any) -> bool:
    return has_role(value) or is_line(value)
