"""Markdown to safe HTML, one element for each top-level block.

In: markdown, and whether it is finished. Out: a list of elements, all of them cleaned. For example
`# Hi⏎⏎there` is `["<h1>Hi</h1>", "<p>there</p>"]`.
"""

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from chat.rendering.highlight import LONG, clean_code, highlight
from chat.rendering.sanitize import clean
from chat.rendering.streaming.chrome import Labels, dress
from chat.rendering.streaming.inline import inline
from chat.rendering.streaming.parse import BLOCK, DEEPEST, TooComplex, parse

_TAG: Final = re.compile(r"<(/?)([a-z0-9]+)[^>]*?(/?)>")
_VOID: Final = {"br", "hr", "img", "input"}
_CODE: Final = re.compile(r'<code(?: class="language-([^"]*)")?>(.*)</code>', re.S)
_CODE_BEGINS: Final = re.compile(r"<pre[^>]*><code[^>]*>")
_CODE_ENDS: Final = "</code></pre>"
_ONLY_END_TAGS: Final = re.compile(r"(?:</[a-z]+>|\s)*")


def safe_blocks(source: str, labels: Labels, finished: bool = True) -> list[str]:
    """Each top-level block as one safe element. In an open text the last code is still growing,
    and footnotes wait for the end."""
    if not source or source.isspace():
        return []
    raw = list(_split(parse(source)))
    if not finished:
        raw = [block for block in raw if not block.startswith("<section")]
    last = len(raw) - 1
    # While a block is begun, the one before it is drawn again with every frame.
    elder = _safe if finished else _remembered
    return [
        (_safe if at == last else elder)(block, labels, finished, at == last)
        for at, block in enumerate(raw)
    ]


def _safe(raw: str, labels: Labels, finished: bool, last: bool) -> str:
    """One block of comrak's HTML, transformed, cleaned and dressed."""
    block = _transform(raw, labels, finished, last)
    begins = _CODE_BEGINS.match(block) if len(block) > LONG else None
    if begins and block.endswith(_CODE_ENDS) and block.count("<pre") == 1:
        return dress(_clean_long_code(begins[0], block), labels)
    return dress(clean(block), labels)


_remembered: Final = lru_cache(maxsize=128)(_safe)


def _clean_long_code(begins: str, block: str) -> str:
    """Nothing but long code: its frame and its runs of colour are cleaned apart."""
    code = block[len(begins) : -len(_CODE_ENDS)]
    return clean(begins + _CODE_ENDS).removesuffix(_CODE_ENDS) + clean_code(code) + _CODE_ENDS


# --- cutting at the top level -------------------------------------------------------


def _split(raw: str) -> Iterator[str]:
    """Cut at the top level; HTML that was escaped as a block has no element, so it gets one."""
    start = end = depth = 0
    for match in BLOCK.finditer(raw):
        if depth == 0:
            start = match.start()
            yield from _in_paragraph(raw[end:start])
        if match["box"]:
            depth += -1 if match["end"] else 1
            if depth > DEEPEST:
                raise TooComplex
        end = match.end()
        if depth == 0:
            yield raw[start:end]
    yield from _in_paragraph(raw[end:])


def _in_paragraph(text: str) -> Iterator[str]:
    if text.strip():
        yield f"<p>{text.strip()}</p>"


# --- one block ----------------------------------------------------------------------


def _transform(raw: str, labels: Labels, finished: bool, last: bool) -> str:
    """From comrak's HTML to ours: paragraphs in every list item, coloured code, our inline HTML."""
    made: list[str] = []
    end = 0
    for match in BLOCK.finditer(raw):
        if match.start() > end:
            _add_loose_text(made, raw[end : match.start()], labels)
        end = match.end()
        if match["leaf"] == "pre":
            is_growing = not finished and last and _ONLY_END_TAGS.fullmatch(raw, end) is not None
            made.append(_code(match, is_growing, finished))
        elif match["leaf"]:
            made.append(_leaf(match, labels, in_task=_is_task_open(made)))
        elif match[0].startswith("<input"):
            made.append(f"<p>{match[0].rstrip()} ")
        else:
            made.append("</p>" + match[0] if _is_task_open(made) else match[0])
    _add_loose_text(made, raw[end:], labels)
    return "".join(made)


def _leaf(match: re.Match[str], labels: Labels, in_task: bool) -> str:
    name, inner = match["leaf"], _inline(match["inner"], labels)
    if name == "p" and in_task:
        return inner + "</p>"
    return f"<{name}{match['attributes']}>{inner}</{name}>"


def _inline(text: str, labels: Labels) -> str:
    """Inline elements can nest as well, and the sanitizer's time grows with the depth."""
    if text.count("<") > DEEPEST:
        depth = 0
        for end, name, empty in _TAG.findall(text):
            if name not in _VOID and not empty:
                depth += -1 if end else 1
                if depth > DEEPEST:
                    raise TooComplex
    return inline(text, labels)


def _is_task_open(made: list[str]) -> bool:
    """Whether a task's checkbox still waits for its text, in the paragraph begun for it."""
    return bool(made) and made[-1].startswith("<p><input")


def _add_loose_text(made: list[str], text: str, labels: Labels) -> None:
    """Text beside blocks is a tight list item or escaped HTML. Items are drawn alike, tight or
    loose: whether a list is loose is known only when it ends, and its items are final before."""
    stripped = text.strip()
    if stripped:
        begin = "" if _is_task_open(made) else "<p>"
        made.append(f"{begin}{_inline(stripped, labels)}</p>")


def _code(match: re.Match[str], is_growing: bool, finished: bool) -> str:
    """A block of code; while the text is open, growing code and long code stay plain."""
    found = _CODE.fullmatch(match["inner"])
    if found is None:
        return match[0]
    language, inner = found[1] or "", found[2]
    if language and not is_growing:
        code = html.unescape(inner)
        if finished or len(code) <= LONG:
            inner = highlight(code, html.unescape(language))
    kind = f' class="language-{language}"' if language else ""
    return f"<pre><code{kind}>{inner}</code></pre>"
