"""Tool cards: what was called with what, how it stands, and what came of it.

What a card shows of a result depends on its display. A new kind of card is a class in
`chat/protocol/displays.py`, a template in `templates/chat/cards/` and a row in `_FORMS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, assert_never
from urllib.parse import urlsplit

from django.template.loader import get_template, render_to_string
from django.utils.formats import localize
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from chat.protocol.displays import (
    DiffDisplay,
    Display,
    JsonDisplay,
    PageDisplay,
    SearchDisplay,
    SearchHit,
    SumDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
    in_reading_order,
)
from chat.protocol.files import own_id
from chat.protocol.notes import (
    StateNotes,
    Unreadable,
    part_notes,
    state_notes,
    was_interrupted,
)
from chat.protocol.parts import FilePart, ToolPart
from chat.protocol.tool_state import (
    ABORTED,
    NO_OUTPUT,
    ToolCompleted,
    ToolError,
    ToolPending,
    ToolRunning,
    ToolState,
)
from chat.rendering.errors import error_text
from chat.rendering.page import dom, times
from chat.rendering.page.diffs import Diff, compare
from chat.rendering.page.json_text import parsed, pretty_html
from chat.rendering.reader import Reader
from chat.rendering.reasons import reason_text, reasons_text
from chat.rendering.tool_names import tool_name

CardState = Literal["queued", "running", "done", "failed", "stopped"]

MOST_GIST: Final = 160
# Arguments that are enough to know what a call is about, the best first.
_MAIN_ARGUMENTS = ("expression", "query", "command", "cmd", "file_path", "path", "url", "pattern")

NEUTRAL_ICON: Final = "nut"
# Icons of tools that only other programs have; ours are registered with theirs.
_FOREIGN_ICONS = {
    "web_search": "globe",
    "web_fetch": "globe",
    "bash": "term",
    "bash_code_execution": "term",
    "code_execution": "term",
    "code_interpreter": "term",
    "text_editor_code_execution": "file",
    "file_search": "file",
}


class ShownPicture(NamedTuple):
    """A picture in a page: the file that its link leads to, and what is looked at."""

    url: str
    shown: str
    name: str


class Result(NamedTuple):
    """What a card shows of a result: a template of `chat/cards/`, and what it is drawn from."""

    kind: str
    value: Any = None

    @property
    def template(self) -> str:
        return f"chat/cards/{self.kind}.html"


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of display is shown; an empty one has no result."""

    result: Callable[[Any], Result | None]
    icon: str = ""
    # The line beside the tool's name, where the display is better for it than the arguments.
    gist: Callable[[Any], str] | None = None
    # Whether the result contains the arguments, so that they are not shown a second time.
    has_arguments: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """All that the card's template needs, nothing that it must work out."""

    id: str
    state: CardState
    icon: str
    name: str
    gist: str
    arguments: SafeString | None = None
    # A sentence about something unusual, such as a result without a call.
    remark: str = ""
    result: Result | None = None
    pictures: tuple[ShownPicture, ...] = ()
    # Lines that came and went, where the result is an edit.
    diff: Diff | None = None
    duration: str = ""
    since: int | None = None
    clock: str = ""
    nested: bool = False
    # Whether the provider ran the tool itself.
    by_provider: bool = False


def tool_card_html(part: ToolPart, message: int, position: int, reader: Reader) -> SafeString:
    """The card of one call, in any of its states."""
    with reader.speaking():
        card = make_card(part, dom.part_id(message, position), reader)
        return SafeString(render_to_string("chat/tool.html", {"card": card}).strip())


def unreadable_card_html(
    unreadable: Unreadable, message: int, position: int, reader: Reader
) -> SafeString:
    """In place of a stored part that no longer fits the rules."""
    with reader.speaking():
        names = {
            "text": _("text"),
            "reasoning": _("thinking"),
            "tool": _("tool"),
            "step-start": _("step start"),
            "step-finish": _("step finish"),
            "file": _("file"),
        }
        kind = names.get(unreadable.type, unreadable.type)
        values = {"id": dom.part_id(message, position), "kind": kind}
        return SafeString(render_to_string("chat/unreadable.html", values).strip())


