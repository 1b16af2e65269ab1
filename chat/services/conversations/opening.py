"""A conversation is opened: messages of an older form are brought forward first, then read."""

from uuid import UUID

from chat.protocol.transcript import Transcript
from chat.services.caller import Caller
from chat.services.conversations.history import LATEST, Window, read_transcript
from chat.services.upkeep.repair import upgrade


def open_transcript(
    caller: Caller, conversation_id: str | UUID, window: Window = LATEST
) -> Transcript:
    """The latest messages, or those of a window."""
    return read_transcript(caller, conversation_id, window, upgrade)
