"""The page of an import: what was read so far, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.rendering.reader import Reader

# Why something was left out, by the code of its reader.
REASONS: Mapping[str, Promise | str] = {
    "line_too_long": _("Line %(where)s is too long."),
    "line_not_json": _("Line %(where)s is broken."),
    "duplicate_tool_result": _("The call %(where)s has a second result; the first is kept."),
    "no_matching_tool_use": _("A result has no call (%(where)s); it stands by itself."),
    "message_not_understood": _("Message %(where)s cannot be read."),
    "message_not_kept": _("Message %(where)s cannot be kept: something in it is too large or odd."),
    "file_broke": _("The rest of the file could not be imported. Import it again to go on."),
    "file_not_json": _("The file is broken (at %(where)s)."),
    "file_too_deep": _("The file is nested too deeply."),
    "file_too_new": _("The file was written by a newer version (%(where)s)."),
    "file_not_understood": _("No conversation was found in it."),
    "file_refused": _("A file was left out: %(where)s."),
}


# The element of `templates/chat/import.html` that they are put into.
_HERE = '<div id="import-result" aria-live="polite">'


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """A conversation that was imported; `is_known` when it was here and was left as it is."""

    url: str
    title: str
    messages: int
    tools: int
    is_known: bool = False

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


def around_progress(page: str) -> tuple[str, str]:
    """What of the page comes before and after the progress and the report."""
    head, here, tail = page.partition(_HERE)
    return head + here, tail


def skipped_text(reason: str, where: str) -> str:
    """Why something was left out, and where, in the active language."""
    return str(REASONS.get(reason, _("Something was left out."))) % {"where": where or "?"}


def progress_html(name: str, read: int, size: int, reader: Reader) -> SafeString:
    """How far a file has been read; the latest of these is the one that is shown."""
    with reader.speaking():
        return format_html(
            '<p class="import-progress" data-read="{}" data-size="{}">'
            '<progress value="{}" max="{}" aria-label="{}"></progress> {}</p>\n',
            read, size, read, max(size, 1), _("Reading"), name,
        )  # fmt: skip


def report_html(files: Sequence[ImportedFile], reader: Reader) -> SafeString:
    with reader.speaking():
        values = {"files": files, "reader": reader}
        return SafeString(render_to_string("chat/import_report.html", values).strip())
