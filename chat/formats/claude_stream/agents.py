"""What sub-agents did, where it lies in files of their own beside the session that they work for.

The result of their call names them; so does each of their lines, and the name of the file.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from chat.formats.claude_stream.lines import BadLine, Line, LineReader
from chat.formats.imported import shapes
from chat.protocol.frozen import JsonObject

_FILE = re.compile(r"(?:^|/)agent-([^/]+)\.jsonl$")
_NOTES = re.compile(r"(?:^|/)agent-([^/]+)\.meta\.json$")

# Reads a file from its beginning.
Open = Callable[[], Iterable[str]]


def agent_of(name: str) -> str:
    """The sub-agent whose file has this name, if it is such a file."""
    found = _FILE.search(name)
    return found[1] if found else ""


def agent_noted(name: str) -> str:
    """The sub-agent that a file of this name only says something about."""
    found = _NOTES.search(name)
    return found[1] if found else ""


@dataclass(frozen=True, slots=True, eq=False)
class AgentFile:
    """A file by its name, with the folders that it lies in as far as they are known."""

    name: str
    open: Open


class AgentFiles:
    def __init__(self, files: Iterable[AgentFile] = ()) -> None:
        self._files: dict[str, list[AgentFile]] = {}
        for file in files:
            self._files.setdefault(agent_of(file.name), []).append(file)
        # Of sub-agents with several files: which of them is whose.
        self._of_sessions: dict[str, dict[str, AgentFile]] = {}
        self._broken: list[tuple[str, BadLine]] = []
        # Those that a session has named.
        self.read: set[AgentFile] = set()

    def lines(self, agent: str, session_id: str) -> Iterator[JsonObject]:
        """The lines of a sub-agent of this session, if its file is here."""
        file = self._file(agent, session_id)
        if file is None:
            return
        for line in _lines(file.open()):
            if isinstance(line, BadLine):
                self._broken.append((f"agent-{agent}.jsonl", line))
            elif shapes.text(line.value.get("agentId")) == agent:
                self.read.add(file)
                yield line.value

    def _file(self, agent: str, session_id: str) -> AgentFile | None:
        files = self._files.get(agent)
        if not files:
            return None
        if len(files) == 1:
            return files[0]
        if agent not in self._of_sessions:
            self._of_sessions[agent] = _by_session(files)
        # A session that was copied has an id of its own, its sub-agents do not know it.
        return self._of_sessions[agent].get(session_id, files[0])

    def take_broken(self) -> list[tuple[str, BadLine]]:
        """What of the files could not be read, since it was last asked."""
        broken, self._broken = self._broken, []
        return broken


def _by_session(files: list[AgentFile]) -> dict[str, AgentFile]:
    """A file lies in a folder that is called like its session, or says in its lines whose it is."""
    found: dict[str, AgentFile] = {}
    for file in files:
        for folder in file.name.split("/")[:-1]:
            found.setdefault(folder, file)
    for file in files:
        lines = (line.value for line in _lines(file.open()) if isinstance(line, Line))
        found.setdefault(shapes.session_id(next(lines, {})), file)
    return found


def _lines(chunks: Iterable[str]) -> Iterator[Line | BadLine]:
    reader = LineReader()
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.close()
