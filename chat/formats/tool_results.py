"""A tool's result on the wire: `llmContent` for the model, `returnDisplay` for the person (B4)."""

import json
from typing import Any

from chat.protocol.displays import (
    DiffDisplay,
    Display,
    TextDisplay,
    TodoDisplay,
    display_to_json,
    read_display,
)
from chat.protocol.factories import create_file_part
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolResult
from chat.protocol.notes import state_notes
from chat.protocol.parts import FilePart
from chat.protocol.tool_state import ToolCompleted, ToolError

CANCELLED_FOR_MODEL = "[Request interrupted by user]"
CANCELLED_FOR_PERSON = "Tool execution was canceled by user."


def result_from_wire(
    result: Any, input: JsonObject, session_id: str, message_id: str
) -> ToolResult:
    """The result as a tool of ours would have returned it."""
    if not isinstance(result, dict):
        return ToolResult(_as_text(result))
    text, files = _content(result.get("llmContent"), session_id, message_id)
    return ToolResult(
        text,
        display=read_display(result.get("returnDisplay"), input),
        is_error=bool(result.get("isError")),
        attachments=files,
    )


def result_to_wire(state: ToolCompleted | ToolError) -> JsonObject:
    """The other way, for a call that has ended."""
    notes = state_notes(state)
    wire: JsonObject
    if isinstance(state, ToolCompleted):
        wire = {"llmContent": _to_content(state)}
    elif notes.interrupted:
        return {
            "llmContent": CANCELLED_FOR_MODEL,
            "returnDisplay": CANCELLED_FOR_PERSON,
            "isError": True,
        }
    else:
        wire = {"llmContent": state.error, "isError": True}
    if notes.display is not None:
        wire["returnDisplay"] = display_to_wire(notes.display)
    return wire


def display_to_wire(display: Display) -> Any:
    """The form that ToolMessage2 has for it; what it has no form for goes as it is."""
    match display:
        case TextDisplay():
            return display.text
        case DiffDisplay():
            return {
                "type": "diff_viewer",
                "filePath": display.path,
                "originalContent": display.before,
                "newContent": display.after,
            }
        case TodoDisplay():
            todos = display_to_json(display)
            return {"type": "todo_write", "oldTodos": todos["before"], "newTodos": todos["items"]}
        case _:
            return display_to_json(display)


def _content(content: Any, session_id: str, message_id: str) -> tuple[str, tuple[FilePart, ...]]:
    if not isinstance(content, list):
        return _as_text(content), ()
    blocks = [block for block in content if isinstance(block, dict)]
    texts = [_as_text(block.get("text")) for block in blocks if block.get("type") == "text"]
    files = tuple(
        create_file_part(
            session_id,
            message_id,
            str(block.get("mimeType") or "image/png"),
            _as_url(str(block.get("data", "")), str(block.get("mimeType") or "image/png")),
        )
        for block in blocks
        if block.get("type") == "image"
    )
    return "\n".join(texts), files


def _to_content(state: ToolCompleted) -> Any:
    images = [file for file in state.attachments or () if file.mime.startswith("image/")]
    if not images:
        return state.output
    return [
        {"type": "text", "text": state.output},
        *({"type": "image", "data": file.url, "mimeType": file.mime} for file in images),
    ]


def _as_url(data: str, mime: str) -> str:
    return data if ":" in data[:12] else f"data:{mime};base64,{data}"


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
