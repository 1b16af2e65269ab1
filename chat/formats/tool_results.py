"""A tool's result on the wire: `llmContent` for the model, `returnDisplay` for the person (B4)."""

import json
from typing import Any

from pydantic import ValidationError

from chat.protocol.displays import (
    DiffDisplay,
    JsonDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
    display_from_json,
    display_to_json,
)
from chat.protocol.factories import create_file_part
from chat.protocol.interfaces import ToolResult
from chat.protocol.parts import FilePart
from chat.protocol.tool_state import JsonObject, ToolCompleted, ToolError

CANCELLED_FOR_MODEL = "[Request interrupted by user]"
CANCELLED_FOR_PERSON = "Tool execution was canceled by user."


def result_from_wire(
    result: Any, input: JsonObject, session_id: str, message_id: str
) -> ToolResult:
    """The result as a tool of ours would have returned it."""
    if not isinstance(result, dict):
        return ToolResult(_as_text(result))
    text, files = _content(result.get("llmContent"), session_id, message_id)
    shown = result.get("returnDisplay")
    return ToolResult(
        text,
        display=None if shown is None else display_from_wire(shown, input),
        is_error=bool(result.get("isError")),
        attachments=files,
    )


def result_to_wire(state: ToolCompleted | ToolError) -> JsonObject:
    """The other way, for a call that has ended."""
    display = (state.metadata or {}).get("display")
    wire: JsonObject
    if isinstance(state, ToolCompleted):
        wire = {"llmContent": _to_content(state)}
    elif (state.metadata or {}).get("interrupted"):
        return {
            "llmContent": CANCELLED_FOR_MODEL,
            "returnDisplay": CANCELLED_FOR_PERSON,
            "isError": True,
        }
    else:
        wire = {"llmContent": state.error, "isError": True}
    if isinstance(display, dict):
        wire["returnDisplay"] = display_to_wire(display)
    return wire


def display_from_wire(shown: Any, input: JsonObject) -> JsonObject:
    """One of our displays; what is not known is shown as the JSON it is."""
    if isinstance(shown, str):
        return display_to_json(TextDisplay(text=shown))
    if not isinstance(shown, dict):
        return display_to_json(JsonDisplay(value=shown))
    match shown.get("type"):
        case "diff_viewer":
            return display_to_json(
                DiffDisplay(
                    path=str(shown.get("filePath", "")),
                    before=_side(shown.get("originalContent"), input),
                    after=_side(shown.get("newContent"), input),
                )
            )
        case "todo_read":
            return display_to_json(TodoDisplay(items=_todos(shown.get("todos"))))
        case "todo_write":
            items, before = _todos(shown.get("newTodos")), _todos(shown.get("oldTodos"))
            return display_to_json(TodoDisplay(items=items, before=before))
    try:
        return display_to_json(display_from_json(shown))
    except ValidationError:
        return display_to_json(JsonDisplay(value=shown))


def display_to_wire(display: JsonObject) -> Any:
    match display:
        case {"type": "text", "text": text}:
            return text
        case {"type": "diff", "path": path, "before": before, "after": after}:
            return {
                "type": "diff_viewer",
                "filePath": path,
                "originalContent": before,
                "newContent": after,
            }
        case {"type": "todo", "items": items, "before": before}:
            return {"type": "todo_write", "oldTodos": before, "newTodos": items}
        case _:
            return display


def _side(content: Any, input: JsonObject) -> str:
    """A side of a diff: a text, or the name of the argument that holds it."""
    if isinstance(content, dict):
        content = input.get(str(content.get("inputKey", "")))
    return "" if content is None else _as_text(content)


def _todos(todos: Any) -> tuple[TodoItem, ...]:
    return tuple(_todo(todo, number) for number, todo in enumerate(todos or [], 1))


def _todo(todo: JsonObject, number: int) -> TodoItem:
    status, priority = todo.get("status"), todo.get("priority")
    return TodoItem(
        id=str(todo.get("id", number)),
        content=str(todo.get("content", "")),
        status=status if status in ("in_progress", "completed") else "pending",
        priority=priority if priority in ("high", "low") else "medium",
    )


def _content(content: Any, session_id: str, message_id: str) -> tuple[str, tuple[FilePart, ...]]:
    if not isinstance(content, list):
        return _as_text(content), ()
    texts = [_as_text(block.get("text")) for block in content if block.get("type") == "text"]
    files = tuple(
        create_file_part(
            session_id,
            message_id,
            str(block.get("mimeType") or "image/png"),
            _as_url(str(block.get("data", "")), str(block.get("mimeType") or "image/png")),
        )
        for block in content
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
