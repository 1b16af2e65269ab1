"""What we put around cleaned HTML: fixed templates, after the sanitizer, never from the model."""

import html
import re
from dataclasses import dataclass
from typing import Final

from chat.rendering.code import language_name


@dataclass(frozen=True, slots=True)
class Labels:
    """The few words of the page inside an answer, in the reader's language."""

    copy: str = "Copy"
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
_ALERT: Final = re.compile(
    r'(<div class="markdown-alert markdown-alert-(note|tip|important|warning|caution)">'
    r'<p class="markdown-alert-title">)(Note|Tip|Important|Warning|Caution)</p>'
)
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


def identify(slice_html: str, element_id: str) -> str:
    """Put our id on the root element of a slice."""
    end = _ROOT.match(slice_html)
    assert end is not None, "a slice is one element"
    return f'{end[0]} id="{element_id}"{slice_html[end.end() :]}'


def _code_head(language: str, labels: Labels) -> str:
    name = html.escape(language_name(language)) if language else ""
    kind = f' class="language-{language}"' if language else ""
    return (
        f'<figure class="code highlight"><figcaption>{name}'
        '<button class="button icon-only small" type="button" data-copy="code" '
        f'aria-label="{html.escape(labels.copy)}"><svg class="icon" aria-hidden="true">'
        '<use href="#i-copy"></use></svg></button></figcaption>'
        f'<pre tabindex="0"><code{kind}>'
    )


def _cell(match: re.Match[str]) -> str:
    scope = ' scope="col"' if match[1] == "th" else ""
    side = {"right": ' class="num"', "center": ' class="mid"'}.get(match[2] or "", "")
    return f"<{match[1]}{scope}{side}>"


def _table(cleaned: str, labels: Labels) -> str:
    # One body per row: an out-of-band row can only travel inside a <table>, whose
    # parser puts a <tbody> around it. So appended rows and rendered rows are the same.
    cleaned = cleaned.replace("</tr><tr>", "</tr></tbody><tbody><tr>")
    region = (
        f'<div class="table" role="region" tabindex="0" aria-label="{html.escape(labels.table)}">'
    )
    cleaned = cleaned.replace("<table>", f"{region}<table>").replace("</table>", "</table></div>")
    return _CELL.sub(_cell, cleaned)


def _alert_title(match: re.Match[str], labels: Labels) -> str:
    if match[3].lower() != match[2]:
        return match[0]
    return f"{match[1]}{html.escape(getattr(labels, match[2]))}</p>"
