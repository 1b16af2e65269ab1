"""Pages: a conversation, the column beside it, and the small things around them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Any, Literal, assert_never

from django.template.loader import render_to_string
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from chat.protocol.messages import WithParts
from chat.protocol.transcript import Chosen
from chat.rendering import dom, times
from chat.rendering.errors import error_text
from chat.rendering.examples import examples
from chat.rendering.messages import ShownMessage, message_html
from chat.rendering.reader import Reader
from chat.rendering.remembered import Remembering

Occasion = Literal["started", "thinking", "using", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    """A conversation as the column shows it; `updated` in milliseconds."""

    id: str
    title: str
    url: str
    updated: int
    pinned: bool = False
    live: bool = False
    current: bool = False

    @property
    def element(self) -> str:
        return dom.row_id(self.id)


@dataclass(frozen=True, slots=True)
class Choice:
    """An agent or a model to choose in the composer."""

    value: str
    label: str
    selected: bool = False
    demo: bool = False
    # What an agent answers with unless something else is chosen.
    model: str = ""


@dataclass(frozen=True, slots=True)
class Toast:
    key: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Undo:
    """A conversation that was deleted a moment ago."""

    id: str


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """A conversation to show; without an id it is a new one, and the page greets."""

    id: str = ""
    title: str = ""
    rev: int = 0
    messages: tuple[WithParts | ShownMessage, ...] = ()
    running: bool = False
    agent_name: str = ""
    agent_description: str = ""
    agents: tuple[Choice, ...] = ()
    models: tuple[Choice, ...] = ()
    chosen: Chosen = field(default_factory=Chosen)
    # Where staff connect a model; given only when nothing but the demo is there.
    connect_url: str = ""
    # The position before which older messages exist.
    older_before: int | None = None
    # The user message that is being edited, on a page without scripts.
    editing: str = ""
    draft: str = ""
    search: str = ""
    toasts: tuple[Toast | Undo, ...] = ()
    # How many files fit on a message; none can be attached where there is nobody to take them.
    uploads: int = 0
    # Only earlier messages, to be read: nothing is added to them.
    past: bool = False
    # A window of its own has no column.
    own_window: bool = False


def page_context(
    page: ConversationPage, reader: Reader, entries: tuple[ColumnEntry, ...] = ()
) -> dict[str, Any]:
    """All that `chat/conversation.html` needs; the view adds the request."""
    with reader.speaking():
        return {
            "page": page,
            "reader": reader,
            "ids": IDS,
            "groups": _drawn_groups(entries, reader),
            "transcript": transcript_html(page, reader),
            "greeting": times.greeting(reader.name, reader.now),
            "examples": examples(),
            "clocks": times.clock_forms(),
            "chosen": chosen_html(page.chosen),
            "toasts": [any_toast_html(toast, reader) for toast in page.toasts],
        }


def transcript_html(page: ConversationPage, reader: Reader) -> SafeString:
    with reader.speaking():
        remembering = Remembering(reader)
        return mark_safe("".join(_message(each, page, remembering) for each in page.messages))


def _message(
    message: WithParts | ShownMessage, page: ConversationPage, remembering: Remembering
) -> SafeString:
    editing = _info_id(message) == page.editing
    if editing or isinstance(message, ShownMessage):
        return message_html(message, remembering.reader, editing=editing, cursors=True)
    return remembering.html(message)


def older_html(page: ConversationPage, reader: Reader) -> SafeString:
    """Earlier messages, and the way to still earlier ones: replaces that way."""
    with reader.speaking():
        before = page.older_before
        values = {"page": page, "ids": IDS, "before": before}
        link = "" if before is None else render_to_string("chat/older.html", values).strip()
        return mark_safe(link + transcript_html(page, reader))


def column_groups(
    entries: tuple[ColumnEntry, ...], reader: Reader
) -> list[tuple[str, list[ColumnEntry]]]:
    """Pinned ones first, the others by age, newest first."""
    pinned = [entry for entry in entries if entry.pinned]
    rest = sorted(
        (entry for entry in entries if not entry.pinned), key=lambda entry: -entry.updated
    )
    groups = [(_("Pinned"), pinned)] if pinned else []
    aged = groupby(rest, key=lambda entry: times.age_group(entry.updated, reader.now))
    return groups + [(name, list(group)) for name, group in aged]


def _drawn_groups(
    entries: tuple[ColumnEntry, ...], reader: Reader
) -> list[tuple[str, list[SafeString]]]:
    groups = column_groups(entries, reader)
    return [(name, [row_html(entry, reader) for entry in listed]) for name, listed in groups]


def column_html(entries: tuple[ColumnEntry, ...], reader: Reader) -> SafeString:
    """The whole list, to put in place of the one that is there."""
    with reader.speaking():
        values = {"groups": _drawn_groups(entries, reader), "ids": IDS}
        return SafeString(render_to_string("chat/column_list.html", values).strip())


def row_html(entry: ColumnEntry, reader: Reader) -> SafeString:
    # When it was changed decides where a row stands, not how it looks.
    return _row_html(replace(entry, updated=0), reader.language)


@lru_cache(maxsize=2000)
def _row_html(entry: ColumnEntry, language: str) -> SafeString:
    with translation.override(language):
        return SafeString(render_to_string("chat/column_row.html", {"entry": entry}).strip())


def title_html(title: str, reader: Reader) -> SafeString:
    with reader.speaking():
        values = {"title": title, "ids": IDS}
        return SafeString(render_to_string("chat/title.html", values).strip())


def chosen_html(chosen: Chosen) -> SafeString:
    """Who was chosen to answer, for the script that sets the pickers in every tab."""
    values = {"chosen": chosen, "ids": IDS}
    return SafeString(render_to_string("chat/chosen.html", values).strip())


def composer_action_html(running: bool, reader: Reader) -> SafeString:
    """Send, or stop while an answer runs."""
    with reader.speaking():
        values = {"running": running, "ids": IDS}
        return SafeString(render_to_string("chat/composer_action.html", values).strip())


def toast_html(key: str, data: Mapping[str, Any] | None, reader: Reader) -> SafeString:
    """A refusal in words."""
    with reader.speaking():
        return notice_html(error_text(key, data), reader, danger=True)


def any_toast_html(toast: Toast | Undo, reader: Reader) -> SafeString:
    match toast:
        case Toast():
            return toast_html(toast.key, toast.data, reader)
        case Undo():
            return undo_html(toast.id, reader)
        case _:
            assert_never(toast)


def undo_html(conversation_id: str, reader: Reader) -> SafeString:
    """It is deleted; one press brings it back."""
    with reader.speaking():
        return notice_html(_("Conversation deleted"), reader, undo=conversation_id)


def notice_html(text: str, reader: Reader, *, danger: bool = False, undo: str = "") -> SafeString:
    with reader.speaking():
        values = {"text": text, "danger": danger, "undo": undo}
        return SafeString(render_to_string("chat/toast.html", values).strip())


def status_text(occasion: Occasion, reader: Reader, tool: str = "") -> str:
    """What the one polite region says; never the words of the answer itself."""
    with reader.speaking():
        match occasion:
            case "started":
                return _("Answering…")
            case "thinking":
                return _("Thinking…")
            case "using":
                name = reader.names.tools.get(tool, tool)
                return _("Using %(tool)s") % {"tool": name}
            case "done":
                return _("The answer is ready.")
            case "stopped":
                return _("The answer was stopped.")
            case "failed":
                return _("The answer failed.")


def _info_id(message: WithParts | ShownMessage) -> str:
    shown = message if isinstance(message, WithParts) else message.message
    return shown.info.id


IDS = {
    "transcript": dom.TRANSCRIPT,
    "status": dom.STATUS,
    "toasts": dom.TOASTS,
    "title": dom.TITLE,
    "column": dom.COLUMN,
    "composer": dom.COMPOSER,
    "action": dom.COMPOSER_ACTION,
    "empty": dom.EXAMPLES,
    "older": dom.OLDER,
    "chosen": dom.CHOSEN,
}
