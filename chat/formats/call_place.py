"""Where in an answer a call may stand: on a line of its own, and in nothing that quotes."""

import re
from typing import Final

from chat.formats.markdown_code import CodeTracker

# With four blanks before it, or a tab, a line is code.
INDENT: Final = re.compile(r" {0,3}")
_QUOTE: Final = re.compile(r" {0,3}>")
_INLINE_CODE: Final = re.compile(r"(`+)[^`]*\1")
# What is between these is nobody's own words, however many lines it has.
_RAW: Final = re.compile(r"<!--|-->|</?(?:pre|code|script|style|textarea|xmp)(?=[\s>]|$)", re.I)
_TAG: Final = re.compile(r" {0,3}<([a-z][\w-]*)(?=[\s>]|$)", re.I)
# These contain nothing, and a tag of a call that was none is text.
_NO_BLOCKS: Final = frozenset({"area", "br", "hr", "img", "input", "wbr", "tool_call"})


class CallPlace:
    """Feed it the text before a tag."""

    def __init__(self) -> None:
        self._code = CodeTracker()
        # The line so far; of one that says something, only its beginning.
        self._line = ""
        # What ends the HTML that was begun, and the tag of which a line began a block of HTML.
        self._raw = ""
        self._block = ""
        # A line behind a quote belongs to it until one is blank.
        self._quoted = False

    def feed(self, text: str) -> None:
        for number, line in enumerate(text.split("\n")):
            if number:
                self._end_line()
            if not self._code.in_fence:
                self._read(line)
            self._code.feed(line)

    def may_stand(self) -> bool:
        """Whether a call may stand here."""
        if self._raw or self._block or self._quoted or self._code.in_code():
            return False
        return INDENT.fullmatch(self._line) is not None

    def _read(self, line: str) -> None:
        """A line, or a piece of one."""
        text = _INLINE_CODE.sub("", line).lower()
        if not self._line and not self._raw and not self._block:
            begun = _TAG.match(text)
            if begun and begun[1] not in _NO_BLOCKS:
                self._block = begun[1]
        if self._block and f"</{self._block}" in text:
            self._block = ""
        for found in _RAW.finditer(text):
            if not self._raw:
                self._raw = _end_of(found[0])
            elif found[0] == self._raw:
                self._raw = ""
        if not self._line.strip():
            self._line += line

    def _end_line(self) -> None:
        if self._code.in_fence:
            pass
        elif not self._line.strip():
            self._block, self._quoted = "", False
        elif _QUOTE.match(self._line):
            self._quoted = True
        self._line = ""
        self._code.feed("\n")


def _end_of(tag: str) -> str:
    """What ends what this tag begins; nothing where it is an end itself."""
    if tag == "<!--":
        return "-->"
    return "" if tag.startswith(("</", "--")) else f"</{tag[1:]}"
