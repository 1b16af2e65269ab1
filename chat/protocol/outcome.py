"""A tool's result put into the state of its call."""

from chat.protocol import tool_state
from chat.protocol.interfaces import ToolResult
from chat.protocol.text import clean_json, clean_text
from chat.protocol.tool_state import JsonObject, ToolState

SILENT = "The tool failed without saying why."


def ended(state: ToolState, now: int, result: ToolResult) -> ToolState:
    """The state of a call once its result is in; what is shown of it is `metadata["display"]`."""
    metadata: JsonObject | None = None
    if result.display is not None:
        metadata = {"display": clean_json(result.display)}
    text = clean_text(result.text)
    if result.is_error:
        return tool_state.fail(state, now, text if text.strip() else SILENT, metadata=metadata)
    return tool_state.complete(
        state,
        now,
        text,
        title=clean_text(result.title) or None,
        metadata=metadata,
        attachments=result.attachments or None,
    )
