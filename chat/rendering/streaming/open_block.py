"""One top-level element of the page that may still change.

In: the element as it is drawn with each frame. Out: the operations that bring the page up to it.
"""

import html as html_escapes
import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from chat.rendering.streaming.changes import (
    appends,
    grow_at_the_end,
    grow_in_last_row,
    selector,
)
from chat.rendering.streaming.operations import Op
from chat.rendering.streaming.plain import PlainEnd, is_plain, is_plain_code
from chat.rendering.streaming.tags import (
    Element,
    common_prefix,
    common_suffix,
    end_of_element,
    next_cut,
    open_elements,
    open_start_tags,
    path_to_open_end,
)

_CODE_BEGINS: Final = re.compile(r'<code(?: class="language-([^"]*)")?>\Z')
_ENDS_IN_CODE: Final = re.compile(r"</code></pre></figure>(?:</[a-z0-9]+>)*\Z")
_WORDS: Final = ("<p>", "<p ", "<h", "<em", "<strong", "<del", "<a")
# A fragment is parsed outside of the page, where parts of a table's row would be dropped.
_CANNOT_TRAVEL_ALONE: Final = ("td", "th", "tr", "thead", "tbody")


class Code(NamedTuple):
    """A block of code: its language as it was written, and its text."""

    language: str
    text: str


@dataclass(slots=True)
class OpenBlock:
    """What the page shows of a block, and which part of that is drawn again with each frame.

    The page has `final + drawn[repeated:]`. For a list of which the second item is open, and whose
    first item no longer needs to be drawn:

        final     <ul id="k-0"><li><p>one</p></li>
        drawn     <ul id="k-0"><li><p>tw</p></li></ul>
        repeated  the length of <ul id="k-0">, with which both begin
    """

    id: str
    drawn: str
    repeated: int = 0
    final: list[str] = field(default_factory=list)
    # Shown for the rest of a line when the shortened source no longer says what the block is.
    stopgap: str | None = None
    is_coloured: bool = False
    # Where words can be appended, while nothing but plain words has come.
    plain: PlainEnd | None = None
    # How much of the innermost open element is final, if it holds words. A change in it that is no
    # growth sends all of it again.
    final_words: int = 0

    @property
    def selector(self) -> str:
        return f"#{self.id}"

    def html(self) -> str:
        """The element as it is on the page."""
        return self.stopgap if self.stopgap is not None else self._with_final(self.drawn)

    def is_continued_by(self, drawn: str) -> bool:
        """Whether this still begins as what is final here does."""
        return drawn.startswith(self.drawn[: self.repeated])

    def update(self, drawn: str) -> list[Op]:
        """Show this, which continues what is final."""
        if self.stopgap is not None:
            return self._end_stopgap(drawn)
        if drawn == self.drawn:
            return []
        ops = grow_at_the_end(self.selector, self.drawn, drawn)
        if ops is None:
            ops = grow_in_last_row(self.selector, self.drawn, drawn)
        if ops is None:
            ops = self._replace_smallest(drawn)
        self.drawn = drawn
        return ops

    def append_plain(self, source: str, text: str, in_code: bool = False) -> list[Op] | None:
        """Append words to what is drawn from this source, if they need no drawing themselves."""
        if self.stopgap is not None or not (is_plain_code if in_code else is_plain)(text):
            return None
        find_end = PlainEnd.of_code if in_code else PlainEnd.of
        end = self.plain or find_end(self.selector, source, self.drawn)
        words = end.grow(text) if end else None
        if end is None or words is None:
            return None
        self.plain, self.drawn = end, end.html()
        return [Op("append", end.target, words)] if words else []

    def show_stopgap(self, html: str) -> list[Op]:
        """Show this in the place of the whole element, what is final included."""
        changed = html != self.html()
        self.stopgap = html
        return [Op("replace", self.selector, html)] if changed else []

    def let_go(self, drawn: str) -> bool:
        """Go on from `drawn`, which was drawn from a shorter source: what it no longer shows is
        final. Refuse, and say so, when both do not end inside of the same elements."""
        cut = next_cut(drawn, len(drawn) - common_suffix(self.drawn, drawn))
        gone = len(self.drawn) - (len(drawn) - cut)
        if gone < self.repeated:
            return False
        path = open_start_tags(drawn, cut)
        if not path or open_start_tags(self.drawn, gone) != path:
            return False
        self._add_final(self.drawn[self.repeated : gone], path[-1])
        self.drawn, self.repeated, self.is_coloured = drawn, cut, False
        return True

    def _add_final(self, html: str, innermost: str) -> None:
        self.final.append(html)
        start = html.rfind(innermost)
        self.final_words = len(html) - start if start >= 0 else self.final_words + len(html)
        if not innermost.startswith(_WORDS):
            self.final_words = 0

    def ends_in_code(self) -> bool:
        """Whether the last thing in the element is a block of code."""
        return _ENDS_IN_CODE.search(self.drawn) is not None

    def has_plain_code(self) -> bool:
        """Whether what is final ends with the lines of a block of code, without colours."""
        return not self.is_coloured and self._code_begins() is not None

    def plain_code(self) -> Code:
        """The code that what is final ends with."""
        begins = self._code_begins()
        escaped = "".join(self.final).rpartition("<code")[2].partition(">")[2]
        language = begins[1] or "" if begins else ""
        return Code(html_escapes.unescape(language), html_escapes.unescape(escaped))

    def colour(self, code_html: str) -> list[Op]:
        """Put coloured code in the place of the plain code that what is final ends with."""
        final = "".join(self.final)
        start = final.rindex("<code")
        end = final.index(">", start) + 1
        self.final, self.is_coloured = [final[:end], code_html], True
        names = [element.name for element in open_elements(self.drawn, self.repeated)]
        element = f"{final[start:end]}{code_html}</code>"
        return [Op("replace", selector(self.selector, names), element)]

    def _code_begins(self) -> re.Match[str] | None:
        return _CODE_BEGINS.search(self.drawn[: self.repeated])

    def _with_final(self, drawn: str) -> str:
        return "".join(self.final) + drawn[self.repeated :]

    def _end_stopgap(self, drawn: str) -> list[Op]:
        before, self.stopgap, self.drawn = self.stopgap, None, drawn
        html = self.html()
        return [Op("replace", self.selector, html)] if html != before else []

    def _replace_smallest(self, drawn: str) -> list[Op]:
        """Replace the innermost element on the way to the open end that holds all changes."""
        path = path_to_open_end(self.drawn)
        at = _innermost_that_began_the_same(path, common_prefix(self.drawn, drawn))
        if at == 0:
            return [Op("replace", self.selector, self._with_final(drawn))]
        start = path[at].start
        end = end_of_element(drawn, start)
        element = drawn[start:end]
        if start < self.repeated:
            final = "".join(self.final)
            begun = open_elements(final, len(final))[at]
            element = final[begun.start :] + drawn[self.repeated : end]
        names = [each.name for each in path]
        replaced = Op("replace", selector(self.selector, names[: at + 1]), element)
        return [replaced, *appends(self.selector, names[:at], drawn[end:])]


def _innermost_that_began_the_same(path: list[Element], same: int) -> int:
    """The last element with its start tag in the first `same` characters, and that can be sent."""
    at = max((n for n, element in enumerate(path) if element.end <= same), default=0)
    while at and path[at].name in _CANNOT_TRAVEL_ALONE:
        at -= 1
    return at
