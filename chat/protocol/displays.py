"""What a person sees of a tool's result: one of a few forms, stored as JSON."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from chat.protocol.tool_state import Frozen, JsonObject


class TextDisplay(Frozen):
    type: Literal["text"] = "text"
    text: str


class JsonDisplay(Frozen):
    type: Literal["json"] = "json"
    value: JsonObject | list[object] | str | int | float | bool | None


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


class DiffDisplay(Frozen):
    """Before and after of an edit; a text, or the name of the argument that holds it."""

    type: Literal["diff"] = "diff"
    path: str
    before: str
    after: str


class TodoItem(Frozen):
    id: str
    content: str
    status: Literal["pending", "in_progress", "completed"] = "pending"
    priority: Literal["high", "medium", "low"] = "medium"


class TodoDisplay(Frozen):
    type: Literal["todo"] = "todo"
    items: tuple[TodoItem, ...] = ()
    before: tuple[TodoItem, ...] = ()


Display = Annotated[
    TextDisplay | JsonDisplay | SumDisplay | SearchDisplay | DiffDisplay | TodoDisplay,
    Field(discriminator="type"),
]

_DISPLAY: TypeAdapter[Display] = TypeAdapter(Display)


def display_from_json(data: JsonObject) -> Display:
    return _DISPLAY.validate_python(data, strict=False)


def display_to_json(display: Display) -> JsonObject:
    return _DISPLAY.dump_python(display, mode="json")  # type: ignore[no-any-return]


_STATUSES = ("completed", "in_progress", "pending")
_PRIORITIES = ("high", "medium", "low")


def in_reading_order(items: Iterable[TodoItem]) -> tuple[TodoItem, ...]:
    """What is done first, then what is being done; within that by importance."""
    return tuple(
        sorted(
            items,
            key=lambda item: (_STATUSES.index(item.status), _PRIORITIES.index(item.priority)),
        )
    )
