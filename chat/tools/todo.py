"""The agent's plan, kept as a list that a person can watch."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from chat.protocol.displays import (
    PRIORITIES,
    STATUSES,
    TodoDisplay,
    TodoItem,
    TodoPriority,
    TodoStatus,
    in_reading_order,
)
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolContext, ToolResult
from chat.tools.registry import tool


def _status(value: object) -> object:
    return value if value in STATUSES else "pending"


def _priority(value: object) -> object:
    return value if value in PRIORITIES else "medium"


# One step, as a model writes it: what it gets wrong has a sensible reading. (A comment,
# because a docstring would go into the schema that the model reads.)
class Todo(BaseModel):
    content: Annotated[str, Field(min_length=1, max_length=1000, description="What to do")]
    status: Annotated[TodoStatus, BeforeValidator(_status)] = "pending"
    priority: Annotated[TodoPriority, BeforeValidator(_priority)] = "medium"
    id: Annotated[str, BeforeValidator(str), Field(max_length=100)] = ""


def _gist(arguments: JsonObject) -> str:
    todos = arguments["todos"]
    done = sum(todo.get("status") == "completed" for todo in todos)
    return f"{done}/{len(todos)}"


@tool(name="todo_write", icon="list", timeout=5, gist=_gist, effects=False)
def todo_write(
    todos: Annotated[list[Todo], Field(max_length=100), "The whole list, in place of the old one"],
    context: ToolContext,
) -> ToolResult:
    """Write down the plan of a task of several steps, and update it as steps are done.

    Always send the whole list. Have one step in progress at a time.
    """
    items = in_reading_order(_items(todos))
    before = context.previous.items if isinstance(context.previous, TodoDisplay) else ()
    return ToolResult(_counts(items), display=TodoDisplay(items=items, before=before))


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


def _counts(items: tuple[TodoItem, ...]) -> str:
    counts = {status: sum(item.status == status for item in items) for status in STATUSES}
    parts = ", ".join(
        f"{count} {status.replace('_', ' ')}" for status, count in counts.items() if count
    )
    return f"Todo list saved: {parts}." if parts else "Todo list cleared."
