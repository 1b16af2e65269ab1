"""What a person sees of the tools of Claude's command line: changes of files, and plans."""

import json
from collections.abc import Mapping
from typing import Any

from chat.formats.imported import shapes
from chat.protocol.displays import DiffDisplay, Display, TodoDisplay, TodoItem, TodoStatus
from chat.protocol.frozen import JsonObject

_PLANS = ("todos", "tasks", "items")
_STATUSES: Mapping[str, TodoStatus] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "done": "completed",
}


def of_result(result: Any) -> Display | None:
    """From what the command line keeps beside a result: the file before and after, or a plan."""
    found = shapes.an_object(result)
    path = shapes.text(found.get("filePath"))
    if path and isinstance(found.get("newString"), str):
        return DiffDisplay(
            path=path,
            before=shapes.text(found.get("oldString")),
            after=shapes.text(found.get("newString")),
        )
    if path and isinstance(found.get("content"), str):
        before = shapes.text(found.get("originalFile"))
        return DiffDisplay(path=path, before=before, after=shapes.text(found.get("content")))
    if isinstance(found.get("newTodos"), list):
        return TodoDisplay(items=plan(found["newTodos"]), before=plan(found.get("oldTodos")))
    return None


def of_call(name: str, input: JsonObject, last_plan: tuple[TodoItem, ...]) -> Display | None:
    """From the arguments of a call that went well, where nothing is kept beside its result."""
    path = shapes.text(input.get("file_path"))
    match name:
        case "Edit":
            return _change(path, [input])
        case "MultiEdit":
            return _change(path, list(shapes.objects(input.get("edits"))))
        case "Write":
            return DiffDisplay(path=path, before="", after=shapes.text(input.get("content")))
        case "TodoWrite":
            return TodoDisplay(items=plan_of(input), before=last_plan)
        case _:
            return None


def _change(path: str, edits: list[JsonObject]) -> Display:
    return DiffDisplay(
        path=path,
        before="\n".join(shapes.text(edit.get("old_string")) for edit in edits),
        after="\n".join(shapes.text(edit.get("new_string")) for edit in edits),
    )


def plan_of(input: JsonObject) -> tuple[TodoItem, ...]:
    return next((plan(input[key]) for key in _PLANS if isinstance(input.get(key), list)), ())


def plan(items: Any) -> tuple[TodoItem, ...]:
    """The items of a plan; they have no ids of their own."""
    return tuple(
        TodoItem(
            id=shapes.text(item.get("id")) or str(number),
            content=_content(item),
            status=_STATUSES.get(shapes.text(item.get("status")), "pending"),
        )
        for number, item in enumerate(shapes.objects(items), start=1)
    )


def _content(item: JsonObject) -> str:
    words = item.get("content", item.get("subject"))
    return words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)
