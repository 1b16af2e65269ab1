"""A file → the conversations in it, whichever of the known forms it has; found by its content.

Nothing readable is lost: what cannot be read is `Skipped`, with the place where it stands.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Literal

from chat.formats.claude_stream import AgentFiles
from chat.formats.imported import claude_lines, exports, parley
from chat.formats.imported.elements import LONGEST_VALUE, Broken, elements
from chat.formats.imported.items import Item, Lookup, Skipped, no_files
from chat.formats.imported.messages import has_role
from chat.formats.imported.whole_file import read_message_lines, read_whole
from chat.formats.parley_json import head_of

# How much of a file is looked at to see that its lines are objects by themselves, and how many of
# them may be broken.
FIRST_LINES = 4 * 1024 * 1024
MOST_BROKEN = 20
# A line that is broken off ends like this only by chance; one of a value that is written over many
# lines does.
_GOES_ON = ("{", "[", ",", ":")


@dataclass(slots=True)
class _Text:
    """What has come of the file; it is read once."""

    chunks: Iterator[str]
    ahead: deque[str] = field(default_factory=deque)
    # What was read on trial, to be read again.
    tried: list[str] | None = None

    def start(self, lines: int) -> str:
        """The beginning of the file: so many lines, if they are not too long."""
        length = sum(map(len, self.ahead))
        ends = sum(chunk.count("\n") for chunk in self.ahead)
        while ends < lines and length <= FIRST_LINES and (chunk := next(self.chunks, None)):
            self.ahead.append(chunk)
            length += len(chunk)
            ends += chunk.count("\n")
        return "".join(self.ahead).lstrip("\ufeff \t\r\n")

    def rest(self) -> Iterator[str]:
        length = 0
        while (chunk := self._next()) is not None:
            if self.tried is not None:
                self.tried.append(chunk)
                length += len(chunk)
            yield chunk
            if self.tried is not None and length > LONGEST_VALUE:
                # More than is read again.
                return

    def _next(self) -> str | None:
        return self.ahead.popleft() if self.ahead else next(self.chunks, None)


def read_chats(
    chunks: Iterable[str],
    missing_prompt: str,
    files: Lookup = no_files,
    agents: AgentFiles | None = None,
) -> Iterator[Item]:
    """The conversations of a file, piece by piece; `files` finds what came beside it, and `agents`
    the files of its sub-agents."""
    text = _Text(iter(chunks))
    start = text.start(1)
    head = head_of(start.partition("\n")[0])
    if head is not None:
        yield from parley.read_lines(head, text.rest())
        return
    shape = _shape(start) or _shape(text.start(MOST_BROKEN))
    if shape == "lines":
        yield from claude_lines.read_lines(text.rest(), missing_prompt, agents)
        return
    if shape == "messages":
        yield from read_message_lines(text.rest(), missing_prompt)
        return
    if start.startswith("["):
        text.tried = []
        chats = elements(text.rest(), exports.is_form)
        first = list(islice(chats, 1))
        if first and isinstance(first[0], Broken):
            first += islice(chats, 1)
        if first and exports.is_form(first[-1]):
            text.tried = None
            yield from _exports(chain(first, chats), missing_prompt, files)
            return
    tried, text.tried = text.tried or [], None
    yield from read_whole(chain(tried, text.rest()), missing_prompt, files)


def _exports(values: Iterable[Any], missing_prompt: str, files: Lookup) -> Iterator[Item]:
    """A list of conversations, one after the other: only one is kept in memory."""
    broken: Skipped | None = None
    for number, value in enumerate(values, start=1):
        if broken is not None:
            # The list goes on.
            yield Skipped("conversation_not_understood", broken.where)
            broken = None
        if isinstance(value, Broken):
            broken = Skipped(value.reason, str(number))
        elif not exports.is_form(value):
            yield Skipped("conversation_not_understood", str(number))
        else:
            yield from exports.read(value, missing_prompt, files, str(number))
    if broken is not None:
        yield broken


def _shape(start: str) -> Literal["lines", "messages", "value", ""]:
    """Whether the file has one object per line, and which; or nothing if that cannot be said yet. A
    program may have printed warnings before, and lines may be broken."""
    for line in start.split("\n"):
        first = line.strip()
        if first.startswith("["):
            # A message of a program in brackets, or the beginning of a list?
            if _parsed(first) is None and not first.rstrip(",").endswith(("[", "{")):
                continue
            return "value"
        if first.startswith("{"):
            value = _parsed(first)
            if value is None and not first.endswith(_GOES_ON):
                continue
            if has_role(value):
                return "messages"
            is_typed = isinstance(value, dict) and isinstance(value.get("type"), str)
            return "lines" if is_typed else "value"
    return ""


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
