"""Feed a text in pieces, keep a page beside it, and look at every state."""

import re
from collections.abc import Iterable

from chat.rendering.sanitize import REL
from chat.rendering.streaming import Labels, StreamingMarkdown, render_part
from chat.rendering.streaming.whole import whole_blocks
from tests.support.dom_apply import Page, canonical, parse

KEY = "k"
_PLAIN_TAGS = [
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "kbd",
    "li",
    "ol",
    "p",
    "pre",
    "section",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
    "a",
    "button",
    "svg",
    "use",
    "input",
]
_MATH_TAGS = [
    "math",
    "menclose",
    "merror",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mprescripts",
    "mroot",
    "mrow",
    "ms",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
]
_ATTRIBUTES = {
    "a": {"href", "title", "rel", "target", "class"},
    "button": {"class", "type", "data-copy", "data-code", "aria-label"},
    "code": {"class"},
    "div": {"class", "role", "tabindex", "aria-label"},
    "figure": {"class"},
    "input": {"type", "disabled", "checked", "aria-label"},
    "ol": {"start"},
    "p": {"class"},
    "pre": {"class", "tabindex"},
    "section": {"class", "aria-label"},
    "span": {"class"},
    "sup": {"class"},
    "svg": {"class", "aria-hidden"},
    "td": {"class"},
    "th": {"class", "scope"},
    "use": {"href"},
}
_CLASS = re.compile(
    r"[a-z]{1,2}[a-z0-9]?|err|language-[\w+#.-]{1,30}|table|tools|code highlight|icon"
    r"|button icon-only small|plain|num|mid|image|source|footnotes|footnote-ref|markdown-alert"
    r"|markdown-alert markdown-alert-[a-z]+|markdown-alert-title|m[lr]( b[tr])*|b[tr]( b[tr])*"
)
_LINK = re.compile(r"https?://[^/\s\\]|mailto:\S|/\?draft=[\w.~%+-]+$", re.I | re.A)


def render(text: str, labels: Labels | None = None) -> str:
    """The whole text as HTML, without ids."""
    return "".join(whole_blocks(text, labels or Labels()))


def assert_safe(html: str) -> None:
    """Every element, attribute, class, id and address is one that we mean to show."""
    for element in parse(html).iter():
        if element.tag == "root":
            continue
        tag = str(element.tag).rpartition("}")[2]
        assert tag in _PLAIN_TAGS or tag in _MATH_TAGS, tag
        for name, value in element.items():
            _assert_attribute(tag, name, value)


def _assert_attribute(tag: str, name: str, value: str) -> None:
    if name == "id":
        assert re.fullmatch(rf"{KEY}-\d+", value), value
    elif tag in _MATH_TAGS:
        assert not name.startswith(("on", "hx", "data", "style", "href", "xlink")), name
    else:
        assert name in _ATTRIBUTES.get(tag, set()), (tag, name)
    if name == "class":
        assert _CLASS.fullmatch(value), value
    if name == "href":
        assert (
            re.fullmatch("#i-(copy|wrap|numbers|download|table)", value)
            if tag == "use"
            else _LINK.match(value)
        ), value
    if name == "rel":
        assert value == REL
    if tag == "input" and name == "type":
        assert value == "checkbox"


def stream(text: str, cuts: Iterable[int], safe: bool = False) -> Page:
    """The page after every piece equals the HTML drawn from scratch, and the end the full one."""
    live, page = StreamingMarkdown(KEY), Page(KEY)
    last = 0
    for cut in [*cuts, len(text)]:
        fragments = [op.fragment() for op in live.feed(text[last:cut])]
        last = cut
        page.apply("".join(fragments))
        assert page.html() == canonical(live.html()), text[:cut]
        if safe:
            assert_safe(live.html())
    at_once = StreamingMarkdown(KEY)
    at_once.feed(text)
    assert at_once.html() == live.html(), "the HTML depends on how the text was cut"
    page.apply("".join(op.fragment() for op in live.finish()))
    assert page.html() == canonical(live.html()) == canonical(render_part(text, KEY))
    if safe:
        assert_safe(live.html())
    return page
