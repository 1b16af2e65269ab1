"""The page of an import: what was read so far, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.rendering.page.sizes import file_size
from chat.rendering.reader import Reader

# Why something was left out, by the code of its reader.
REASONS: Mapping[str, Promise | str] = {
    "line_too_long": _("Line %(where)s is too long; it was left out."),
    "line_not_json": _("Line %(where)s is broken; it was left out."),
    "duplicate_tool_result": _("The call %(where)s has a second result; the first is kept."),
    "no_matching_tool_use": _("A result has no call (%(where)s); it stands by itself."),
    "message_not_understood": _("Message %(where)s cannot be read."),
    "message_not_kept": _("Message %(where)s cannot be kept: something in it is too large or odd."),
    "file_broke": _("The rest of the file could not be imported. Import it again to go on."),
    "import_running": _("Another import of yours is running. Import this file when it is over."),
    "file_empty": _("The file is empty."),
    "file_other": _("This is no export of a chat: those are .json, .jsonl or .zip files."),
    "file_not_json": _("The file is broken (at %(where)s)."),
    "file_cut_off": _("The file breaks off after message %(where)s; what comes then is missing."),
    "file_too_deep": _("The file is nested too deeply."),
    "file_too_new": _("The file was written by a newer version (%(where)s)."),
    "file_not_understood": _("No conversation was found in it."),
    "file_too_large": _("The file is too large to be read as a whole."),
    "list_broken": _("The file is broken from conversation %(where)s on."),
    "archive_broken": _("The archive is broken (%(where)s)."),
    "archive_too_large": _("More is packed in the archive than is read."),
    "conversation_not_understood": _("Conversation %(where)s cannot be read."),
    "conversation_too_deep": _("Conversation %(where)s is nested too deeply."),
    "message_twice": _("A message is there twice; the first is kept (%(where)s)."),
    "message_without_parent": _("A message follows one that is not there (%(where)s)."),
    "message_in_circle": _("Messages follow each other in a circle (%(where)s)."),
    "branch_left_out": _("There are too many versions; one was left out (%(where)s)."),
    "file_refused": _("A file was left out: %(where)s."),
    "line_left_out": _("Lines of the kind “%(where)s” were passed over: %(count)s."),
    "text_left_out": _("Lines that are no JSON were passed over: %(count)s."),
    "message_left_out": _("Messages of the role “%(where)s” were left out: %(count)s."),
    "content_left_out": _("Contents of the kind “%(where)s” were left out: %(count)s."),
}


# The element of `templates/chat/import.html` that they are put into.
_HERE = '<div id="import-result" aria-live="polite">'


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """A conversation that was imported.

    `is_known` when it was here and was left as it is, `is_unchanged` when nothing was new.
    """

    url: str
    title: str
    messages: int
    tools: int
    is_known: bool = False
    is_unchanged: bool = False

    @property
    def counts(self) -> str:
        """How much of it there is, in the active language."""
        messages, tools = self.messages, self.tools
        pieces = [
            ngettext("%(count)s message", "%(count)s messages", messages) % {"count": messages}
        ]
        if tools:
            words = ngettext("%(count)s tool call", "%(count)s tool calls", tools)
            pieces.append(words % {"count": tools})
        return " · ".join(pieces)


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """What came of a file."""

    name: str
    entries: Sequence[ImportedEntry]
    skipped: Sequence[str]
    more: int = 0

    @property
    def remarks(self) -> int:
        return len(self.skipped) + self.more


def around_progress(page: str) -> tuple[str, str]:
    """What of the page comes before and after the progress and the report."""
    head, here, tail = page.partition(_HERE)
    return head + here, tail


def skipped_text(reason: str, where: str, inside: str = "", count: int = 0) -> str:
    """Why something was left out, and where, in the active language."""
    values = {"where": where or "?", "count": count}
    text = str(REASONS.get(reason, _("Something was left out."))) % values
    return f"{inside}: {text}" if inside else text


def progress_html(name: str, read: int, size: int, reader: Reader) -> SafeString:
    """How far a file has been read; the latest of these is the one that is shown."""
    with reader.speaking():
        return format_html(
            '<p class="import-progress" data-read="{}" data-size="{}">'
            '<progress value="{}" max="{}" aria-label="{}"></progress> {} · {}</p>\n',
            read, size, read, max(size, 1), _("Reading"), name,
            _("%(read)s of %(size)s") % {"read": file_size(read), "size": file_size(size)},
        )  # fmt: skip


def report_html(files: Sequence[ImportedFile], reader: Reader) -> SafeString:
    with reader.speaking():
        values = {"files": files, "reader": reader}
        return SafeString(render_to_string("chat/import_report.html", values).strip())
