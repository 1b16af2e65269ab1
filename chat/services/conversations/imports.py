"""Import: conversations of other programs, and of Parley, become conversations of a person.

A file is read in a thread and written in small transactions, so others write in between. What
was written stays when it breaks off, and importing the same file again goes on from there:
`external_session_id` says where a conversation came from, `client_id` which of its messages.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from tempfile import TemporaryFile
from typing import IO

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from chat.formats.claude_stream import AgentFile, AgentFiles, agent_noted, agent_of
from chat.formats.imported.archive import MAGIC, Archive
from chat.formats.imported.chats import read_chats
from chat.formats.imported.conversation import Branch, LateResult
from chat.formats.imported.decode import decoded
from chat.formats.imported.items import GivenFile, Item, PlacedMessage, Skipped, WaitingMessage
from chat.formats.shared import files_of
from chat.protocol.messages import WithParts
from chat.protocol.parts import FilePart
from chat.protocol.tool_state import ToolCompleted
from chat.services.broadcast import tell_sidebar
from chat.services.caller import Caller
from chat.services.conversations.import_report import ImportReport
from chat.services.conversations.import_writing import Writing
from chat.services.pool import in_pool, in_writer

log = logging.getLogger(__name__)

# How many pieces are written in one transaction.
BATCH = 100
# And how many characters of files may lie in them.
FILES_OF_BATCH = 20_000_000
# How many times larger than itself an archive may be, unpacked: texts pack well.
UNPACKED = 20

# Who imports something at this moment, on this server: one import of each person takes memory.
_importing: set[int] = set()


@dataclass(frozen=True, slots=True)
class Reopened:
    """The bytes of a file, from its beginning whenever they are asked for."""

    open: Callable[[], Iterable[bytes]]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.open())


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file to import; what we put into its conversations is said in this language."""

    name: str
    size: int
    # Read once, or, of a sub-agent's file, once for each session that names it.
    chunks: Iterable[bytes]
    language: str = "en"
    agents: AgentFiles | None = None


def in_reading_order(sources: Sequence[ImportSource]) -> Iterator[ImportSource]:
    """Files that are imported together: sessions of Claude's command line take in those of their
    sub-agents that lie beside them, and others follow."""
    of_agents = [
        (each, AgentFile(each.name, partial(decoded, each.chunks)))
        for each in sources
        if agent_of(each.name)
    ]
    agents = AgentFiles(file for _, file in of_agents)
    known = {agent_of(source.name) for source, _ in of_agents}
    for source in sources:
        if not agent_of(source.name) and agent_noted(source.name) not in known:
            yield replace(source, agents=agents)
    for source, file in of_agents:
        if file not in agents.read:
            yield source


@contextmanager
def one_import(caller: Caller) -> Iterator[bool]:
    """Whether somebody may import now: not while they do already. It is theirs until the end."""
    may_import = caller.user_id not in _importing
    if may_import:
        _importing.add(caller.user_id)
    try:
        yield may_import
    finally:
        if may_import:
            _importing.discard(caller.user_id)


async def import_chats(caller: Caller, source: ImportSource) -> AsyncIterator[ImportReport]:
    """Import a file, telling after every batch how far it has come."""
    report = ImportReport(source.name, source.size)
    with translation.override(source.language):
        missing = _("(This question is not in the imported file.)")
        untitled = _("Imported chat")
    opened = _Opened(source)
    items = _read(opened, report, missing)
    writing = Writing(caller, report, opened.beside, missing, untitled)
    try:
        while batch := await in_pool(_next, items):
            await in_writer(writing.write, batch)
            yield report
    except Exception:  # whatever broke, what came of the file before is told
        log.exception("an import broke off")
        report.skip(Skipped("file_broke"))
    finally:
        opened.close()
    report.is_done = True
    for chat in report.chats:
        await tell_sidebar(caller.user_id, chat.id)
    yield report


class _Opened:
    """A file that may be an archive: then it is kept on the disk while it is read."""

    def __init__(self, source: ImportSource) -> None:
        self.source = source
        self._file: IO[bytes] | None = None
        self._archive: Archive | None = None

    def archive(self, chunks: Iterable[bytes], most: int, most_of_file: int) -> Archive:
        self._file = TemporaryFile()  # noqa: SIM115 - closed when the import is over
        for chunk in chunks:
            self._file.write(chunk)
        self._archive = Archive(self._file, most, most_of_file)
        return self._archive

    def beside(self, name: str) -> bytes:
        """What lies under a name in the archive; also when all of it has been read, for the last
        messages are written after that."""
        return self._archive.data(name) if self._archive else b""

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _read(opened: _Opened, report: ImportReport, missing: str) -> Iterator[Item]:
    """What is in a file, or in the files of an archive."""
    counted = _counted(opened.source.chunks, report)
    start = b""
    while len(start) < len(MAGIC) and (chunk := next(counted, b"")):
        start += chunk
    whole = chain((start,), counted)
    if not start.startswith(MAGIC):
        yield from read_chats(decoded(whole), missing, agents=opened.source.agents)
        return
    limits = settings.PARLEY_LIMITS
    most = UNPACKED * max(limits["import_bytes"], report.size)
    archive = opened.archive(whole, most, limits["upload_bytes"])
    for item in archive.read(missing):
        # To be unpacked takes no time beside being written.
        report.read = min(int(archive.taken), report.size)
        yield item
    report.read = report.size


def _counted(chunks: Iterable[bytes], report: ImportReport) -> Iterator[bytes]:
    for chunk in chunks:
        report.read += len(chunk)
        yield chunk


def _next(items: Iterator[Item]) -> list[Item]:
    """What is written next. Files may be large: one by itself is the last of its batch, and so is
    the message with which those inside messages become too many."""
    batch: list[Item] = []
    held = 0
    for item in items:
        batch.append(item)
        held += sum(len(file.url) for file in _files_in(item))
        if len(batch) == BATCH or isinstance(item, GivenFile) or held > FILES_OF_BATCH:
            break
    return batch


def _files_in(item: Item) -> Iterator[FilePart]:
    match item:
        case WithParts():
            yield from files_of((item,))
        case Branch():
            yield from files_of((item.question,))
        case PlacedMessage() | WaitingMessage():
            yield from files_of((item.message,))
        case LateResult(part=part) if isinstance(part.state, ToolCompleted):
            yield from part.state.attachments or ()
