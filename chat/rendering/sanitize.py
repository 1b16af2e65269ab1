"""The last gate before the page: what HTML may come out of a model's text."""

import re
from typing import Final

import nh3

_MATH: Final = {
    "math", "menclose", "merror", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded",
    "mphantom", "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub",
    "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
}  # fmt: skip
_HTML: Final = {
    "a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "input", "kbd", "li", "ol", "p", "pre", "section", "span", "strong", "sub", "sup", "table",
    "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
TAGS: Final = frozenset(_MATH | _HTML)

_CLASSED: Final = {"code", "div", "p", "section", "span", "a", "sup", "mtd", "mrow", "mo", "mi"}
_MATH_ATTRIBUTES: Final = {
    "accent", "accentunder", "columnlines", "depth", "display", "displaystyle", "fence", "form",
    "height", "largeop", "linethickness", "lspace", "mathvariant", "maxsize", "minsize",
    "movablelimits", "notation", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy",
    "symmetric", "voffset", "width",
}  # fmt: skip
ATTRIBUTES: Final[dict[str, set[str]]] = {
    **{tag: set(_MATH_ATTRIBUTES) for tag in _MATH},
    "a": {"href", "title"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align"},
    "input": {"checked", "disabled"},
}
for _tag in _CLASSED:
    ATTRIBUTES.setdefault(_tag, set()).add("class")

_CLASS: Final = re.compile(
    r"language-[\w+#.-]{1,30}|[a-z]{1,2}[a-z0-9]?|err|image|footnotes|footnote-ref|source"
    r"|markdown-alert( markdown-alert-[a-z]{3,9})?|markdown-alert-title"
    r"|m[lr]|m[lr]? ?b[tr]( b[tr])?"
)
_LINK: Final = re.compile(r"(?:https?://[^/\s\\]|mailto:[^\s])", re.I)
# A prompt to click: its words are put into the composer (`static/js/prompts.js`), and nothing is
# sent. The one address of our own that an answer may lead to, and exactly in this form.
_PROMPT: Final = re.compile(r"/\?draft=[\w.~%+-]{1,2000}", re.ASCII)
# A mail program is no page: a new tab for it would be left empty.
_MAIL: Final = re.compile(r'(<a href="mailto:[^"]*"(?: title="[^"]*")?) target="_blank"', re.I)
REL: Final = "noopener noreferrer nofollow ugc"


def _filter(tag: str, name: str, value: str) -> str | None:
    if name == "class":
        return value if _CLASS.fullmatch(value) else None
    if name == "href":
        return value if _LINK.match(value) or _PROMPT.fullmatch(value) else None
    return value


_cleaner: Final = nh3.Cleaner(
    tags=set(TAGS),
    clean_content_tags=set(),
    attributes=ATTRIBUTES,
    attribute_filter=_filter,
    tag_attribute_values={"input": {"type": {"checkbox"}}},
    # A link leads away from a conversation that may still be answering.
    set_tag_attribute_values={"a": {"target": "_blank"}},
    strip_comments=True,
    link_rel=REL,
    url_schemes={"http", "https", "mailto"},
    # The filter above lets one form of these through.
    url_relative="pass_through",
    generic_attribute_prefixes=set(),
)


def clean(html: str) -> str:
    """Keep what the allow-list names; everything else goes, its text stays."""
    cleaned = _cleaner.clean(html)
    return _MAIL.sub(r"\1", cleaned) if "mailto:" in cleaned.lower() else cleaned


def escape(text: str) -> str:
    """Escape as the sanitizer writes it, so that both can be compared as strings."""
    return (
        text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\u00a0", "&nbsp;")
    )
