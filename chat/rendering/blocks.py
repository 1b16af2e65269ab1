"""Markdown to clean HTML, one string for each top-level block."""

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import comrak

from chat.rendering.chrome import Labels, dress
from chat.rendering.code import LONG, clean_code, highlight
from chat.rendering.formulas import formula
from chat.rendering.sanitize import clean

_LONGEST: Final = 600_000
_MOST_LINES: Final = 12_000
_DEEPEST: Final = 48
_WIDEST: Final = 1_000
_MOST_OPENERS: Final = 4_000


class TooComplex(Exception):
    """This text would take too long, or nest too deep, to be drawn as markdown."""


def _extensions() -> comrak.ExtensionOptions:
    options = comrak.ExtensionOptions()
    for name in (
        "table", "tasklist", "strikethrough", "autolink", "footnotes", "alerts",
        "math_dollars", "math_latex", "cjk_friendly_emphasis",
    ):  # fmt: skip
        setattr(options, name, True)
    return options


def _rendering(positions: bool) -> comrak.RenderOptions:
    options = comrak.RenderOptions()
    options.escape = True
    options.compact_html = True
    options.sourcepos = positions
    return options


_EXTENSIONS: Final = _extensions()
_PARSING: Final = comrak.ParseOptions()
_PLAIN: Final = _rendering(positions=False)
_WITH_POSITIONS: Final = _rendering(positions=True)

# Leaf blocks hold no other block, so each is one match; containers are matched tag by tag.
BLOCK: Final = re.compile(
    r"<(?P<leaf>p|h[1-6]|pre|table)\b(?P<attributes>[^>]*)>(?P<inner>.*?)</(?P=leaf)>|<hr\b[^>]*>"
    r"|<(?P<end>/?)(?P<box>ul|ol|li|blockquote|div|section)\b(?P<more>[^>]*)>|<input[^>]*> ?",
    re.S,
)
_TAG: Final = re.compile(r"<(/?)([a-z0-9]+)[^>]*?(/?)>")
_VOID: Final = {"br", "hr", "img", "input"}
_CODE: Final = re.compile(r'<code(?: class="language-([^"]*)")?>(.*)</code>', re.S)
_BEGIN_CODE: Final = re.compile(r"<pre[^>]*><code[^>]*>")
_END_CODE: Final = "</code></pre>"
_IMAGE: Final = re.compile(r'<img src="([^"]*)" alt="([^"]*)"[^>]*>')
_LINKED: Final = re.compile(r"<a\b[^>]*>.*?</a>|<img [^>]*>", re.S)
_FORMULA: Final = re.compile(r'<span data-math-style="(inline|display)">(.*?)</span>', re.S)
_FOOTNOTE_LINK: Final = re.compile(
    r' ?<a href="[^"]*" class="footnote-backref".*?↩(?:<sup[^>]*>\d+</sup>)?</a>'
    r'|<a href="[^"]*" id="[^"]*" data-footnote-ref>(.*?)</a>',
    re.S,
)
# Models write these few tags on purpose; inside code they are text like any other.
_WELCOME: Final = re.compile(
    r"<code[^>]*>.*?</code>|<math.*?</math>|&lt;br ?/?&gt;"
    r"|&lt;(sub|sup|kbd)&gt;((?:(?!&lt;)[^<]){0,200})&lt;/\1&gt;",
    re.S,
)


def parse(source: str, positions: bool = False) -> str:
    """Comrak's own HTML; it is not safe yet."""
    if len(source) > _LONGEST or source.count("\\(") + source.count("\\[") > _MOST_OPENERS:
        raise TooComplex
    if source.count("\n") > _MOST_LINES:
        raise TooComplex
    if source.count("|") > _WIDEST and max(map(_pipes, source.split("\n"))) > _WIDEST:
        raise TooComplex
    options = _WITH_POSITIONS if positions else _PLAIN
    return comrak.render_markdown(source, _EXTENSIONS, _PARSING, options)


def slices(source: str, labels: Labels, finished: bool = True) -> list[str]:
    """Each top-level block as one safe element. In an open text the last code is still growing."""
    if not source or source.isspace():
        return []
    raw = list(_split(parse(source)))
    if not finished:
        raw = [piece for piece in raw if not piece.startswith("<section")]
    last = len(raw) - 1
    # While a block is begun, the one before it is drawn again with every frame.
    elder = _finish if finished else _remembered
    return [
        (_finish if at == last else elder)(piece, labels, finished, at == last)
        for at, piece in enumerate(raw)
    ]


def _finish(raw: str, labels: Labels, finished: bool, last: bool) -> str:
    html_ = _transform(raw, labels, finished, last)
    begin = _BEGIN_CODE.match(html_) if len(html_) > LONG else None
    if begin and html_.endswith(_END_CODE) and html_.count("<pre") == 1:
        return dress(_clean_long(begin[0], html_), labels)
    if html_.count("<") > 2 * _DEEPEST:
        _refuse_depth(html_)
    return dress(clean(html_), labels)


