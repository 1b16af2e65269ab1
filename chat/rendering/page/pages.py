"""Pages: a conversation, the column beside it, and the small things around them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Any, Literal, assert_never
from zlib import crc32

from django.template.loader import render_to_string
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from chat.protocol.events import Retry
from chat.protocol.messages import AnswerInfo, WithParts, is_answer
from chat.protocol.transcript import Chosen
from chat.rendering.errors import error_text
from chat.rendering.page import dom, times
from chat.rendering.page.messages import message_html
from chat.rendering.page.queue import queue_html
from chat.rendering.page.remembered import Remembering
from chat.rendering.reader import Reader

# How many conversations the column lists at first, and how many more when its end is reached.
LISTED = 60

Occasion = Literal["started", "thinking", "using", "queued", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    """A conversation as the column shows it; `updated` in milliseconds."""

    id: str
    title: str
    url: str
    updated: int
    pinned: bool = False
    # An answer ended while nobody looked.
    unread: bool = False
    # Listed only while it is open.
    archived: bool = False
    live: bool = False
    current: bool = False

    @property
    def element(self) -> str:
        return dom.row_id(self.id)

    @property
    def mark(self) -> str:
        """Two rows of a conversation with the same mark look the same. When it was changed decides
        where a row stands, not how it looks."""
        looks = (self.title, self.pinned, self.unread, self.archived, self.live, self.current)
        return f"{crc32(repr(looks).encode()):x}"


@dataclass(frozen=True, slots=True)
class Column:
    """The first so many conversations of a person."""

    entries: tuple[ColumnEntry, ...] = ()
    # How many it lists, if there are as many; and whether there are others behind them.
    rows: int = LISTED
    more: bool = False
    # The open one, where it is not among them.
    apart: ColumnEntry | None = None

    def lists(self, conversation_id: str) -> bool:
        return any(entry.id == conversation_id for entry in self.entries)

    def beside(self, conversation_id: str, apart: ColumnEntry | None) -> "Column":
        """The same on the page of a conversation, which is marked, or stands apart."""
        entries = tuple(
            replace(entry, current=True) if entry.id == conversation_id else entry
            for entry in self.entries
        )
        return replace(self, entries=entries, apart=apart and replace(apart, current=True))


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """Conversations under one heading."""

    key: str
    name: str
    entries: tuple[ColumnEntry, ...]

    @property
    def element(self) -> str:
        return dom.group_id(self.key)

    @property
    def rows_element(self) -> str:
        return dom.group_rows_id(self.key)


@dataclass(frozen=True, slots=True)
class Choice:
    """An agent or a model to choose in the composer."""

    value: str
    label: str
    selected: bool = False
    demo: bool = False
    # What an agent answers with unless something else is chosen.
    model: str = ""
    # Which files a model is sent, texts aside, and up to which size.
    takes: tuple[str, ...] = ()
    most_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Uploads:
    """How many files fit on a message, and how large they may be, in bytes."""

    files: int
    bytes: int
    text_bytes: int

    def refusals(self) -> dict[str, str]:
        """Why a file is not taken, as the server would say it, for one that is called {name}."""
        reasons: dict[str, tuple[str, dict[str, Any]]] = {
            "type": ("type_refused", {}),
            "large": ("too_large", {"bytes": self.bytes}),
            "long": ("text_too_large", {"bytes": self.text_bytes}),
            "empty": ("empty", {}),
            "many": ("too_many", {"limit": self.files}),
        }
        return {
            name: error_text(f"error.chat_attachment_{key}", {"name": "{name}", **data})
            for name, (key, data) in reasons.items()
        }


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """A tool to switch on and off in the composer."""

    value: str
    label: str
    icon: str
    # The agents that may use it, by id; and whether the chosen one may.
    agents: str = ""
    allowed: bool = True
    on: bool = True


@dataclass(frozen=True, slots=True)
class Example:
    """Something to ask first: a button on the empty page."""

    icon: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Toast:
    key: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Undo:
    """A conversation that was put away a moment ago, and how it is brought back."""

    id: str
    verb: Literal["restore", "unarchive"] = "restore"


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """A conversation to show; without an id it is a new one, and the page greets."""

    id: str = ""
    title: str = ""
    rev: int = 0
    messages: tuple[WithParts, ...] = ()
    running: bool = False
    # The running answer waits to ask its provider again.
    retry: Retry | None = None
    agent_description: str = ""
    examples: tuple[Example, ...] = ()
    agents: tuple[Choice, ...] = ()
    models: tuple[Choice, ...] = ()
    tools: tuple[ToolChoice, ...] = ()
    chosen: Chosen = field(default_factory=Chosen)
    # Messages that wait for the end of the answer, and whether they wait for a person.
    queue: tuple[WithParts, ...] = ()
    held: bool = False
    # Where staff connect a model; given only when nothing but the demo is there.
    connect_url: str = ""
    # The position before which older messages exist.
    older_before: int | None = None
    # The position after which there are newer ones that the page does not show.
    newer_after: int | None = None
    # The user message that is being edited, on a page without scripts.
    editing: str = ""
    # The answer about which words are written, on a page without scripts.
    words: str = ""
    draft: str = ""
    search: str = ""
    # By the names in the search form: what it is narrowed to.
    filters: Mapping[str, str] = field(default_factory=dict)
    toasts: tuple[Toast | Undo, ...] = ()
    # None can be attached where there is nobody to take them.
    uploads: Uploads | None = None
    # A window of its own has no column.
    own_window: bool = False

    @property
    def tools_on(self) -> int:
        return sum(tool.allowed and tool.on for tool in self.tools)

    @property
    def has_tools(self) -> bool:
        """Whether the chosen agent may use any."""
        return any(tool.allowed for tool in self.tools)


def page_context(
    page: ConversationPage, reader: Reader, column: Column | None = None
) -> dict[str, Any]:
    """All that `chat/conversation.html` needs; the view adds the request."""
    with reader.speaking():
        return {
            "page": page,
            "reader": reader,
            "ids": IDS,
            "column": column_html(column or Column(), reader),
            "transcript": transcript_html(page, reader),
            "greeting": times.greeting(reader.name, reader.now),
            "clocks": times.clock_forms(),
            "chosen": chosen_html(page.chosen),
            "refusals": page.uploads.refusals() if page.uploads else {},
            "words": _words(page),
            "queue": queue_html(page.queue, page.held, page.editing, reader),
            "toasts": [any_toast_html(toast, reader) for toast in page.toasts],
        }


def _words(page: ConversationPage) -> AnswerInfo | None:
    """The answer about which words are written; it has been judged before."""
    infos = (message.info for message in page.messages if message.info.id == page.words)
    return next((info for info in infos if is_answer(info) and info.feedback), None)


def transcript_html(page: ConversationPage, reader: Reader) -> SafeString:
    with reader.speaking():
        remembering = Remembering(reader)
        return mark_safe("".join(_message(each, page, remembering) for each in page.messages))


def _message(message: WithParts, page: ConversationPage, remembering: Remembering) -> SafeString:
    if message.info.id == page.editing:
        return message_html(message, remembering.reader, editing=True, cursors=True)
    return remembering.html(message, page.retry)


def older_html(page: ConversationPage, reader: Reader) -> SafeString:
    """Earlier messages, and the way to still earlier ones: replaces that way."""
    with reader.speaking():
        before = page.older_before
        values = {"page": page, "ids": IDS, "before": before}
        link = "" if before is None else render_to_string("chat/older.html", values).strip()
        return mark_safe(link + transcript_html(page, reader))


def newer_html(page: ConversationPage, reader: Reader) -> SafeString:
    """Later messages, and the way to still later ones: replaces that way."""
    with reader.speaking():
        after = page.newer_after
        values = {"page": page, "ids": IDS, "after": after}
        link = "" if after is None else render_to_string("chat/newer.html", values).strip()
        return mark_safe(transcript_html(page, reader) + link)


def column_groups(column: Column, reader: Reader) -> list[ColumnGroup]:
    """The open one where it is far down, then pinned ones, then the others by age."""
    pinned = tuple(entry for entry in column.entries if entry.pinned)
    rest = sorted(
        (entry for entry in column.entries if not entry.pinned), key=lambda entry: -entry.updated
    )
    groups = []
    if column.apart:
        groups.append(ColumnGroup("open", _("This conversation"), (column.apart,)))
    if pinned:
        groups.append(ColumnGroup("pinned", _("Pinned"), pinned))
    ages = list(enumerate(times.age_groups(reader.now)))
    aged = groupby(rest, lambda entry: next(age for age in ages if entry.updated >= age[1][0]))
    for (number, (_since, name)), entries in aged:
        groups.append(ColumnGroup(str(number), name, tuple(entries)))
    return groups


def column_html(column: Column, reader: Reader) -> SafeString:
    """The whole list, to put in place of the one that is there."""
    with reader.speaking():
        groups = [group_html(group, reader) for group in column_groups(column, reader)]
        values = {"groups": groups, "more": more_html(column, reader), "ids": IDS}
        return SafeString(render_to_string("chat/column_list.html", values).strip())


def group_html(group: ColumnGroup, reader: Reader) -> SafeString:
    with reader.speaking():
        values = {"group": group, "rows": rows_html(group.entries, reader)}
        return SafeString(render_to_string("chat/column_group.html", values).strip())


def rows_html(entries: Iterable[ColumnEntry], reader: Reader) -> SafeString:
    return mark_safe("".join(row_html(entry, reader) for entry in entries))


def more_html(column: Column, reader: Reader) -> SafeString:
    """The end of the list, where more of it is asked for."""
    with reader.speaking():
        values = {"column": column, "next": column.rows + LISTED, "ids": IDS}
        return SafeString(render_to_string("chat/column_more.html", values).strip())


def row_html(entry: ColumnEntry, reader: Reader) -> SafeString:
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
        return _composer_action_html(running, reader.language)


@lru_cache(maxsize=16)
def _composer_action_html(running: bool, language: str) -> SafeString:
    """In the language that is spoken now, which must be this one."""
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
            return undo_html(toast, reader)
        case _:
            assert_never(toast)


def undo_html(undo: Undo, reader: Reader) -> SafeString:
    """It is put away; one press brings it back."""
    with reader.speaking():
        archived = undo.verb == "unarchive"
        text = _("Conversation archived") if archived else _("Conversation deleted")
        return notice_html(text, reader, undo=undo)


def notice_html(
    text: str, reader: Reader, *, danger: bool = False, undo: Undo | None = None
) -> SafeString:
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
            case "queued":
                return _("Your message waits in the queue.")
            case "done":
                return _("The answer is ready.")
            case "stopped":
                return _("The answer was stopped.")
            case "failed":
                return _("The answer failed.")


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
    "newer": dom.NEWER,
    "more": dom.MORE,
    "chosen": dom.CHOSEN,
}
