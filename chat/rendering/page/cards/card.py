"""The card of a call: what was called with what, how it stands, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.protocol.displays import Display, ShellDisplay, TextDisplay
from chat.protocol.mcp_names import read_mcp_name
from chat.protocol.notes import (
    NEWER_MESSAGE,
    StateNotes,
    Unreadable,
    part_notes,
    state_notes,
    was_interrupted,
)
from chat.protocol.parts import ToolPart
from chat.protocol.tool_state import (
    ABORTED,
    ToolCompleted,
    ToolError,
    ToolPending,
    ToolRunning,
    ToolState,
)
from chat.rendering.errors import error_text
from chat.rendering.page import dom, times
from chat.rendering.page.cards.form import MOST_GIST, PagesRead, Result
from chat.rendering.page.cards.forms import FORMS, ShownDiff, with_pages
from chat.rendering.page.cards.icons import icon_of
from chat.rendering.page.cards.known_tools import display_of
from chat.rendering.page.cards.pictures import ShownPicture, shown_picture
from chat.rendering.page.cards.runs import Folded
from chat.rendering.page.cards.texts import (
    folded_json,
    folded_text,
    output_result,
)
from chat.rendering.reader import Reader
from chat.rendering.reasons import reason_text, reasons_text
from chat.rendering.tool_names import tool_name

CardState = Literal["queued", "running", "done", "failed", "stopped"]

_NO_PAGES: PagesRead = {}
# Arguments that are enough to know what a call is about, the best first.
_MAIN_ARGUMENTS = (
    "expression",
    "query",
    "command",
    "cmd",
    "file_path",
    "path",
    "url",
    "pattern",
    "description",
)


@dataclass(frozen=True, slots=True)
class Card:
    """All that the card's template needs, nothing that it must work out."""

    id: str
    state: CardState
    icon: str
    name: str
    gist: str
    # Whose tool it is, where it is that of an MCP server.
    server: str = ""
    arguments: Folded | None = None
    # A sentence about something unusual, such as a result without a call.
    remark: str = ""
    # What its sub-agent did, in a line.
    work: str = ""
    result: Result | None = None
    pictures: tuple[ShownPicture, ...] = ()
    # Lines that came and went, where the result is an edit.
    diff: ShownDiff | None = None
    duration: str = ""
    since: int | None = None
    clock: str = ""
    nested: bool = False
    # Whether the provider ran the tool itself.
    by_provider: bool = False

    @property
    def page_id(self) -> str:
        return dom.page_id(self.id)

    @property
    def switch_id(self) -> str:
        return dom.switch_id(self.id)


def tool_card_html(
    part: ToolPart,
    message: int,
    position: int,
    reader: Reader,
    inner: Sequence[ToolPart] = (),
    pages: PagesRead = _NO_PAGES,
) -> SafeString:
    """The card of one call, in any of its states; `inner` are the calls of its sub-agent, `pages`
    what was read in the same answer."""
    with reader.speaking():
        card = make_card(part, dom.part_id(message, position), reader, inner, pages)
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
        name, kind = _("This part cannot be shown"), names.get(unreadable.type, unreadable.type)
        if unreadable.type == NEWER_MESSAGE:
            name = _("A newer version of Parley has written this")
            kind = _("Update to read it.")
        values = {"id": dom.part_id(message, position), "name": name, "kind": kind}
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


def work_summary(states: Sequence[ToolState]) -> str:
    """That the work is over, and how many calls it took."""
    count, failed = len(states), sum(card_state(state) == "failed" for state in states)
    pieces = [
        _("Finished working"),
        ngettext("%(count)s tool", "%(count)s tools", count) % {"count": count},
        ngettext("%(count)s failed", "%(count)s failed", failed) % {"count": failed}
        if failed
        else "",
    ]
    return " · ".join(piece for piece in pieces if piece)


