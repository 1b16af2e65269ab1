"""The markdown of the blocks that are still open, and where to look at it again.

In: text as it comes. Out: the same text in pieces that depend on the text alone, not on how it was
cut: whole lines, and at most 256 characters of a line without an end. After each whole piece the
source may be shortened; so it is always shortened at the same places. Of a text that is there in
full, a piece is as many lines as can be drawn at once.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple, assert_never

from chat.rendering.streaming.fences import (
    closes_code,
    end_of_code_lines,
    opening_fence,
    start_of_fence,
)
from chat.rendering.streaming.normalise import Normaliser

# A piece ends with the first line that makes it so long or that has a fence, or inside of a line.
_PIECE: Final = (0, 256)
_PIECE_OF_WHOLE: Final = (2000, 4000)
_FENCE: Final = "```"


class State(Enum):
    """How the open end of a text is drawn."""

    MARKDOWN = "markdown"
    CODE = "code"  # inside a block of code: whatever comes is its text, until a fence
    AS_WRITTEN = "as written"  # too complex: no more markdown until an empty line


class Piece(NamedTuple):
    """Some text of one line; `is_whole` if it ends as it would have ended however it was cut."""

    text: str
    is_whole: bool


class OpenSource:
    """The source of the open blocks: shortened to what can still change, and in full."""

    def __init__(self, is_whole: bool = False) -> None:
        self.short = ""
        self.length = 0  # of all that was ever added
        self.state = State.MARKDOWN
        self.stays_as_written = False
        self._full: list[str] = []
        self._column = 0
        self._ends_with_empty_line = False
        # The fences in the first so many pieces of the full source.
        self._fences = self._counted = 0
        self._normaliser = Normaliser()
        self._shortest, self._longest = _PIECE_OF_WHOLE if is_whole else _PIECE
        self._begun = 0  # how much of the present piece is there

    def normalise(self, delta: str) -> str:
        """What has come, as the parser wants it; half a line end waits for its other half."""
        return self._normaliser.take(delta)

    def add(self, text: str) -> None:
        self._ends_with_empty_line = text == "\n" and not self._column
        self.short += text
        self.length += len(text)
        self._begun += len(text)
        self._full.append(text)
        self._column = 0 if text.endswith("\n") else self._column + len(text)

    def has_room_for(self, text: str) -> bool:
        """Whether this leaves the piece unfinished that the source ends with."""
        return self.state is not State.AS_WRITTEN and len(text) < self._longest - self._begun

    def full(self) -> str:
        return "".join(self._full)

    def begin_with(self, block: str) -> None:
        """Only this block is open."""
        self.short = block
        self._full = [block]
        self._fences = self._counted = 0

    def ends_as_written(self) -> bool:
        """Whether its last line is empty, and not inside of code: the next can be read again."""
        if not self._ends_with_empty_line or self.stays_as_written:
            return False
        self._fences += "".join(self._full[self._counted :]).count(_FENCE)
        self._counted = len(self._full)
        return self._fences % 2 == 0

    def grows_by_frames(self) -> bool:
        """Whether its pieces are as long as what comes at a time, not where the text says."""
        is_code = self.state is State.CODE and opening_fence(self.short) != ""
        return is_code or (self.state is State.AS_WRITTEN and not self._ends_with_empty_line)

    def ends_a_line(self) -> bool:
        return self.short.endswith("\n")

    def closes_code(self) -> bool:
        """Whether its last line ends a block of code."""
        return closes_code(self.short)

    def closing_fence(self) -> str:
        """What would close the code that it begins with."""
        fence = opening_fence(self.short)
        return ("\n" if self._column else "") + fence + "\n" if fence else ""

    def cut(self, delta: str) -> Iterator[Piece]:
        """Cut what has come; each piece has to be added before the next is asked for."""
        at = 0
        while at < len(delta):
            piece = self._next_piece(delta, at)
            yield piece
            at += len(piece.text)
            if piece.is_whole:
                self._begun = 0

    def _next_piece(self, delta: str, at: int) -> Piece:
        match self.state:
            case State.AS_WRITTEN:
                return self._written_lines(delta, at)
            case State.CODE:
                return self._code_lines(delta, at) or self._lines(delta, at, shortest=0)
            case State.MARKDOWN:
                return self._lines(delta, at, self._shortest)
            case _:
                assert_never(self.state)

    def _written_lines(self, delta: str, at: int) -> Piece:
        """All lines up to an empty one, which is a piece of its own."""
        if self.stays_as_written:
            return Piece(delta[at:], True)
        if not self._column and delta.startswith("\n", at):
            return Piece("\n", True)
        end = delta.find("\n\n", at)
        return Piece(delta[at : end + 1] if end >= 0 else delta[at:], True)

    def _code_lines(self, delta: str, at: int) -> Piece | None:
        end = at if self._column else end_of_code_lines(self.short, delta, at)
        return Piece(delta[at:end], True) if end > at else None

    def _lines(self, delta: str, at: int, shortest: int) -> Piece:
        left = self._longest - self._begun
        stop = min(len(delta), at + left)
        begun = self.short[len(self.short) - self._begun :]
        least = min(shortest, start_of_fence(begun + delta[at : at + shortest]))
        newline = delta.find("\n", max(at, at + least - self._begun - 1), stop)
        if newline >= 0:
            return Piece(delta[at : newline + 1], True)
        return Piece(delta[at:stop], stop == at + left)
