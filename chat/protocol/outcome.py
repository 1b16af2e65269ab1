"""A tool's result put into the state of its call."""

from chat.protocol import tool_state
from chat.protocol.interfaces import ToolResult
from chat.protocol.notes import StateNotes, with_state_notes
from chat.protocol.reasons import reason
from chat.protocol.text import clean_text
from chat.protocol.tool_state import ToolState

SILENT = "The tool failed without saying why."


def ended(state: ToolState, now: int, result: ToolResult) -> ToolState:
    """The state of a call once its result is in."""
    text = clean_text(result.text)
    if result.is_error:
        reasons = result.reasons
        if not text.strip():
            text, reasons = SILENT, reasons or (reason("silent"),)
        notes = StateNotes(display=result.display, reasons=reasons)
        return tool_state.fail(state, now, text, metadata=with_state_notes(None, notes))
    return tool_state.complete(
        state,
        now,
        text,
        title=clean_text(result.title) or None,
        metadata=with_state_notes(None, StateNotes(display=result.display)),
        attachments=result.attachments or None,
    )
