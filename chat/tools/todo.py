"""The agent's plan, kept as a list that a person can watch."""

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from chat.protocol.displays import TodoDisplay, TodoItem, display_from_json, display_to_json
from chat.protocol.interfaces import ToolContext, ToolResult
from chat.protocol.tool_state import JsonObject
from chat.tools.registry import tool

Status = Literal["pending", "in_progress", "completed"]
Priority = Literal["high", "medium", "low"]

_DONE_FIRST: tuple[Status, ...] = ("completed", "in_progress", "pending")
_URGENT_FIRST: tuple[Priority, ...] = get_args(Priority)


def _status(value: object) -> object:
    return value if value in _DONE_FIRST else "pending"


def _priority(value: object) -> object:
    return value if value in _URGENT_FIRST else "medium"


# One step, as a model writes it: what it gets wrong has a sensible reading. (A comment,
# because a docstring would go into the schema that the model reads.)
class Todo(BaseModel):
    content: Annotated[str, Field(min_length=1, max_length=1000, description="What to do")]
    status: Annotated[Status, BeforeValidator(_status)] = "pending"
    priority: Annotated[Priority, BeforeValidator(_priority)] = "medium"
    id: Annotated[str, BeforeValidator(str), Field(max_length=100)] = ""


def _gist(arguments: JsonObject) -> str:
    todos = arguments["todos"]
    done = sum(todo.get("status") == "completed" for todo in todos)
    return f"{done}/{len(todos)}"


@tool(name="todo_write", icon="list", timeout=5, gist=_gist)
def todo_write(
    todos: Annotated[list[Todo], Field(max_length=100), "The whole list, in place of the old one"],
    context: ToolContext,
) -> ToolResult:
    """Write down the plan of a task of several steps, and update it as steps are done.

    Always send the whole list. Have one step in progress at a time.
    """
    items = tuple(sorted(_items(todos), key=_order))
    display = TodoDisplay(items=items, before=_before(context.previous))
    return ToolResult(_counts(items), display=display_to_json(display))


def _items(todos: list[Todo]) -> list[TodoItem]:
    """Ids tell what changed, so each is there and used once."""
    items: list[TodoItem] = []
    taken: set[str] = set()
    for number, todo in enumerate(todos, start=1):
        name = todo.id if todo.id and todo.id not in taken else str(number)
        while name in taken:
            name += "+"
        taken.add(name)
        items.append(
            TodoItem(id=name, content=todo.content, status=todo.status, priority=todo.priority)
        )
    return items


def _order(item: TodoItem) -> tuple[int, int]:
    return _DONE_FIRST.index(item.status), _URGENT_FIRST.index(item.priority)


def _before(previous: JsonObject | None) -> tuple[TodoItem, ...]:
    if previous is None:
        return ()
    try:
        display = display_from_json(previous)
    except ValidationError:  # written by an older version: nothing to compare with
        return ()
    return display.items if isinstance(display, TodoDisplay) else ()


def _counts(items: tuple[TodoItem, ...]) -> str:
    counts = {status: sum(item.status == status for item in items) for status in _DONE_FIRST}
    parts = ", ".join(
        f"{count} {status.replace('_', ' ')}" for status, count in counts.items() if count
    )
    return f"Todo list saved: {parts}." if parts else "Todo list cleared."
