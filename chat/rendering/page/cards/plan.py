"""A plan, and what has changed since the last one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.protocol.displays import TodoDisplay, TodoItem, in_reading_order
from chat.rendering.page.cards.form import Result

Step = Literal["", "new", "done", "started", "changed", "reworded", "removed"]

# A page bears no more.
MOST_ITEMS = 300
_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Todo:
    item: TodoItem
    change: Step = ""

    @property
    def text(self) -> str:
        text = self.item.content
        return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


@dataclass(frozen=True, slots=True)
class ShownPlan:
    todos: tuple[Todo, ...]
    # What has changed, in words.
    summary: str = ""
    left_out: int = 0


def todo_result(display: TodoDisplay) -> Result:
    earlier = _earlier(display.items, display.before)
    todos = [
        Todo(item, _change(item, earlier.get(index)) if display.before else "")
        for index, item in enumerate(display.items)
    ]
    order = {id(item): place for place, item in enumerate(in_reading_order(display.items))}
    todos.sort(key=lambda todo: order[id(todo.item)])
    kept = {id(item) for item in earlier.values()}
    gone = [Todo(item, "removed") for item in display.before if id(item) not in kept]
    if not todos and not gone:
        return Result("nothing", _("The list is empty."))
    shown = (todos + gone)[:MOST_ITEMS]
    left_out = len(todos) + len(gone) - len(shown)
    return Result("todo", ShownPlan(tuple(shown), _summary(todos + gone), left_out))


def progress(display: TodoDisplay) -> str:
    done = sum(item.status == "completed" for item in display.items)
    return _("%(done)s of %(all)s done") % {"done": done, "all": len(display.items)}


def _earlier(items: Sequence[TodoItem], before: Sequence[TodoItem]) -> dict[int, TodoItem]:
    """What each item was in the last plan: the one with the same words, else with the same id.

    Some programs give no ids but places in the list, so that words tell more.
    """
    by_words: dict[str, list[TodoItem]] = {}
    for item in reversed(before):
        by_words.setdefault(item.content, []).append(item)
    found = {
        index: by_words[item.content].pop()
        for index, item in enumerate(items)
        if by_words.get(item.content)
    }
    used = {id(item) for item in found.values()}
    by_id = {item.id: item for item in before if id(item) not in used}
    for index, item in enumerate(items):
        if index not in found and item.id in by_id:
            found[index] = by_id.pop(item.id)
    return found


def _change(item: TodoItem, earlier: TodoItem | None) -> Step:
    if earlier is None:
        return "new"
    if item.status == earlier.status:
        return "" if item.content == earlier.content else "reworded"
    match item.status:
        case "completed":
            return "done"
        case "in_progress":
            return "started"
        case "pending":
            return "changed"


def _summary(todos: Sequence[Todo]) -> str:
    """How many are done, new and removed since the last plan."""
    counts = {
        step: sum(todo.change == step for todo in todos) for step in ("done", "new", "removed")
    }
    done, new, gone = counts.values()
    pieces = (
        ngettext("%(count)s done", "%(count)s done", done) % {"count": done} if done else "",
        ngettext("%(count)s new", "%(count)s new", new) % {"count": new} if new else "",
        ngettext("%(count)s removed", "%(count)s removed", gone) % {"count": gone} if gone else "",
    )
    return " · ".join(piece for piece in pieces if piece)
