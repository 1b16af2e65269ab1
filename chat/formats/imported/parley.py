"""Parley's own export, read back: the same messages, under ids of their own."""

from typing import Any

from pydantic import ValidationError

from chat.protocol import tool_state
from chat.protocol.errors import PartError
from chat.protocol.ids import new_id, now_ms
from chat.protocol.messages import WithParts, message_from_json
from chat.protocol.parts import Part, ToolPart
from chat.protocol.tool_state import ToolCompleted, ToolPending, ToolRunning

FORMAT = "parley.v1"


class Unreadable(Exception):
    """This is no message that can be read."""


def _ended(part: Part) -> Part:
    """An export may have been made in the middle of an answer: nothing of it runs any more."""
    if isinstance(part, ToolPart) and isinstance(part.state, ToolPending | ToolRunning):
        return part.model_copy(update={"state": tool_state.abort(part.state, now_ms())})
    return part


def read_message(data: Any, session_id: str) -> WithParts:
    """A message of an export, with new ids: its old ones may be those of rows that are here."""
    try:
        message = message_from_json(data)
    except (ValidationError, PartError, TypeError, ValueError):
        raise Unreadable from None
    message_id = new_id()
    ids = {"session_id": session_id, "message_id": message_id}
    parts = []
    for part in message.parts:
        moved = _ended(part).model_copy(update={"id": new_id(), **ids})
        state = getattr(moved, "state", None)
        if isinstance(state, ToolCompleted) and state.attachments:
            files = tuple(
                file.model_copy(update={"id": new_id(), **ids}) for file in state.attachments
            )
            state = state.model_copy(update={"attachments": files})
            moved = moved.model_copy(update={"state": state})
        parts.append(moved)
    info = message.info.model_copy(update={"id": message_id, "session_id": session_id})
    return WithParts(info=info, parts=tuple(parts))
