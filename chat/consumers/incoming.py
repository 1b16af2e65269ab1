"""The frames that come into a socket: what can be seen of one, and what it holds."""

import json
import re
from typing import Any

from django.conf import settings

from chat.protocol.errors import ChatError
from chat.protocol.text import clean_json

_CLIENT_ID = re.compile(r'"client_id":\s*"([\w-]{1,64})"')
_ACKNOWLEDGEMENT = re.compile(r'"command"\s*:\s*"ack"')


def is_acknowledgement(message: dict[str, Any]) -> bool:
    """Whether a frame only says how far was read. A program does so for every event, which is
    nothing that it asks for."""
    text = message.get("text") or ""
    return len(text) < 200 and _ACKNOWLEDGEMENT.search(text) is not None


def id_at_end(message: dict[str, Any]) -> str:
    """The `client_id` of a frame that was not read, because it is too long or came too fast.
    Whoever sent it waits for a reply that names it; pages write it behind the text."""
    text = message.get("text") or ""
    found = _CLIENT_ID.search(text, max(0, len(text) - 500))
    return found[1] if found else ""


def parsed(message: dict[str, Any]) -> dict[str, Any]:
    """The JSON object that a frame holds."""
    text = message.get("text")
    limit = settings.PARLEY_LIMITS["frame_bytes"]
    # Counted in characters first: encoding a flood would cost more than refusing it.
    if text is None:
        raise ChatError("error.chat_bad_command")
    if len(text) > limit:
        most = settings.PARLEY_LIMITS["message_chars"]
        raise ChatError("error.chat_content_too_long", limit=most, length=len(text))
    try:
        values = clean_json(json.loads(text))
    except (ValueError, RecursionError):
        raise ChatError("error.chat_bad_command") from None
    if not isinstance(values, dict):
        raise ChatError("error.chat_bad_command")
    return values
