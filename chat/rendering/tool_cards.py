"""Tool cards: what was called with what, how it stands, and what came of it."""

from dataclasses import dataclass
from typing import Any, Literal, assert_never
from urllib.parse import urlsplit

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from chat.protocol.displays import (
    DiffDisplay,
    Display,
    JsonDisplay,
    SearchDisplay,
    SearchHit,
    SumDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
    in_reading_order,
)
from chat.protocol.parts import ToolPart
from chat.protocol.tool_state import (
    JsonObject,
    ToolCompleted,
    ToolError,
    ToolPending,
    ToolRunning,
    ToolState,
)
from chat.rendering import dom, times
from chat.rendering.diffs import Diff, compare
from chat.rendering.displays import read_display
from chat.rendering.json_text import parsed, pretty_html
from chat.rendering.reader import Reader

CardState = Literal["queued", "running", "done", "failed", "stopped"]

MOST_GIST = 160
# Arguments that say by themselves what a call is about, the most telling first.
_TELLING = ("expression", "query", "command", "cmd", "file_path", "path", "url", "pattern")

_ICONS = {
    "calculator": "calc",
    "duckduckgo_search": "globe",
    "web_search": "globe",
    "todo_write": "list",
    "bash": "term",
}
_DISPLAY_ICONS = {"sum": "calc", "search": "globe", "todo": "list", "diff": "file"}


@dataclass(frozen=True, slots=True)
class Hit:
    title: str
    url: str
    host: str
    text: str


@dataclass(frozen=True, slots=True)
class Todo:
    item: TodoItem
    change: Literal["", "new", "changed"]


@dataclass(frozen=True, slots=True)
class Card:
    """All that the card's template needs, nothing that it must work out."""

    id: str
    state: CardState
    icon: str
    name: str
    gist: str
    arguments: JsonObject | None
    display: Display | None = None
    diff: Diff | None = None
    hits: tuple[Hit, ...] = ()
    todos: tuple[Todo, ...] = ()
    error: str = ""
    output: str = ""
    duration: str = ""
    since: int | None = None
    clock: str = ""
    nested: bool = False

    @property
    def arguments_html(self) -> SafeString:
        return pretty_html(self.arguments)

    @property
    def output_html(self) -> SafeString | None:
        """The result as JSON, if it is JSON."""
        value = self.display.value if isinstance(self.display, JsonDisplay) else parsed(self.output)
        return None if value is None else pretty_html(value)


def tool_card_html(part: ToolPart, message: int, position: int, reader: Reader) -> SafeString:
    """The card of one call, in any of its states."""
    with reader.speaking():
        card = make_card(part, dom.part_id(message, position), reader)
        return SafeString(render_to_string("chat/tool.html", {"card": card}).strip())


def broken_card_html(message: int, position: int, kind: str, reader: Reader) -> SafeString:
    """In place of a stored part that no longer validates."""
    with reader.speaking():
        values = {"id": dom.part_id(message, position), "kind": kind}
        return SafeString(render_to_string("chat/broken.html", values).strip())


def card_state(state: ToolState) -> CardState:
    match state:
        case ToolPending():
            return "queued"
        case ToolRunning():
            return "running"
        case ToolCompleted():
            return "done"
        case ToolError():
            return "stopped" if (state.metadata or {}).get("interrupted") else "failed"
        case _:
            assert_never(state)


def make_card(part: ToolPart, element: str, reader: Reader) -> Card:
    state = part.state
    stored = {} if isinstance(state, ToolPending) else state.metadata or {}
    display = read_display(stored.get("display"), state.input)
    shown: dict[str, Any] = {}
    match state:
        case ToolCompleted():
            shown = {"output": state.output} | _shown(display)
        case ToolError():
            # A failure is a failure, whatever the tool wanted to show.
            shown = {"error": _reason(state, display)}
        case ToolRunning():
            shown = {"since": state.time.start, "clock": times.clock(reader.now - state.time.start)}
            shown |= _shown(display)
        case ToolPending():
            pass
        case _:
            assert_never(state)
    if isinstance(state, ToolCompleted | ToolError):
        shown["duration"] = times.duration(state.time.end - state.time.start)
    return Card(
        id=element,
        state=card_state(state),
        icon=_DISPLAY_ICONS.get(display.type if display else "") or _ICONS.get(part.tool, "nut"),
        name=reader.names.tools.get(part.tool, part.tool),
        gist=gist(state, display)[:MOST_GIST],
        arguments=_arguments(state.input, display),
        nested=bool((part.metadata or {}).get("parentCallID")),
        **shown,
    )


def gist(state: ToolState, display: Display | None) -> str:
    """One line that says what the call is about."""
    match display:
        case SumDisplay():
            return f"{display.expression} = {display.result}"
        case SearchDisplay():
            return display.query
        case DiffDisplay():
            return display.path
        case TodoDisplay():
            done = sum(item.status == "completed" for item in display.items)
            return _("%(done)s of %(all)s done") % {"done": done, "all": len(display.items)}
    title = "" if isinstance(state, ToolPending | ToolError) else state.title
    if title:
        return title
    for name in _TELLING:
        if isinstance(state.input.get(name), str):
            return " ".join(state.input[name][:MOST_GIST].split())
    pairs = (f"{name}: {value}" for name, value in state.input.items() if _short(value))
    return " ".join(", ".join(pairs).split())


def safe_url(url: str) -> str:
    """The address if it may be followed, else nothing."""
    return url if url.lower().startswith(("http://", "https://")) else ""


def _short(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 80)


def _arguments(arguments: JsonObject, display: Display | None) -> JsonObject | None:
    """Not shown where the result already says them."""
    if isinstance(display, SumDisplay | SearchDisplay | DiffDisplay | TodoDisplay):
        return None
    return arguments or None


def _shown(display: Display | None) -> dict[str, Any]:
    match display:
        case SearchDisplay():
            return {"display": display, "hits": tuple(map(_hit, display.hits))}
        case DiffDisplay():
            return {"display": display, "diff": compare(display.before, display.after)}
        case TodoDisplay():
            return {"display": display, "todos": _todos(display)}
        case TextDisplay():
            return {"display": display, "output": display.text}
        case SumDisplay() | JsonDisplay():
            return {"display": display}
        case None:
            return {}
        case _:
            assert_never(display)


def _reason(state: ToolError, display: Display | None) -> str:
    return display.text if isinstance(display, TextDisplay) else state.error


def _hit(hit: SearchHit) -> Hit:
    url = safe_url(hit.url)
    return Hit(hit.title or hit.url, url, _host(url), hit.text)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _todos(display: TodoDisplay) -> tuple[Todo, ...]:
    before = {item.id: item for item in display.before}
    return tuple(Todo(item, _change(item, before)) for item in in_reading_order(display.items))


def _change(item: TodoItem, before: dict[str, TodoItem]) -> Literal["", "new", "changed"]:
    if not before:
        return ""
    if item.id not in before:
        return "new"
    return "changed" if before[item.id].status != item.status else ""
