"""Which form a tool's result takes on the page; other systems' forms are read as ours."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from chat.protocol.displays import (
    DiffDisplay,
    Display,
    JsonDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
    display_from_json,
)
from chat.protocol.tool_state import JsonObject

_STATUS = ("completed", "in_progress", "pending")
_PRIORITY = ("high", "medium", "low")


def read_display(value: Any, arguments: JsonObject) -> Display | None:
    """The display that a stored value stands for, or nothing if it stands for none."""
    match value:
        case None | "":
            return None
        case str():
            return TextDisplay(text=value)
        case {"type": "diff_viewer"}:
            return DiffDisplay(
                path=str(value.get("filePath", "")),
                before=_content(value.get("originalContent"), arguments),
                after=_content(value.get("newContent"), arguments),
            )
        case {"type": "todo_read" | "todo_write"}:
            return TodoDisplay(
                items=_todos(value.get("newTodos", value.get("todos"))),
                before=_todos(value.get("oldTodos")),
            )
        case {"type": str()}:
            return _ours(value)
        case _:
            return JsonDisplay(value=value)


def _ours(value: JsonObject) -> Display | None:
    try:
        return display_from_json(value)
    except ValidationError:
        # A form that no version of ours knows: better raw than not at all.
        return JsonDisplay(value=value)


def _content(value: Any, arguments: JsonObject) -> str:
    """A text, or a pointer to the argument that holds it."""
    if isinstance(value, Mapping):
        value = arguments.get(str(value.get("inputKey", "")), "")
    return value if isinstance(value, str) else ""


def _todos(value: Any) -> tuple[TodoItem, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(
        _todo(item, number) for number, item in enumerate(value) if isinstance(item, Mapping)
    )


def _todo(item: Mapping[str, Any], number: int) -> TodoItem:
    status, priority = item.get("status"), item.get("priority")
    return TodoItem.model_validate(
        {
            "id": str(item.get("id", number)),
            "content": str(item.get("content", "")),
            "status": status if status in _STATUS else "pending",
            "priority": priority if priority in _PRIORITY else "medium",
        }
    )