def _work(part: ToolPart, inner: Sequence[ToolPart]) -> str:
    """Of a sub-agent that is done, and whose calls are."""
    states = [part.state, *(each.state for each in inner)]
    over = all(isinstance(state, ToolCompleted | ToolError) for state in states)
    return work_summary(states[1:]) if inner and over else ""


def make_card(
    part: ToolPart,
    element: str,
    reader: Reader,
    inner: Sequence[ToolPart] = (),
    pages: PagesRead = _NO_PAGES,
) -> Card:
    state, notes, own = part.state, state_notes(part.state), part_notes(part)
    display = notes.display or display_of(part.tool, state)
    form = None if display is None else FORMS[type(display)]
    result = _result(state, notes, display)
    in_result = form is not None and form.has_arguments and result is not None
    remark = _("Result without a call") if own.unpaired else ""
    gist = gist_of(state, display)[:MOST_GIST]
    of_server = read_mcp_name(part.tool) if part.tool not in reader.names.tools else None
    return Card(
        id=element,
        state=card_state(state),
        icon=icon_of(part.tool, form.icon if form else "", reader),
        name=of_server.tool if of_server else tool_name(part.tool, reader),
        server=of_server.server if of_server else "",
        gist=" · ".join(filter(None, (remark, gist))),
        arguments=folded_json(state.input) if state.input and not in_result else None,
        remark=remark,
        work=_work(part, inner),
        result=with_pages(result, pages) if result else None,
        diff=result.value if result and isinstance(result.value, ShownDiff) else None,
        pictures=_pictures(state),
        nested=bool(own.parent_call_id),
        by_provider=own.by_provider,
        **_times(state, reader),
    )


def gist_of(state: ToolState, display: Display | None) -> str:
    """One line that says what the call is about."""
    form = None if display is None else FORMS[type(display)]
    if form and form.gist and (shown := form.gist(display)):
        return shown
    title = "" if isinstance(state, ToolPending | ToolError) else state.title
    if title:
        return title
    for name in _MAIN_ARGUMENTS:
        if isinstance(state.input.get(name), str):
            return " ".join(state.input[name][:MOST_GIST].split())
    pairs = (f"{name}: {_plain(value)}" for name, value in state.input.items() if _short(value))
    return " ".join(", ".join(pairs).split())


def _plain(value: Any) -> str:
    """As JSON writes it, but without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 80)


def _pictures(state: ToolState) -> tuple[ShownPicture, ...]:
    files = state.attachments or () if isinstance(state, ToolCompleted) else ()
    return tuple(picture for file in files if (picture := shown_picture(file)))


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


# --- results ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Failure:
    text: Folded
    # What the model reads, where there is nothing else to say.
    for_model: Folded | None = None


def _result(state: ToolState, notes: StateNotes, display: Display | None) -> Result | None:
    form = None if display is None else FORMS[type(display)]
    match state:
        case ToolError():
            # A failure is a failure, whatever the tool wanted to show; but what a command printed
            # before it failed, and how it ended, is the failure.
            if form and isinstance(display, ShellDisplay):
                return form.result(display)
            return Result("error", _failure(state, notes))
        case ToolCompleted():
            return (form.result(display) if form else None) or output_result(state.output)
        case ToolRunning():
            return form.result(display) if form else None
        case ToolPending():
            return None
        case _:
            assert_never(state)


def _failure(state: ToolError, notes: StateNotes) -> Failure:
    """Why it failed, as the tool or we put it for a person. Where nobody did, what was written
    for the model is shown as that."""
    if isinstance(notes.display, TextDisplay):
        return Failure(folded_text(notes.display.text))
    if notes.reasons:
        return Failure(folded_text(reasons_text(notes.reasons)))
    if notes.interrupted and state.error == ABORTED:
        return Failure(folded_text(reason_text("aborted")))
    text = error_text("error.chat_tool_execution_failed")
    return Failure(folded_text(text), folded_text(state.error))
