"""Plans of Claude's command line: written whole (`TodoWrite`), or task by task.

Newer versions make a task, change one, and list all of them. A card shows the whole plan and what
a call has changed in it, so what was said before is remembered – of each agent its own, for
sub-agents keep plans of theirs.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from chat.formats.imported import shapes
from chat.protocol.displays import TodoDisplay, TodoItem, TodoStatus
from chat.protocol.frozen import JsonObject

_PLANS: Final = ("todos", "tasks", "items")
_STATUSES: Final[Mapping[str, TodoStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "done": "completed",
}
_CREATED: Final = re.compile(r"Task #(\S{1,100}) created")
_UPDATED: Final = re.compile(r"Updated task #")
_LISTED: Final = re.compile(
    r"#(?P<id>\S{1,100}) \[(?P<status>\w{1,20})\] (?P<content>.*?)(?: \[blocked by [^\]]*\])?"
)
# More would be no plan; each call keeps all of it.
_MOST: Final = 200


class Plans:
    """What the plan of each agent says; an agent is the call that it works for."""

    def __init__(self, main: tuple[TodoItem, ...] = ()) -> None:
        self._last = {"": main}

    @property
    def main(self) -> tuple[TodoItem, ...]:
        return self._last[""]

    def note(self, agent: str, plan: TodoDisplay) -> None:
        self._last[agent] = plan.items

    def of_call(self, agent: str, name: str, given: JsonObject, output: str) -> TodoDisplay | None:
        """The plan as a call that went well leaves it; None where it has nothing to do with one."""
        last = self._last.get(agent, ())
        match name:
            case "TodoWrite":
                return TodoDisplay(items=plan_of(given), before=last)
            case "TaskCreate":
                return _created(given, output, last)
            case "TaskUpdate":
                return _updated(given, output, last)
            case "TaskList":
                return _listed(output, last)
            case _:
                return None


def plan_of(given: JsonObject) -> tuple[TodoItem, ...]:
    return next((plan(given[key]) for key in _PLANS if isinstance(given.get(key), list)), ())


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


def _created(given: JsonObject, output: str, last: tuple[TodoItem, ...]) -> TodoDisplay | None:
    made, subject = _CREATED.search(output), shapes.text(given.get("subject"))
    if made is None or not subject or len(last) >= _MOST:
        return None
    if all(item.status == "completed" for item in last):
        # All of it is done: here the next plan begins.
        last = ()
    return TodoDisplay(items=(*last, TodoItem(id=made[1], content=subject)), before=last)


def _updated(given: JsonObject, output: str, last: tuple[TodoItem, ...]) -> TodoDisplay | None:
    key = shapes.text(given.get("taskId"))
    if not _UPDATED.match(output) or all(item.id != key for item in last):
        # It failed, or the task was made in a turn that nobody saw.
        return None
    status = shapes.text(given.get("status"))
    items = tuple(
        _changed(item, given, status) if item.id == key else item
        for item in last
        if item.id != key or status != "deleted"
    )
    return TodoDisplay(items=items, before=last)


def _changed(item: TodoItem, given: JsonObject, status: str) -> TodoItem:
    content = shapes.text(given.get("subject")) or item.content
    return item.model_copy(
        update={"content": content, "status": _STATUSES.get(status, item.status)}
    )


def _listed(output: str, last: tuple[TodoItem, ...]) -> TodoDisplay | None:
    found = [_LISTED.fullmatch(line) for line in output.splitlines()[: _MOST + 1]]
    lines = [line for line in found if line]
    if not lines or len(lines) < len(found) or len(lines) > _MOST:
        return None
    known = {item.id: item.content for item in last}
    items = tuple(
        TodoItem(
            id=line["id"],
            content=_without_owner(line["content"], known.get(line["id"], "")),
            status=_STATUSES.get(line["status"], "pending"),
        )
        for line in lines
    )
    return TodoDisplay(items=items, before=last)


def _without_owner(content: str, known: str) -> str:
    """Who works on a task follows in brackets, as its own last words may."""
    return known if known and content.startswith(f"{known} (") else content
