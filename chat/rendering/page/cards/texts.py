"""Results that are read as text: plain, JSON, what a command printed, lines of a file."""

from dataclasses import dataclass
from typing import Any

from django.utils.formats import localize
from django.utils.translation import gettext as _

from chat.protocol.displays import FileDisplay, ShellDisplay
from chat.protocol.tool_state import NO_OUTPUT
from chat.rendering.highlight import language_of_file
from chat.rendering.page.cards.form import Result
from chat.rendering.page.cards.runs import Folded, code_runs, cut, fold
from chat.rendering.page.cards.terminal import has_controls, printed
from chat.rendering.page.json_text import parsed, pretty, shortened

# Longer texts are not looked at for what they might be.
_LONGEST_JSON = 1_000_000


@dataclass(frozen=True, slots=True)
class ShownShell:
    command: Folded
    output: Folded | None
    errors: Folded | None
    # How it ended, in words.
    status: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ShownFile:
    path: str
    language: str
    # Which lines of it, in words.
    extent: str
    text: Folded


def output_result(text: str) -> Result | None:
    if text == NO_OUTPUT:
        return Result("nothing", _("The tool returned nothing."))
    return text_result(text)


def text_result(text: str) -> Result | None:
    if not text:
        return None
    value = parsed(text) if len(text) <= _LONGEST_JSON else None
    return Result("text", folded_text(text)) if value is None else json_result(value)


def json_result(value: Any) -> Result | None:
    return None if value is None else Result("json", folded_json(value))


def folded_text(text: str) -> Folded:
    """Also of a text that was meant for a terminal."""
    if has_controls(text):
        return printed(text)
    head, _tail, left_out = cut(text)
    return fold([("", head)], left_out=left_out)


def folded_json(value: Any) -> Folded:
    text, _tail, left_out = cut(pretty(shortened(value)))
    return fold(code_runs(text, "json"), left_out=left_out)


def folded_code(text: str, language: str, first: int = 0) -> Folded:
    head, _tail, left_out = cut(text)
    return fold(code_runs(head, language), left_out=left_out, first=first)


def shell_result(display: ShellDisplay) -> Result:
    code = display.exit_code
    return Result(
        "shell",
        ShownShell(
            folded_code(display.command, "bash"),
            printed(display.output) if display.output.strip() else None,
            printed(display.errors) if display.errors.strip() else None,
            "" if code is None else _("Exit status %(code)s") % {"code": code},
            failed=bool(code),
        ),
    )


def file_result(display: FileDisplay) -> Result:
    name, language = language_of_file(display.path)
    return Result(
        "file",
        ShownFile(
            display.path,
            name,
            _extent(display),
            folded_code(display.text, language, max(display.first, 1)),
        ),
    )


def _extent(display: FileDisplay) -> str:
    count = display.text.count("\n") + 1 if display.text else 0
    numbers = {
        "first": localize(display.first),
        "last": localize(display.first + count - 1),
        "total": localize(display.total),
    }
    if not count:
        return _("The file is empty.")
    if display.total is None:
        return _("Lines %(first)s to %(last)s") % numbers
    if display.first == 1 and count >= display.total:
        return _("%(total)s lines, all of it") % numbers
    return _("Lines %(first)s to %(last)s of %(total)s") % numbers