def _clean_long(begin: str, html_: str) -> str:
    """Nothing but long code: its frame and its runs of colour are cleaned apart."""
    code = html_[len(begin) : -len(_END_CODE)]
    return clean(begin + _END_CODE).removesuffix(_END_CODE) + clean_code(code) + _END_CODE


_remembered: Final = lru_cache(maxsize=128)(_finish)


def _pipes(line: str) -> int:
    return line.count("|")


def _split(raw: str) -> Iterator[str]:
    """Cut at the top level; HTML that was escaped as a block has no element, so it gets one."""
    start = end = depth = 0
    for match in BLOCK.finditer(raw):
        if depth == 0:
            yield from _bare(raw[end : match.start()])
            start = match.start()
        if match["box"]:
            depth += -1 if match["end"] else 1
            if depth > _DEEPEST:
                raise TooComplex
        end = match.end()
        if depth == 0:
            yield raw[start:end]
    yield from _bare(raw[end:])


def _bare(text: str) -> Iterator[str]:
    if text.strip():
        yield f"<p>{text.strip()}</p>"


def _refuse_depth(html_: str) -> None:
    depth = 0
    for end, name, empty in _TAG.findall(html_):
        if name not in _VOID and not empty:
            depth += -1 if end else 1
            if depth > 4 * _DEEPEST:
                raise TooComplex


def _transform(raw: str, labels: Labels, finished: bool, last: bool) -> str:
    """From comrak's HTML to ours: paragraphs in every list item, formulas, images as text."""
    made: list[str] = []
    end = 0
    for match in BLOCK.finditer(raw):
        _text(made, raw[end : match.start()], labels)
        end = match.end()
        if match["leaf"] == "pre":
            on_spine = last and not _after(raw, end)
            made.append(_code(match, colour=finished or not on_spine, finished=finished))
        elif match["leaf"]:
            tag, attributes = match["leaf"], match["attributes"]
            if tag == "p" and _open_task(made):
                made.append(_inline(match["inner"], labels) + "</p>")
            else:
                made.append(f"<{tag}{attributes}>{_inline(match['inner'], labels)}</{tag}>")
        elif match[0].startswith("<input"):
            made.append(f"<p>{match[0].rstrip()} ")
        else:
            made.append("</p>" + match[0] if _open_task(made) else match[0])
    _text(made, raw[end:], labels)
    return "".join(made)


def _open_task(made: list[str]) -> bool:
    """Whether a task's checkbox still waits for its text, in the paragraph begun for it."""
    return bool(made) and made[-1].startswith("<p><input")


def _after(raw: str, end: int) -> bool:
    """Whether anything but closing tags follows."""
    return re.fullmatch(r"(?:</[a-z]+>|\s)*", raw[end:]) is None


def _text(made: list[str], text: str, labels: Labels) -> None:
    """Text beside blocks is a tight list item or escaped HTML. Items are drawn alike, tight or
    loose: whether a list is loose is known only when it ends, and its items are final before."""
    stripped = text.strip()
    if stripped:
        begin = "" if _open_task(made) else "<p>"
        made.append(f"{begin}{_inline(stripped, labels)}</p>")


def _code(match: re.Match[str], colour: bool, finished: bool) -> str:
    found = _CODE.fullmatch(match["inner"])
    if found is None:
        return match[0]
    language = found[1] or ""
    code = html.unescape(found[2])
    kind = f' class="language-{language}"' if language else ""
    long = len(code) > LONG and not finished
    inner = (
        highlight(code, html.unescape(language)) if colour and language and not long else found[2]
    )
    return f"<pre><code{kind}>{inner}</code></pre>"


def _inline(text: str, labels: Labels) -> str:
    if "data-footnote-" in text:
        text = _FOOTNOTE_LINK.sub(lambda match: match[1] or "", text)
    if "<img " in text:
        text = _LINKED.sub(lambda match: _images(match[0], labels), text)
    if "<span data-math-style" in text:
        text = _FORMULA.sub(lambda m: formula(html.unescape(m[2]), m[1] == "display"), text)
    return _WELCOME.sub(_welcome, text) if "&lt;" in text else text


def _welcome(match: re.Match[str]) -> str:
    if match[1]:
        return f"<{match[1]}>{match[2]}</{match[1]}>"
    return "<br>" if match[0].startswith("&lt;br") else match[0]


def _images(piece: str, labels: Labels) -> str:
    """An image would tell its host who reads what: it becomes a link nobody follows unasked."""
    inside_link = piece.startswith("<a")

    def placeholder(match: re.Match[str]) -> str:
        address = html.unescape(match[1])
        host = _host(address)
        words = match[2] or html.escape(labels.image)
        shown = f"{words} ({html.escape(host)})" if host else words
        if inside_link or not host:
            return f'<span class="image">{shown}</span>'
        return f'<a class="image" href="{html.escape(address)}">{shown}</a>'

    return _IMAGE.sub(placeholder, piece)


def _host(address: str) -> str:
    try:
        parts = urlsplit(address)
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
    except ValueError:
        return ""
