"""Whether a place in a text that comes in pieces is code, as Markdown sees it."""

import re
from typing import Final

# A fence may stand in a list item or a quote.
_OPENS: Final = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)")
_CLOSES: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t\r]*")
_PIECES: Final = re.compile(r"`+|\n|[^`\n]+")
# Nobody writes a fence behind more than this.
_LINE: Final = 200


class CodeTracker:
    """Follows fences over lines, and inline code within its line."""

    def __init__(self) -> None:
        self._fence = ""
        self._line = ""
        self._ticks = 0  # backticks just read, of which more may follow
        self._span = 0  # how many backticks opened inline code

    def feed(self, text: str) -> None:
        for piece in _PIECES.findall(text):
            if piece[0] == "`":
                self._ticks += len(piece)
            else:
                self._end_ticks()
            if piece == "\n":
                self._end_line()
            elif len(self._line) < _LINE:
                self._line += piece[:_LINE]

    def in_code(self) -> bool:
        """Whether the text so far ends inside code; to be called where no backtick follows."""
        self._end_ticks()
        return bool(self._fence or self._span or self._opened())

    @property
    def in_fence(self) -> bool:
        """Whether the line that begins here is between fences, or closes them."""
        return bool(self._fence)

    def new_line(self) -> None:
        """Something that is not part of the text stood here: what follows begins a line."""
        self._ticks = self._span = 0
        self._line = ""

    def _end_ticks(self) -> None:
        if not self._ticks:
            return
        if not self._span:
            self._span = self._ticks
        elif self._span == self._ticks:
            self._span = 0
        self._ticks = 0

    def _end_line(self) -> None:
        if not self._fence:
            self._fence = self._opened()
        elif (closing := _CLOSES.fullmatch(self._line)) and closing[1].startswith(self._fence):
            self._fence = ""
        self.new_line()

    def _opened(self) -> str:
        """The fence that this line opens; backticks after backticks are inline code."""
        opening = _OPENS.match(self._line)
        if opening is None or (opening[1][0] == "`" and "`" in opening[2]):
            return ""
        return opening[1]
