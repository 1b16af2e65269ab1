"""What to show of a text that stops in the middle.

Words that are shown stay. So what may still turn into something else is either held back until
it is known (a marker, a link, a formula, an address: for a bounded length, then it is shown as
written), or drawn as what it most likely is (`**bold` is bold from its first letter).
"""

import re
from typing import Final

PREFIX: Final = re.compile(r" {0,3}(?:(?:[-+*]|\d{1,9}[.)]) {1,4}|> ?)*(?:\[[ xX]\] )?")
_CONTAINERS: Final = re.compile(r"[\s>]*(?:(?:[-+*]|\d{1,9}[.)])\s+)*")
_AMBIGUOUS: Final = re.compile(r"[\s\-=#*_>~|+`.:)\d]*(?:\[(?:[ xX]?\]?)|\[![A-Za-z]*\]?)?\s*")
_FENCED: Final = re.compile(r"(?:^|\n)[\s>]*(?:`{3}|~{3})")
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_FENCES: Final = ("```", "~~~")
_CODE_AT_ONCE: Final = 4000
_OPENING_FENCE: Final = re.compile(r"`{3}|~{3}")
_DEFINITION: Final = re.compile(r"\[[^\]]{1,200}\]:\s*\S{0,600}(?:\s+[\"'(].{0,200})?")
_DELIMITER_ROW: Final = re.compile(r"[\s>]*[\s|:-]*")
_LONGEST_ROW: Final = 1000
_PARAGRAPH: Final = 4000
_MOST_TOKENS: Final = 300

_TOKEN: Final = re.compile(
    r"\\[(\[]|\\.|`+|\$\$?|\*{1,3}|_{1,3}|~~|!?\[|!\Z|<|\\\Z|&[#\w]{0,30}\Z"
    r"|(?<![A-Za-z0-9])(?:h(?:t(?:t(?:ps?(?::\S{0,600})?)?)?)?|w(?:w(?:w(?:\.\S{0,600})?)?)?)\Z",
    re.S,
)
_FORMULA_END: Final = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_FORMULA_LIMIT: Final = {"$": 200, "$$": 2000, "\\(": 400, "\\[": 2000}
_TAG_BEGUN: Final = re.compile(
    r"<(?:/?[a-zA-Z]{0,5}|(sub|sup|kbd)>[^<\n]{0,80}(?:</?[a-z]{0,3})?|https?:\S*)\Z"
)


def visible(source: str, in_code: bool) -> str:
    """The part of an open source to draw now."""
    start = source.rfind("\n") + 1
    line = source[start:]
    if in_code:
        return source[:start] if line and _AMBIGUOUS.fullmatch(line) else source
    if line and _held(line):
        source = source[:start]
    source = _without_table_head(source)
    return _complete_last(source)


def closes_code(source: str) -> bool:
    """Whether the last line, just completed, ends the code that the first line begins."""
    first, _, rest = source.partition("\n")
    fence = _FENCE.search(first)
    last = rest[:-1].rpartition("\n")[2].lstrip(" >").rstrip()
    if fence is None or not source.endswith("\n"):
        return False
    return len(last) >= len(fence[0]) and not last.strip(fence[0][0])


def end_of_code(source: str, delta: str, at: int) -> int:
    """Where the lines end that surely belong to the open code of `source`; they are all alike."""
    if not source.startswith(_FENCES):
        return at
    # A fence that the bound cuts in two is safe: its line has no end before it.
    bound = at + _CODE_AT_ONCE
    fences = (delta.find(fence, at, bound) for fence in _FENCES)
    stop = min([bound, *(fence for fence in fences if fence >= 0)])
    return delta.rfind("\n", at, stop) + 1


def finished(text: str) -> bool:
    """Whether nothing in this paragraph waits for its end."""
    return _complete(text) == text.rstrip()


def _held(line: str) -> bool:
    inner = line[_end_of_containers(line) :]
    return (
        _AMBIGUOUS.fullmatch(line) is not None
        or _OPENING_FENCE.match(inner) is not None
        or _DEFINITION.fullmatch(inner) is not None
    )


def _end_of_containers(line: str) -> int:
    match = _CONTAINERS.match(line)
    return match.end() if match else 0


def _without_table_head(source: str) -> str:
    """A row of pipes is a table's head or plain text: the line below it says."""
    lines = source[-2 * _LONGEST_ROW :].split("\n")
    lines.pop() if not lines[-1] else None
    if not lines:
        return source
    held = len(lines[-1])
    if _DELIMITER_ROW.fullmatch(lines[-1]) and len(lines) > 1 and not source.endswith("\n"):
        held += len(lines[-2]) + 1
        lines.pop()
    head = lines[-1][_end_of_containers(lines[-1]) :]
    above = lines[-2] if len(lines) > 1 else ""
    if not head.startswith("|") or "|" in above or len(head) > _LONGEST_ROW:
        return source
    return source[: len(source.rstrip("\n")) - held]


