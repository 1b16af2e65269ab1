"""What a command printed, as a terminal would show it at the end: colours, and no control codes.

Colours become classes of ours, `c0` to `c15`, which are readable on a light and on a dark page:
also those of 256 and of 16 million, by their hue. A line that was written over again and again,
such as a progress bar, is there as it was in the end.
"""

import re
from collections.abc import Iterator
from colorsys import rgb_to_hsv
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Final

from chat.rendering.page.cards.runs import Folded, Run, cut, fold

_TOKEN: Final = re.compile(
    r"(?P<text>[^\x00-\x08\x0a-\x1f\x7f-\x9f]++)"
    r"|(?:\x1b\[|\x9b)(?P<values>[0-9:;<=>?]*+)[ -/]*+(?P<final>[@-~])?"
    # A text for the terminal itself: a title, or the address of a link.
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*+(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*+[0-~]?"
    r"|(?P<control>.)",
    re.S,
)
_MOST_VALUES: Final = 32
# Whatever a program prints, only so much of it is gone through.
_MOST_READ: Final = 200_000

_END: Final = 512

_ON: Final = {1: "bold", 2: "dim", 3: "italic", 4: "under", 9: "strike"}
_OFF: Final = {21: ("bold",), 22: ("bold", "dim"), 23: ("italic",), 24: ("under",), 29: ("strike",)}
_HUES: Final = (1, 3, 2, 6, 4, 5)
_LEVELS: Final = (0, 95, 135, 175, 215, 255)


def has_controls(text: str) -> bool:
    """Whether a text has anything in it that only a terminal understands."""
    return "\x1b" in text or "\r" in text or "\x08" in text or "\x9b" in text


def printed(text: str) -> Folded:
    """Folded in the middle: how a command begins and how it ends is what one wants to see."""
    left = 0
    if len(text) > _MOST_READ:
        begin, end = text[: _MOST_READ // 4], text[-3 * _MOST_READ // 4 :]
        left = text.count("\n", len(begin), len(text) - len(end))
        text = begin + "\n" + end
    runs = list(terminal_runs(text))
    plain = "".join(words for _, words in runs)
    head, tail, more = cut(plain, end=True)
    if more:
        runs = [*_first(runs, len(head)), *_last(runs, len(tail))]
    return fold(runs, left_out=left + more, tail=6)


def terminal_runs(text: str) -> Iterator[Run]:
    """The text in its colours, without any control code but ends of lines and tabs."""
    style = _Style()
    line: list[Run] = []
    returned = False
    for token in _TOKEN.finditer(text):
        if words := token["text"]:
            if returned:
                line.clear()
                returned = False
            line.append((style.role, words))
        elif token["control"] == "\n":
            yield from line
            yield "", "\n"
            line.clear()
            returned = False
        elif token["control"] == "\r" or _starts_over(token):
            returned = True
        elif token["control"] == "\x08" and line:
            _erase(line)
        elif token["final"] == "m":
            style.set(token["values"])
    yield from line


def _starts_over(token: re.Match[str]) -> bool:
    """Whether the line is erased, or written from its beginning."""
    match token["final"]:
        case "K":
            return token["values"] in ("1", "2")
        case "G":
            return token["values"] in ("", "0", "1")
        case _:
            return False


def _erase(line: list[Run]) -> None:
    role, words = line.pop()
    # Of a long run only the end is copied each time.
    if len(words) > _END:
        line.append((role, words[:-_END]))
        words = words[-_END:]
    if len(words) > 1:
        line.append((role, words[:-1]))


def _first(runs: list[Run], length: int) -> Iterator[Run]:
    for role, text in runs:
        if length <= 0:
            return
        yield role, text[:length]
        length -= len(text)


def _last(runs: list[Run], length: int) -> list[Run]:
    backwards = _first([(role, text[::-1]) for role, text in reversed(runs)], length)
    return [(role, text[::-1]) for role, text in reversed(list(backwards))]


# --- colours ----------------------------------------------------------------------


@dataclass(slots=True)
class _Style:
    """How the next words look."""

    ink: int | None = None
    ground: int | None = None
    inverse: bool = False
    marks: set[str] = field(default_factory=set)
    role: str = ""

    def set(self, values: str) -> None:
        """As a sequence says. What it does not say, and what nobody knows, stays."""
        if not set(values) & set("<=>?"):
            groups = values[:400].split(";")[:_MOST_VALUES]
            numbers = iter(groups)
            for group in numbers:
                self._set(group, numbers)
            self.role = self._role()

    def _set(self, group: str, rest: Iterator[str]) -> None:
        first, *inside = (_number(piece) for piece in group.split(":"))
        match first:
            case 0:
                self.ink = self.ground = None
                self.inverse = False
                self.marks.clear()
            case 7 | 27:
                self.inverse = first == 7
            case 39:
                self.ink = None
            case 49:
                self.ground = None
            case 38:
                self.ink = _colour(inside, rest)
            case 48:
                self.ground = _colour(inside, rest)
            case 58:
                _colour(inside, rest)
            case 4 if inside == [0]:
                self.marks.discard("under")
            case _:
                self._plain(first)

    def _plain(self, number: int) -> None:
        if number in _ON:
            self.marks.add(_ON[number])
        self.marks.difference_update(_OFF.get(number, ()))
        for start, bright in ((30, 0), (40, 0), (90, 8), (100, 8)):
            if start <= number < start + 8:
                colour = number - start + bright
                if start in (30, 90):
                    self.ink = colour
                else:
                    self.ground = colour

    def _role(self) -> str:
        """One colour at a time: on a coloured ground, words have the colour of the page's text."""
        ink, ground = (self.ground, self.ink) if self.inverse else (self.ink, self.ground)
        has_ground = self.inverse or ground is not None
        colour = ground if has_ground else ink
        words = ["bg"] if has_ground else []
        words += [] if colour is None else [f"c{colour}"]
        return " ".join([*words, *sorted(self.marks)])


def _number(piece: str) -> int:
    return int(piece) if piece.isdigit() and len(piece) <= 3 else 0


def _colour(inside: list[int], rest: Iterator[str]) -> int | None:
    """`5;n` is one of 256, `2;r;g;b` one of 16 million; with colons, a space may stand between."""
    kind = inside[0] if inside else _number(next(rest, ""))
    if kind == 5:
        return _of_256(inside[-1] if inside else _number(next(rest, "")))
    if kind == 2:
        given = inside[1:][-3:] if inside else [_number(each) for each in islice(rest, 3)]
        return _of_light(*given) if len(given) == 3 else None
    return None


@lru_cache(maxsize=256)
def _of_256(number: int) -> int:
    if number < 16:
        return number
    if number >= 232:
        return _of_light(*[8 + 10 * (min(number, 255) - 232)] * 3)
    red, green, blue = (_LEVELS[(number - 16) // step % 6] for step in (36, 6, 1))
    return _of_light(red, green, blue)


def _of_light(red: int, green: int, blue: int) -> int:
    """The nearest of the sixteen, by hue: greys by how light they are."""
    light = [min(each, 255) / 255 for each in (red, green, blue)]
    hue, saturation, value = rgb_to_hsv(*light)
    if saturation < 0.2 or value < 0.12:
        return 0 if value < 0.25 else 8 if value < 0.6 else 7 if value < 0.85 else 15
    colour = _HUES[round(hue * 6) % 6]
    return colour + 8 if value > 0.8 else colour
