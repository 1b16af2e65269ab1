"""Plain growth: words that Markdown knows nothing of are appended, without drawing anything.

In: the source of the open blocks, the last of them as it is drawn, and more text. Out: the words to
append to it, or None where the block has to be drawn. Behind `<p>The ri</p>` the text `ver ` is an
append of `ver`; the space waits for its word. The result is what drawing would have given.

In a block of code nearly everything is plain, behind the first letter of a line.
"""

import re
from dataclasses import dataclass
from typing import Final

from chat.rendering.streaming.changes import selector
from chat.rendering.streaming.fences import opening_fence
from chat.rendering.streaming.tags import split_at_open_end
from chat.rendering.streaming.visible import is_decided_code, visible

# Letters and digits of all languages, and signs that mean nothing inside of a line. Not among them
# are signs that end something: `)` a link, `;` a reference, `|` a cell. (`_` counts as a letter
# here, and is looked for apart: that is six times as fast.)
_PLAIN: Final = re.compile(r"[\w ,.:?'’“”‘，。、：？！；（）《》…—-]+")
_MARK_AMONG_LETTERS: Final = "_"
# In a line of code, all signs that are not written otherwise in HTML.
_PLAIN_CODE: Final = re.compile(r"[\w !#$%()*+,./:;=?@\[\\\]^`{|}~-]+")
_HARMLESS: Final = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "strong", "em", "del")
)
_CODE: Final = "code"
# An address grows into a link, and `marks.py` holds its beginning back. (What it may begin with is
# named first, so that the search skips all else.)
_ADDRESS: Final = re.compile(
    r"(?=[wh/@])(?:www|http|//|@|(?<![A-Za-z0-9])(?:w{1,2}|ht{0,2})\Z)", re.I
)
_LONGEST_BEGINNING: Final = 4
# Of a longer source, only a window is looked at that moves with every word.
_LONGEST_SOURCE: Final = 3000
# What is defined is not drawn where it stands, a table or a tag grows in other ways.
_NOT_HERE: Final = re.compile(r"\]:|[|<]")


def is_plain(text: str) -> bool:
    """Whether this means nothing but itself inside of a line."""
    return _MARK_AMONG_LETTERS not in text and _PLAIN.fullmatch(text) is not None


def is_plain_code(text: str) -> bool:
    """The same inside of a line of code."""
    return _PLAIN_CODE.fullmatch(text) is not None


@dataclass(slots=True)
class PlainEnd:
    """An open block that ends in plain words: they grow before `after`, inside of `target`."""

    before: str
    after: str
    target: str
    in_code: bool = False
    # Spaces that are not shown yet.
    waiting: str = ""

    @classmethod
    def of(cls, root: str, source: str, drawn: str) -> "PlainEnd | None":
        """The end of a block that is drawn from the end of this source, if it is plain."""
        last_word = source[max(source.rfind(" "), source.rfind("\n")) + 1 :]
        last = last_word[-1:]
        if not is_plain(last) or _ADDRESS.search(last_word):
            return None
        before, names = split_at_open_end(drawn)
        if not before.endswith(last) or not _HARMLESS.issuperset(names):
            return None
        if len(source) > _LONGEST_SOURCE:
            return None
        if _NOT_HERE.search(source) or not visible(source, in_code=False).startswith(source):
            return None
        return cls(before, drawn[len(before) :], selector(root, names))

    @classmethod
    def of_code(cls, root: str, source: str, drawn: str) -> "PlainEnd | None":
        """The end of a block of code, in a line that can be nothing else any more."""
        line = source[source.rfind("\n") + 1 :]
        if not opening_fence(source) or not is_plain_code(line[-1:]) or not is_decided_code(line):
            return None
        before, names = split_at_open_end(drawn)
        if names[-1:] != [_CODE] or not before.endswith(line[-1]):
            return None
        return cls(before, drawn[len(before) :], selector(root, names), in_code=True)

    def grow(self, text: str) -> str | None:
        """Take in more plain text: the words to append now. None, and nothing is taken in, if it
        may begin an address."""
        if self.in_code:
            self.before += text
            return text
        more = self.waiting + text
        if _ADDRESS.search(self.before[-_LONGEST_BEGINNING:] + more):
            return None
        words = more.rstrip(" ")
        self.before += words
        self.waiting = more[len(words) :]
        return words

    def html(self) -> str:
        return self.before + self.after