def card_state(state: ToolState) -> CardState:
    match state:
        case ToolPending():
            return "queued"
        case ToolRunning():
            return "running"
        case ToolCompleted():
            return "done"
        case ToolError():
            return "stopped" if was_interrupted(state) else "failed"
        case _:
            assert_never(state)


def make_card(part: ToolPart, element: str, reader: Reader) -> Card:
    state, notes, own = part.state, state_notes(part.state), part_notes(part)
    form = None if notes.display is None else _FORMS[type(notes.display)]
    result = _result(state, notes, form)
    in_result = form is not None and form.has_arguments
    remark = _("Result without a call") if own.unpaired else ""
    gist = gist_of(state, notes.display)[:MOST_GIST]
    return Card(
        id=element,
        state=card_state(state),
        icon=_icon(part.tool, form, reader),
        name=tool_name(part.tool, reader),
        gist=" · ".join(filter(None, (remark, gist))),
        arguments=pretty_html(state.input) if state.input and not in_result else None,
        remark=remark,
        result=result,
        diff=result.value.diff if result and isinstance(result.value, ShownDiff) else None,
        pictures=_pictures(state),
        nested=bool(own.parent_call_id),
        by_provider=own.by_provider,
        **_times(state, reader),
    )


def gist_of(state: ToolState, display: Display | None) -> str:
    """One line that says what the call is about."""
    form = None if display is None else _FORMS[type(display)]
    if form and form.gist and (shown := form.gist(display)):
        return shown
    title = "" if isinstance(state, ToolPending | ToolError) else state.title
    if title:
        return title
    for name in _MAIN_ARGUMENTS:
        if isinstance(state.input.get(name), str):
            return " ".join(state.input[name][:MOST_GIST].split())
    pairs = (f"{name}: {value}" for name, value in state.input.items() if _short(value))
    return " ".join(", ".join(pairs).split())


def _short(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 80)


def shown_picture(file: FilePart) -> ShownPicture | None:
    """A picture of ours, or one that is in the address itself; nothing else is loaded."""
    own = file.url.startswith("/") and not file.url.startswith(("//", "/\\"))
    inline = file.url.startswith(("data:image/png;", "data:image/jpeg;", "data:image/webp;"))
    if not file.mime.startswith("image/") or not (own or inline):
        return None
    # As it is looked at; the link leads to the file itself.
    shown = f"{file.url}?shown" if own_id(file.url) else file.url
    return ShownPicture(file.url, shown, file.filename or file.mime)


def _pictures(state: ToolState) -> tuple[ShownPicture, ...]:
    files = state.attachments or () if isinstance(state, ToolCompleted) else ()
    return tuple(picture for file in files if (picture := shown_picture(file)))


def safe_url(url: str) -> str:
    """The address if it may be followed, else nothing."""
    return url if url.lower().startswith(("http://", "https://")) else ""


def _times(state: ToolState, reader: Reader) -> dict[str, Any]:
    match state:
        case ToolPending():
            return {}
        case ToolRunning():
            since = state.time.start
            return {"since": since, "clock": times.clock(reader.now - since)}
        case ToolCompleted() | ToolError():
            return {"duration": times.duration(state.time.end - state.time.start)}
        case _:
            assert_never(state)


# --- icons ------------------------------------------------------------------------


def _icon(tool: str, form: Form | None, reader: Reader) -> str:
    """The tool's own, then that of what it shows; a name nobody drew is the neutral one."""
    own = reader.names.icons.get(tool, NEUTRAL_ICON)
    if own != NEUTRAL_ICON and own in _drawn_icons():
        return own
    return (form.icon if form else "") or _FOREIGN_ICONS.get(tool, NEUTRAL_ICON)


@lru_cache(maxsize=1)
def _drawn_icons() -> frozenset[str]:
    """The names of the icons in the page's sprite."""
    sprite: str = get_template("chat/icons.html").render()
    return frozenset(piece.partition('"')[0] for piece in sprite.split('id="i-')[1:])


# --- results ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Failure:
    text: str
    # What the model reads, where there is nothing else to say.
    for_model: str = ""


