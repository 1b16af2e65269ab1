"""What we put around cleaned HTML: fixed templates, after the sanitizer, never from the model."""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from chat.rendering.highlight import file_name, language_name


@dataclass(frozen=True, slots=True)
class Labels:
    """The few words of the page inside an answer, in the reader's language."""

    copy: str = "Copy"
    wrap: str = "Wrap lines"
    numbers: str = "Line numbers"
    download: str = "Download"
    as_markdown: str = "Copy as Markdown"
    as_csv: str = "Copy as CSV"
    image: str = "image"
    table: str = "Table"
    footnotes: str = "Footnotes"
    note: str = "Note"
    tip: str = "Tip"
    important: str = "Important"
    warning: str = "Warning"
    caution: str = "Caution"
    task: str = "Task"


ENGLISH: Final = Labels()
_PRE: Final = re.compile(r'<pre><code(?: class="language-([^"]*)")?>')
_CELL: Final = re.compile(r'<(t[hd])(?: align="(left|center|right)")?>')
# The corner above the names of rows: a head without words heads nothing.
_NAMELESS: Final = re.compile(r'<th scope="col"( class="\w+")?></th>')
_ALERT: Final = re.compile(
    r'(<div class="markdown-alert markdown-alert-(note|tip|important|warning|caution)">'
    r'<p class="markdown-alert-title">)(Note|Tip|Important|Warning|Caution)</p>'
)
_HEAD: Final = re.compile(r"<table><thead>(.*?)</thead>", re.S)
# How a block of code or a table begins that has been dressed.
_FRAME: Final = re.compile(
    r'(<figure class="code highlight"><figcaption>.*?</figcaption><pre tabindex="0">'
    r'|<div class="table" role="group"[^>]*><div class="tools">.*?</div>)',
    re.S,
)
# How many of them in one text have buttons.
MOST_FRAMES: Final = 200
_TAGS: Final = re.compile(r"<[^>]*>")
_LONGEST_NAME: Final = 80
_TASK: Final = '<input type="checkbox"'
_ROOT: Final = re.compile(r"<[a-z0-9]+")


def dress(cleaned: str, labels: Labels) -> str:
    """Give tables their scroll region, code its head, alerts their title, tasks a name."""
    if "<pre>" in cleaned:
        cleaned = _PRE.sub(lambda match: _code_head(match[1] or "", labels), cleaned)
        cleaned = cleaned.replace("</pre>", "</pre></figure>")
    if "<table>" in cleaned:
        cleaned = _table(cleaned, labels)
    if "markdown-alert" in cleaned:
        cleaned = _ALERT.sub(lambda match: _alert_title(match, labels), cleaned)
    if _TASK in cleaned:
        cleaned = cleaned.replace(_TASK, f'{_TASK} aria-label="{html.escape(labels.task)}"')
    if "<section" in cleaned:
        label = html.escape(labels.footnotes)
        cleaned = cleaned.replace("<section", f'<section aria-label="{label}"', 1)
    return cleaned


def with_few_frames(blocks: Iterable[str]) -> Iterator[str]:
    """The blocks of a whole text, of which the first frames of code and tables alone have their
    buttons: those of one take a hundred times as much as its fences in the text."""
    framed = 0
    for block in blocks:
        found = len(_FRAME.findall(block))
        if framed + found > MOST_FRAMES:
            yield _without_frames(block, keep=max(MOST_FRAMES - framed, 0))
        else:
            yield block
        framed += found


def _without_frames(block: str, keep: int) -> str:
    # Neither holds the other, so what ends a frame belongs to the one that began last.
    first, *rest = _FRAME.split(block)
    made = [first]
    for number, (begin, inside) in enumerate(zip(rest[::2], rest[1::2], strict=True)):
        if number < keep:
            made += (begin, inside)
        elif begin.startswith("<figure"):
            made += ('<pre class="plain" tabindex="0">', inside.replace("</figure>", "", 1))
        else:
            made += ('<div class="table" tabindex="0">', inside)
    return "".join(made)


def identify(slice_html: str, element_id: str) -> str:
    """Put our id on the root element of a slice."""
    end = _ROOT.match(slice_html)
    assert end is not None, "a slice is one element"
    return f'{end[0]} id="{element_id}"{slice_html[end.end() :]}'


def _code_head(language: str, labels: Labels) -> str:
    name = html.escape(language_name(language)) if language else ""
    kind = f' class="language-{language}"' if language else ""
    buttons = (
        _button("code", "wrap", labels.wrap, "wrap")
        + _button("code", "numbers", labels.numbers, "numbers")
        + _button("code", file_name(language), labels.download, "download")
        + _button("copy", "code", labels.copy, "copy")
    )
    return (
        f'<figure class="code highlight"><figcaption>{name}{buttons}</figcaption>'
        f'<pre tabindex="0"><code{kind}>'
    )


@lru_cache(maxsize=256)
def _button(act: str, way: str, label: str, icon: str) -> str:
    return (
        f'<button class="button icon-only small" type="button" data-{act}="{way}" '
        f'aria-label="{html.escape(label)}"><svg class="icon" aria-hidden="true">'
        f'<use href="#i-{icon}"></use></svg></button>'
    )


def _cell(match: re.Match[str]) -> str:
    scope = ' scope="col"' if match[1] == "th" else ""
    side = {"right": ' class="num"', "center": ' class="mid"'}.get(match[2] or "", "")
    return f"<{match[1]}{scope}{side}>"


def _table(cleaned: str, labels: Labels) -> str:
    # One body per row: an out-of-band row can only travel inside a <table>, whose
    # parser puts a <tbody> around it. So appended rows and rendered rows are the same.
    cleaned = cleaned.replace("</tr><tr>", "</tr></tbody><tbody><tr>")
    cleaned = _HEAD.sub(lambda match: _table_region(match[1], labels) + match[0], cleaned)
    cleaned = cleaned.replace("</table>", "</table></div>")
    return _NAMELESS.sub(r"<td\1></td>", _CELL.sub(_cell, cleaned))


@lru_cache(maxsize=64)
def _table_region(head: str, labels: Labels) -> str:
    """What a table scrolls in, called after its columns: several in a chat are told apart. Not a
    landmark, for two may have the same columns."""
    cells = (html.unescape(_TAGS.sub("", cell)).strip() for cell in head.split("</th>"))
    columns = ", ".join(cell for cell in cells if cell)[:_LONGEST_NAME]
    name = f"{labels.table}: {columns}" if columns else labels.table
    buttons = _button("copy", "markdown", labels.as_markdown, "copy")
    buttons += _button("copy", "csv", labels.as_csv, "table")
    return (
        f'<div class="table" role="group" tabindex="0" aria-label="{html.escape(name)}">'
        f'<div class="tools">{buttons}</div>'
    )


def _alert_title(match: re.Match[str], labels: Labels) -> str:
    if match[3].lower() != match[2]:
        return match[0]
    return f"{match[1]}{html.escape(getattr(labels, match[2]))}</p>"
