"""Plain growth: words that Markdown knows nothing of are appended, without drawing anything.

In: the source of the open blocks, the last of them as it is drawn, and more text. Out: the words to
append to it, or None where the block has to be drawn. Behind `<p>The ri</p>` the text `ver ` is an
append of `ver`; the space waits for its word. The result is what drawing would have given.
"""

import re
from typing import Final, NamedTuple

from chat.rendering.streaming.tags import split_at_open_end
from chat.rendering.streaming.visible import visible

# Letters and digits of all languages, and signs that mean nothing inside of a line. Not among them
# are signs that end something: `)` a link, `;` a reference, `|` a cell.
_PLAIN: Final = re.compile(r"(?:[^\W_]|[ ,.:?'’“”‘，。、：？！；（）《》…—-])+")
_HARMLESS: Final = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "strong", "em", "del")
)
# An address grows into a link, and `marks.py` holds its beginning back.
_ADDRESS: Final = re.compile(r"www|http|//|@|(?<![A-Za-z0-9])(?:w{1,2}|ht{0,2})\Z", re.I)
_LONGEST_BEGINNING: Final = 4
# Of a longer source, only a window is looked at that moves with every word.
_LONGEST_SOURCE: Final = 3000
# What is defined is not drawn where it stands, a table or a tag grows in other ways.
_NOT_HERE: Final = re.compile(r"\]:|[|<]")


def is_plain(text: str) -> bool:
    """Whether this means nothing but itself inside of a line."""
    return _PLAIN.fullmatch(text) is not None


class PlainEnd(NamedTuple):
    """An open block that ends in plain words: they grow before `after`, inside of `names`."""

    before: str
    after: str
    names: list[str]
    # Spaces that are not shown yet.
    waiting: str = ""

    @classmethod
    def of(cls, source: str, drawn: str) -> "PlainEnd | None":
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
        return cls(before, drawn[len(before) :], names)

    def grown(self, text: str) -> "PlainEnd | None":
        """The end with more plain text, if that does not begin an address."""
        more = self.waiting + text
        if _ADDRESS.search(self.before[-_LONGEST_BEGINNING:] + more):
            return None
        shown = more.rstrip(" ")
        return self._replace(before=self.before + shown, waiting=more[len(shown) :])

    def html(self) -> str:
        return self.before + self.after