def _result(state: ToolState, notes: StateNotes, form: Form | None) -> Result | None:
    match state:
        case ToolError():
            # A failure is a failure, whatever the tool wanted to show.
            return Result("error", _failure(state, notes))
        case ToolCompleted():
            return (form.result(notes.display) if form else None) or _output(state.output)
        case ToolRunning():
            return form.result(notes.display) if form else None
        case ToolPending():
            return None
        case _:
            assert_never(state)


def _failure(state: ToolError, notes: StateNotes) -> Failure:
    """Why it failed, as the tool or we put it for a person. Where nobody did, what was written
    for the model is shown as that."""
    if isinstance(notes.display, TextDisplay):
        return Failure(notes.display.text)
    if notes.reasons:
        return Failure(reasons_text(notes.reasons))
    if notes.interrupted and state.error == ABORTED:
        return Failure(reason_text("aborted"))
    return Failure(error_text("error.chat_tool_execution_failed"), state.error)


@dataclass(frozen=True, slots=True)
class Hit:
    title: str
    url: str
    host: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownPage:
    title: str
    url: str
    host: str
    excerpt: str
    # Which part of it was read, in words.
    extent: str


@dataclass(frozen=True, slots=True)
class ShownDiff:
    path: str
    diff: Diff


@dataclass(frozen=True, slots=True)
class Todo:
    item: TodoItem
    change: Literal["", "new", "changed"]


def _output(text: str) -> Result | None:
    if text == NO_OUTPUT:
        return Result("nothing", _("The tool returned nothing."))
    return _text(text)


def _text(text: str) -> Result | None:
    if not text:
        return None
    return _json(parsed(text)) or Result("text", text)


def _json(value: Any) -> Result | None:
    return None if value is None else Result("json", pretty_html(value))


def _search(display: SearchDisplay) -> Result:
    hits = tuple(map(_hit, display.hits))
    return Result("search", hits) if hits else Result("nothing", _("Nothing was found."))


def _hit(hit: SearchHit) -> Hit:
    url = safe_url(hit.url)
    return Hit(hit.title or hit.url, url, _host(url), hit.text)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _page(display: PageDisplay) -> Result:
    url = safe_url(display.url)
    numbers = {
        "first": localize(display.first + 1),
        "last": localize(display.last),
        "total": localize(display.total),
    }
    if display.first == 0 and display.last >= display.total:
        extent = _("%(total)s characters, all of it") % numbers
    else:
        extent = _("Characters %(first)s to %(last)s of %(total)s") % numbers
    title = display.title or display.url
    return Result("page", ShownPage(title, url, _host(url), display.excerpt, extent))


def _diff(display: DiffDisplay) -> Result:
    return Result("diff", ShownDiff(display.path, compare(display.before, display.after)))


def _todo(display: TodoDisplay) -> Result:
    before = {item.id: item for item in display.before}
    todos = [Todo(item, _change(item, before)) for item in in_reading_order(display.items)]
    return Result("todo", todos) if todos else Result("nothing", _("The list is empty."))


def _change(item: TodoItem, before: dict[str, TodoItem]) -> Literal["", "new", "changed"]:
    if not before:
        return ""
    if item.id not in before:
        return "new"
    return "changed" if before[item.id].status != item.status else ""


def _progress(display: TodoDisplay) -> str:
    done = sum(item.status == "completed" for item in display.items)
    return _("%(done)s of %(all)s done") % {"done": done, "all": len(display.items)}


_FORMS: dict[type[Display], Form] = {
    TextDisplay: Form(lambda display: _text(display.text)),
    JsonDisplay: Form(lambda display: _json(display.value)),
    SumDisplay: Form(
        lambda display: Result("sum", display),
        icon="calc",
        gist=lambda display: f"{display.expression} = {display.result}",
        has_arguments=True,
    ),
    SearchDisplay: Form(
        _search, icon="globe", gist=lambda display: display.query, has_arguments=True
    ),
    PageDisplay: Form(
        _page,
        icon="page",
        gist=lambda display: " · ".join(filter(None, (display.title, _host(display.url)))),
        has_arguments=True,
    ),
    DiffDisplay: Form(_diff, icon="file", gist=lambda display: display.path, has_arguments=True),
    TodoDisplay: Form(_todo, icon="list", gist=_progress, has_arguments=True),
}
