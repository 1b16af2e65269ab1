"""Pages: a conversation, and the small things around it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, assert_never

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from chat.protocol.effort import STEPS
from chat.protocol.events import Retry
from chat.protocol.messages import AnswerInfo, WithParts, is_answer
from chat.protocol.transcript import Chosen
from chat.rendering.errors import error_text
from chat.rendering.mending import mending_url
from chat.rendering.page import times
from chat.rendering.page.column import Column, column_html, folder_filter_html
from chat.rendering.page.dom import IDS
from chat.rendering.page.introduction import Introduction, introduction_html
from chat.rendering.page.messages import message_html
from chat.rendering.page.queue import queue_html
from chat.rendering.page.remembered import Remembering
from chat.rendering.reader import Reader
from chat.rendering.tool_names import tool_name

Occasion = Literal["started", "thinking", "using", "queued", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Choice:
    """An agent, a model or a step of thinking to choose in the composer."""

    value: str
    label: str
    selected: bool = False
    demo: bool = False
    # What an agent answers with unless something else is chosen, and how hard that thinks.
    model: str = ""
    effort: str = ""
    # Which files a model is sent, texts aside, and up to which size.
    takes: tuple[str, ...] = ()
    most_bytes: int = 0
    # The steps of thinking that a model has.
    efforts: tuple[str, ...] = ()
    # Whether the chosen model has this step.
    offered: bool = True


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
class FolderChoice:
    """A folder of one's own."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Toast:
    key: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Undo:
    """A conversation that was put away a moment ago, perhaps with others, and how that is taken
    back."""

    id: str
    verb: Literal["undo-delete", "undo-archive"] = "undo-delete"
    # How many were put away with it, itself included.
    count: int = 1


@dataclass(frozen=True, slots=True)
class Ended:
    """The temporary chat that was here is gone."""


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
    archived: bool = False
    introduction: Introduction = field(default_factory=Introduction)
    agents: tuple[Choice, ...] = ()
    models: tuple[Choice, ...] = ()
    # All steps of thinking, in their order; none where no model has any.
    efforts: tuple[Choice, ...] = ()
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
    toasts: tuple[Toast | Undo | Ended, ...] = ()
    # None can be attached where there is nobody to take them.
    uploads: Uploads | None = None
    # A window of its own has no column.
    own_window: bool = False
    # Kept nowhere; a new one is only about to be.
    temporary: bool = False
    # For how many minutes a page without scripts counts as open.
    minutes: int = 0
    # Whether there are budgets: a line says how much is left where it is little.
    limited: bool = False
    # Where a new chat begins.
    folder: FolderChoice | None = None
    # What a search without scripts can be narrowed to; the dialog has what the column has.
    folders: tuple[FolderChoice, ...] = ()

    @property
    def effort_order(self) -> str:
        """The steps that every model means alike, from little to much."""
        return " ".join(STEPS)

    @property
    def effort(self) -> str:
        """How hard the chosen model thinks; nothing where it cannot be told."""
        return next((step.value for step in self.efforts if step.selected), "")

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
            "folder_filter": folder_filter_html(column or Column(), reader),
            "transcript": transcript_html(page, reader),
            "greeting": times.greeting(reader.name, reader.now),
            "introduction": introduction_html(page.introduction, reader),
            "clocks": times.clock_forms(),
            # A temporary chat has no title: it would stay in the history of the browser.
            "unnamed": _("Temporary chat") if page.id and page.temporary else _("New chat"),
            "chosen": chosen_html(page.chosen),
            "put_away": put_away_html(page.id, page.archived, reader),
            "temporary": temporary_html(page.id if page.temporary else "", reader, page.minutes),
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
        link = way_to_older_html(page.id, page.older_before, reader)
        return mark_safe(link + transcript_html(page, reader))


def way_to_older_html(conversation_id: str, before: int | None, reader: Reader) -> SafeString:
    """The way to what stands before a message; nothing where nothing does."""
    if before is None:
        return SafeString("")
    with reader.speaking():
        values = {"page": {"id": conversation_id}, "ids": IDS, "before": before}
        return SafeString(render_to_string("chat/older.html", values).strip())


def newer_html(page: ConversationPage, reader: Reader) -> SafeString:
    """Later messages, and the way to still later ones: replaces that way."""
    with reader.speaking():
        after = page.newer_after
        values = {"page": page, "ids": IDS, "after": after}
        link = "" if after is None else render_to_string("chat/newer.html", values).strip()
        return mark_safe(transcript_html(page, reader) + link)


def title_html(title: str, reader: Reader) -> SafeString:
    with reader.speaking():
        values = {"title": title, "unnamed": _("New chat"), "ids": IDS}
        return SafeString(render_to_string("chat/title.html", values).strip())


def temporary_html(conversation_id: str, reader: Reader, minutes: int = 0) -> SafeString:
    """Says that this conversation is not kept; without an id, the place where that would stand."""
    with reader.speaking():
        values = {"conversation": conversation_id, "minutes": minutes, "ids": IDS}
        return SafeString(render_to_string("chat/temporary.html", values).strip())


def chosen_html(chosen: Chosen) -> SafeString:
    """Who was chosen to answer, for the script that sets the pickers in every tab."""
    values = {"chosen": chosen, "ids": IDS}
    return SafeString(render_to_string("chat/chosen.html", values).strip())


def put_away_html(conversation_id: str, archived: bool, reader: Reader) -> SafeString:
    """The entry of the conversation's menu that takes it out of the column, or brings it back."""
    with reader.speaking():
        values = {"id": conversation_id, "archived": archived, "ids": IDS}
        return SafeString(render_to_string("chat/put_away_button.html", values).strip())


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
        mend_url = mending_url(key) if reader.is_staff else ""
        return notice_html(error_text(key, data), reader, danger=True, mend_url=mend_url)


def any_toast_html(toast: Toast | Undo | Ended, reader: Reader) -> SafeString:
    match toast:
        case Toast():
            return toast_html(toast.key, toast.data, reader)
        case Undo():
            return undo_html(toast, reader)
        case Ended():
            return notice_html(_("The temporary chat has ended. Nothing of it was kept."), reader)
        case _:
            assert_never(toast)


def undo_html(undo: Undo, reader: Reader) -> SafeString:
    """It is put away; one press brings it back."""
    with reader.speaking():
        if undo.verb == "undo-archive":
            one, many = _("Conversation archived"), _("%(count)s conversations archived")
        else:
            one, many = _("Conversation deleted"), _("%(count)s conversations deleted")
        return notice_html(
            many % {"count": undo.count} if undo.count > 1 else one, reader, undo=undo
        )


def notice_html(
    text: str,
    reader: Reader,
    *,
    danger: bool = False,
    undo: Undo | None = None,
    mend_url: str = "",
) -> SafeString:
    """`mend_url` is where staff can do something about it."""
    with reader.speaking():
        values = {"text": text, "danger": danger, "undo": undo, "mend_url": mend_url}
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
                return _("Using %(tool)s") % {"tool": tool_name(tool, reader)}
            case "queued":
                return _("Your message waits in the queue.")
            case "done":
                return _("The answer is ready.")
            case "stopped":
                return _("The answer was stopped.")
            case "failed":
                return _("The answer failed.")
