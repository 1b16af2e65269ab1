"""What a person sees of a tool's result: one of a few forms, stored as JSON.

A new form is a class here, in the union `Display`, a template in `templates/chat/cards/` and a
row in the table of `chat/rendering/page/cards/forms.py`.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from chat.protocol.frozen import Frozen, FrozenJson, JsonObject


class TextDisplay(Frozen):
    type: Literal["text"] = "text"
    text: str


class JsonDisplay(Frozen):
    type: Literal["json"] = "json"
    value: FrozenJson


class SumDisplay(Frozen):
    """A calculation and what it comes to."""

    type: Literal["sum"] = "sum"
    expression: str
    result: str


class SearchHit(Frozen):
    title: str
    url: str
    text: str = ""


class SearchDisplay(Frozen):
    type: Literal["search"] = "search"
    query: str
    hits: tuple[SearchHit, ...] = ()


class PageDisplay(Frozen):
    """A page of the web, of which a part was read: from character `first` up to `last`."""

    type: Literal["page"] = "page"
    title: str
    url: str
    excerpt: str = ""
    first: int = 0
    last: int = 0
    total: int = 0


class DiffDisplay(Frozen):
    """Before and after of an edit: of a whole file, or of lines that begin with the `first`."""

    type: Literal["diff"] = "diff"
    path: str
    before: str
    after: str
    first: int = 1


class ShellDisplay(Frozen):
    """A command and what it printed, with the control codes in it. What it printed as errors is
    apart where that is known, and so is how it ended."""

    type: Literal["shell"] = "shell"
    command: str
    output: str = ""
    errors: str = ""
    exit_code: int | None = None


class FileDisplay(Frozen):
    """Lines of a file, of which the first has this number; `total` where it is known."""

    type: Literal["file"] = "file"
    path: str
    text: str
    first: int = 1
    total: int | None = None


TodoStatus = Literal["pending", "in_progress", "completed"]
TodoPriority = Literal["high", "medium", "low"]
# The order in which a plan is read.
STATUSES: tuple[TodoStatus, ...] = ("completed", "in_progress", "pending")
PRIORITIES: tuple[TodoPriority, ...] = ("high", "medium", "low")


class TodoItem(Frozen):
    id: str
    content: str
    status: TodoStatus = "pending"
    priority: TodoPriority = "medium"


class TodoDisplay(Frozen):
    type: Literal["todo"] = "todo"
    items: tuple[TodoItem, ...] = ()
    before: tuple[TodoItem, ...] = ()


Display = Annotated[
    TextDisplay
    | JsonDisplay
    | SumDisplay
    | SearchDisplay
    | PageDisplay
    | DiffDisplay
    | ShellDisplay
    | FileDisplay
    | TodoDisplay,
    Field(discriminator="type"),
]

_DISPLAY: TypeAdapter[Display] = TypeAdapter(Display)


def display_from_json(data: JsonObject) -> Display:
    return _DISPLAY.validate_python(data, strict=False)


def display_to_json(display: Display) -> JsonObject:
    return _DISPLAY.dump_python(display, mode="json")  # type: ignore[no-any-return]


def in_reading_order(items: Iterable[TodoItem]) -> tuple[TodoItem, ...]:
    """What is done first, then what is being done; within that by importance."""
    return tuple(sorted(items, key=_place))


def _place(item: TodoItem) -> tuple[int, int]:
    return STATUSES.index(item.status), PRIORITIES.index(item.priority)


# --- reading what is stored, or came over a wire ----------------------------------


def read_display(value: Any, arguments: JsonObject) -> Display | None:
    """The display that a JSON value stands for, in our form or in that of ToolMessage2.

    Nothing is lost: a form that nobody knows is shown as the JSON it is.
    """
    match value:
        case None | "":
            return None
        case Frozen():
            return _DISPLAY.validate_python(value)
        case str():
            return TextDisplay(text=value)
        case {"type": "diff_viewer"}:
            return DiffDisplay(
                path=_as_text(value.get("filePath")),
                before=_side(value.get("originalContent"), arguments),
                after=_side(value.get("newContent"), arguments),
            )
        case {"type": "todo_read" | "todo_write"}:
            return TodoDisplay(
                items=_todos(value.get("newTodos", value.get("todos"))),
                before=_todos(value.get("oldTodos")),
            )
        case {"type": str()}:
            try:
                return display_from_json(value)
            except ValidationError:
                return JsonDisplay(value=value)
        case _:
            return JsonDisplay(value=value)


def _side(content: Any, arguments: JsonObject) -> str:
    """A side of a diff: a text, or a pointer to the argument that holds it."""
    if isinstance(content, Mapping):
        content = arguments.get(_as_text(content.get("inputKey")))
    return _as_text(content)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _todos(value: Any) -> tuple[TodoItem, ...]:
    if not isinstance(value, list):
        return ()
    found = (item for item in value if isinstance(item, Mapping))
    return tuple(_todo(item, number) for number, item in enumerate(found, start=1))


def _todo(item: Mapping[str, Any], number: int) -> TodoItem:
    status, priority = item.get("status"), item.get("priority")
    return TodoItem(
        id=_as_text(item.get("id")) or str(number),
        content=_as_text(item.get("content")),
        status=status if status in STATUSES else "pending",
        priority=priority if priority in PRIORITIES else "medium",
    )