def _complete_last(source: str) -> str:
    """Close what is open in the last paragraph, cell or heading."""
    if source.endswith("\n\n"):
        return source
    window = max(0, len(source) - _PARAGRAPH)
    blank = source.rfind("\n\n", window)
    start = blank + 2 if blank >= 0 else window
    begin = _last_block_start(source, start)
    text = source[begin:]
    if text.startswith(("    ", "\t", "<")) or _FENCED.search(text):
        return source
    return source[:begin] + _complete(text)


_BLOCK_START: Final = re.compile(r"\n(?=[ >]*(?:(?:[-+*]|\d{1,9}[.)]|#{1,6})\s|\|))")


def _last_block_start(source: str, start: int) -> int:
    begin = start
    for match in _BLOCK_START.finditer(source, start):
        begin = match.end()
    line_end = source.find("\n", begin)
    line = source[begin : line_end if line_end >= 0 else len(source)]
    begin += _end_of_containers(line) if not line.startswith("    ") else 0
    if source.startswith("|", begin):
        cell = source.rfind("|", begin)
        begin = cell + 1
    return begin


class _Scan:
    """Goes through a paragraph once, remembering the emphasis that is open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.open: list[str] = []

    def result(self, end: int | None = None, closing: str = "") -> str:
        shown = self.text[:end].rstrip()
        # A marker with nothing behind it would be shown as it is.
        while self.open and shown.endswith(self.open[-1]):
            shown = shown[: -len(self.open.pop())].rstrip()
        return shown + closing + "".join(reversed(self.open))

    def run(self) -> str:
        seen = 0
        while match := _TOKEN.search(self.text, self.at):
            seen += 1
            if seen > _MOST_TOKENS:
                return self.text.rstrip()
            token, start, self.at = match[0], match.start(), match.end()
            done = self._token(token, start)
            if done is not None:
                return done
        return self.result()

    def _token(self, token: str, start: int) -> str | None:
        if token in _FORMULA_END:
            return self._formula(token, start)
        match token[0]:
            case "`":
                return self._code(token, start)
            case "[" | "!" if token != "!":
                return self._link(token, start)
            case "<":
                return self.result(start) if _TAG_BEGUN.match(self.text, start) else None
            case "*" | "_" | "~":
                return self._emphasis(token, start)
            case "\\" if len(token) > 1:
                return None
        return self.result(start)

    def _formula(self, token: str, start: int) -> str | None:
        end = self.text.find(_FORMULA_END[token], self.at)
        if end >= 0:
            if token != "$" or "\n\n" not in self.text[start:end]:
                self.at = end + len(token)
            return None
        rest = self.text[self.at :]
        if token == "$" and rest and (rest[0].isspace() or rest[0].isdigit()):
            return None
        return self.result(start) if len(rest) <= _FORMULA_LIMIT[token] else None

    def _code(self, token: str, start: int) -> str | None:
        end = re.compile(rf"(?<!`){token}(?!`)").search(self.text, self.at)
        if end:
            self.at = end.end()
            return None
        rest = self.text[self.at :].rstrip("`")
        if not rest.strip():
            return self.result(start)
        return self.result(self.at + len(rest), closing=token) if len(rest) <= 300 else None

    def _link(self, token: str, start: int) -> str | None:
        label_end = _closing(self.text, self.at, "[", "]")
        if label_end < 0:
            return self.result(start) if len(self.text) - start <= 200 else None
        following = self.text[label_end + 1 : label_end + 2]
        if not following:
            return self.result(start)
        if following in "([":
            end = self.text.find(")" if following == "(" else "]", label_end + 2)
            if end < 0:
                return self.result(start) if len(self.text) - label_end <= 600 else None
            self.at = end + 1
        return None

    def _emphasis(self, token: str, start: int) -> str | None:
        before = self.text[start - 1 : start]
        after = self.text[self.at : self.at + 1]
        if token in self.open and before.strip():
            if not after and len(token) == 1 and self.open[-1] != token:
                return self.result(start)
            del self.open[self.open.index(token) :]
        elif not after:
            return self.result(start)
        elif not after.isspace() and ((len(token) > 1 and token[0] != "_") or not before.isalnum()):
            self.open.append(token)
        return None


def _closing(text: str, at: int, opener: str, closer: str) -> int:
    depth = 1
    if text.find(closer, at, at + 1000) < 0:
        return -1
    for place in range(at, min(len(text), at + 1000)):
        if text[place] == closer:
            depth -= 1
            if not depth:
                return place
        elif text[place] == opener:
            depth += 1
    return -1


def _complete(text: str) -> str:
    return _Scan(text).run()
