"""What stands inside of a paragraph, heading or cell: from comrak's HTML to ours.

In: comrak's HTML of one leaf block, without its tags. Out: HTML with formulas as MathML, images as
links that nothing is fetched from, and the few tags that models write on purpose.
"""

import html
import re
from typing import Final
from urllib.parse import urlsplit

from chat.rendering.formulas import formula
from chat.rendering.streaming.chrome import Labels

_IMAGE: Final = re.compile(r'<img src="([^"]*)" alt="([^"]*)"[^>]*>')
_LINK_OR_IMAGE: Final = re.compile(r"<a\b[^>]*>.*?</a>|<img [^>]*>", re.S)
_FORMULA: Final = re.compile(r'<span data-math-style="(inline|display)">(.*?)</span>', re.S)
_FOOTNOTE_LINK: Final = re.compile(
    r' ?<a href="[^"]*" class="footnote-backref".*?↩(?:<sup[^>]*>\d+</sup>)?</a>'
    r'|<a href="[^"]*" id="[^"]*" data-footnote-ref>(.*?)</a>',
    re.S,
)
# Models write these few tags on purpose; inside code they are text like any other.
_WELCOME_TAG: Final = re.compile(
    r"<code[^>]*>.*?</code>|<math.*?</math>|&lt;br ?/?&gt;"
    r"|&lt;(sub|sup|kbd)&gt;((?:(?!&lt;)[^<]){0,200})&lt;/\1&gt;",
    re.S,
)


def inline(text: str, labels: Labels) -> str:
    """The HTML between the tags of a leaf block."""
    if "data-footnote-" in text:
        # Anchors would need ids, which could clash with those of another answer.
        text = _FOOTNOTE_LINK.sub(lambda match: match[1] or "", text)
    if "<img " in text:
        text = _LINK_OR_IMAGE.sub(lambda match: _without_images(match[0], labels), text)
    if "<span data-math-style" in text:
        text = _FORMULA.sub(lambda m: formula(html.unescape(m[2]), m[1] == "display"), text)
    return _WELCOME_TAG.sub(_welcome, text) if "&lt;" in text else text


def _welcome(match: re.Match[str]) -> str:
    if match[1]:
        return f"<{match[1]}>{match[2]}</{match[1]}>"
    return "<br>" if match[0].startswith("&lt;br") else match[0]


def _without_images(piece: str, labels: Labels) -> str:
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
