"""Calls that a model writes as JSON between tags, where its server was to read them and did not.

    <tool_call>{"name": "calculator", "arguments": {"expression": "6*7"}}</tool_call>

They count where they end the answer, as calls do, each on a line of its own or behind another:
whoever writes on, or quotes them, only talks about them, or repeats what a page has said.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from chat.formats.call_place import INDENT, CallPlace
from chat.protocol.frozen import JsonObject

OPENING: Final = "<tool_call>"
CLOSING: Final = "</tool_call>"
# A call that grows longer than this is none. No more than this is held back, nor more calls.
LONGEST: Final = 100_000
MOST: Final = 64
_BLANKS: Final = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class TextCall:
    name: str
    arguments: JsonObject
    raw: str


def read_call(text: str, names: Collection[str]) -> TextCall | None:
    """The call of a known tool that stands between two tags; None where it is none."""
    try:
        call = json.loads(text)
        name = call.get("name") if isinstance(call, dict) else None
        if not isinstance(name, str) or name not in names:
            return None
        values = call.get("arguments", call.get("parameters"))
        if isinstance(values, str):
            values = json.loads(values)
    except (ValueError, RecursionError):
        return None
    return TextCall(name, values, text.strip()) if isinstance(values, dict) else None


class TextCalls:
    """Feed it pieces, then close it; what it gives is text that was written as text. What may be
    a call is held back: it is either shown as it came or never. A call that stands in one of the
    `results` of tools is repeated, and no call."""

    def __init__(self, names: Collection[str], results: Collection[str] = ()) -> None:
        self._names = names
        self._results = results
        self._place = CallPlace()
        # Shown, but not yet looked through for quotes: that is done where a tag follows.
        self._shown: list[str] = []
        self._held = ""
        # Pieces behind `_held` that decide nothing: blanks where there may be blanks, or the
        # inside of an object, of which the last characters are kept.
        self._pieces: list[str] = []
        self._within: Literal["", "blanks", "object"] = ""
        self._end = ""
        # How long all is that is held back.
        self._length = 0
        self._calls: list[TextCall] = []
        # How much of what is held are calls that are whole.
        self._whole = 0
        # More was held back than may be: the rest of the answer is text.
        self._gave_up = False

    def feed(self, piece: str) -> str:
        if self.is_plain(piece):
            return piece
        decides = self._decides(piece)
        self._pieces.append(piece)
        self._length += len(piece)
        if not decides and self._length < LONGEST:
            return ""
        self._gather()
        shown = self._read()
        if self._length >= LONGEST or len(self._calls) > MOST:
            shown += self.release()
            self._gave_up = True
        return shown

    def is_plain(self, piece: str) -> bool:
        """Whether this piece is shown at once; if not, it is to be fed."""
        if self._gave_up:
            return True
        if self._held or "<" in piece:
            return False
        self._shown.append(piece)
        return True

    @property
    def holds(self) -> bool:
        """Whether anything is held back."""
        return bool(self._held)

    def close(self) -> tuple[str, list[TextCall]]:
        """What was held back at the end: text, or else the calls."""
        self._gather()
        rest = self._held[self._whole :].strip()
        if rest.startswith(OPENING):
            # Some servers take the closing tag away, as the end of what the model says.
            last = read_call(rest[len(OPENING) :], self._names)
            self._calls += [last] if last else []
            rest = "" if last else rest
        is_text = rest or any(call.raw in each for call in self._calls for each in self._results)
        calls, text = ([], self._held) if is_text else (self._calls, "")
        self._start_over()
        return text, calls

    def release(self) -> str:
        """All that is held back, as text."""
        self._gather()
        text = self._held
        self._start_over()
        return text

    def break_off(self) -> str:
        """What is held back of an answer that was cut off: its text, without calls, of which more
        may have followed, and without the beginning of one."""
        self._gather()
        rest = self._held[self._whole :].lstrip()
        self._start_over()
        behind = rest.removeprefix(OPENING)
        return "" if behind != rest and behind.lstrip().startswith("{") else rest

    def _start_over(self) -> None:
        self._held, self._calls, self._whole = "", [], 0
        self._within, self._length = "", 0

    def _gather(self) -> None:
        self._held = "".join((self._held, *self._pieces))
        self._pieces.clear()

    def _decides(self, piece: str) -> bool:
        """Whether it must be looked at what is held back, because of this piece."""
        if self._within == "object":
            end = self._end + piece
            self._end = end[1 - len(CLOSING) :]
            return CLOSING in end
        return self._within != "blanks" or bool(piece.strip())

    def _read(self) -> str:
        """What of the text that is held back can be shown."""
        held, shown = self._held, 0
        self._within = ""
        while True:
            behind = shown + self._whole
            if self._whole:
                at = _skip_blanks(held, behind)
            else:
                at = _next_tag(held, behind)
                self._shown.append(held[shown:at])
                shown = behind = at
            call, end = self._read_call(held, behind, at)
            if end < 0:
                break
            if call is not None:
                self._calls.append(call)
                self._whole = end - shown
                continue
            # No call after all, and what stands before it was none either.
            end = behind if self._whole else end
            self._shown.append(held[shown:end])
            shown, self._whole = end, 0
            self._calls.clear()
        self._held = held[shown:]
        self._length = len(self._held)
        return held[:shown]

    def _read_call(self, held: str, behind: int, at: int) -> tuple[TextCall | None, int]:
        """The call that is ahead at this place, if it is one, and where to go on; below 0 when
        more text must come first."""
        if len(held) - at < len(OPENING) and OPENING.startswith(held[at:]):
            self._within = "blanks" if self._whole and at == len(held) else ""
            return None, -1
        if not held.startswith(OPENING, at) or not self._may_stand(held[behind:at]):
            return None, at + len(OPENING)
        begin = _skip_blanks(held, at + len(OPENING))
        if begin == len(held):
            self._within = "blanks"
            return None, -1
        if held[begin] != "{":
            return None, begin
        end = held.find(CLOSING, begin)
        if end < 0:
            self._within, self._end = "object", held[1 - len(CLOSING) :]
            return None, -1
        call = read_call(held[begin:end], self._names)
        # Where that was none, another may have been begun before its end.
        again = -1 if call else held.rfind(OPENING, begin, end)
        return call, again if again >= 0 else end + len(CLOSING)

    def _may_stand(self, gap: str) -> bool:
        """Whether a call may stand here, or behind a whole call and these blanks."""
        if self._whole:
            return INDENT.fullmatch(gap.rpartition("\n")[2]) is not None
        self._place.feed("".join(self._shown))
        self._shown.clear()
        return self._place.may_stand()


def _skip_blanks(text: str, start: int) -> int:
    found = _BLANKS.match(text, start)
    return found.end() if found else start


def _next_tag(held: str, start: int) -> int:
    """Where the next tag begins, or what may be the beginning of one at the end."""
    place = held.find(OPENING, start)
    if place >= 0:
        return place
    place = held.rfind("<", max(start, len(held) - len(OPENING)))
    return place if place >= 0 and OPENING.startswith(held[place:]) else len(held)
