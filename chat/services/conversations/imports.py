"""Import: conversations of other programs, and of Parley, become conversations of a person.

A file is read in a thread and written in small transactions, so others write in between. What
was written stays when it breaks off, and importing the same file again goes on from there:
`external_session_id` says where a conversation came from, `client_id` which of its messages.
"""

import codecs
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice

from django.db import DatabaseError, transaction
from django.utils import translation
from django.utils.translation import gettext as _

from chat.formats.imported.chats import (
    Began,
    Ended,
    Item,
    Known,
    Skipped,
    read_chats,
)
from chat.formats.imported.conversation import LateResult
from chat.formats.title import cut_title, title_from
from chat.models import Conversation, Message, Part
from chat.protocol import parts as values
from chat.protocol.messages import AnswerInfo, UserInfo, WithParts
from chat.services.broadcast import tell_sidebar
from chat.services.caller import Caller
from chat.services.conversations.inline_files import InlineFiles
from chat.services.conversations.search_index import index_text, index_title, searched
from chat.services.pool import in_pool, in_writer

log = logging.getLogger(__name__)

# How many pieces are written in one transaction, and how many of what was left out are told.
BATCH = 100
MOST_SKIPPED = 200
# The database has no room for longer ones.
LONGEST_ID = 180
PREFIX = "import-"


@dataclass(slots=True)
class ImportedChat:
    """A conversation that was imported, or is being imported."""

    id: str
    title: str = ""
    messages: int = 0
    tools: int = 0
    # It was here already, and had been gone on with: nothing was changed.
    is_known: bool = False


@dataclass(slots=True)
class ImportReport:
    """What came of one file so far."""

    name: str
    size: int
    read: int = 0
    chats: list[ImportedChat] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    # How many more were left out than are listed.
    skipped_more: int = 0
    is_done: bool = False

    def skip(self, skipped: Skipped) -> None:
        if len(self.skipped) < MOST_SKIPPED:
            self.skipped.append(skipped)
        else:
            self.skipped_more += 1


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file to import; what we put into its conversations is said in this language."""

    name: str
    size: int
    chunks: Iterable[bytes]
    language: str = "en"


async def import_chats(caller: Caller, source: ImportSource) -> AsyncIterator[ImportReport]:
    """Import a file, telling after every batch how far it has come."""
    report = ImportReport(source.name, source.size)
    with translation.override(source.language):
        missing = _("(This question is not in the imported file.)")
        untitled = _("Imported chat")
    items = read_chats(_decoded(source.chunks, report), missing)
    writing = _Writing(caller, report, missing, untitled)
    try:
        while batch := await in_pool(_next, items):
            await in_writer(writing.write, batch)
            yield report
    except Exception:  # whatever broke, what came of the file before is told
        log.exception("an import broke off")
        report.skip(Skipped("file_broke"))
    report.is_done = True
    for chat in report.chats:
        await tell_sidebar(caller.user_id, chat.id)
    yield report


def _next(items: Iterator[Item]) -> list[Item]:
    return list(islice(items, BATCH))


def _decoded(chunks: Iterable[bytes], report: ImportReport) -> Iterator[str]:
    """The text of a file; what is no text is replaced, line by line the rest is still read."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for chunk in chunks:
        report.read += len(chunk)
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


class _Writing:
    """Writes what was read; one conversation after the other."""

    def __init__(self, caller: Caller, report: ImportReport, missing: str, untitled: str) -> None:
        self._caller = caller
        self._report = report
        # Our words for a question that is not in the file.
        self._missing = missing
        self._untitled = untitled
        self._form = ""
        self._new_id = ""
        self._row: Conversation | None = None
        self._chat: ImportedChat | None = None
        self._last: Message | None = None
        self._number = 0
        # How many of the messages are here already.
        self._here = 0
        self._files = InlineFiles(caller)

    def write(self, batch: list[Item]) -> None:
        """A batch, in one transaction; the files of one that is not kept are removed again."""
        try:
            self._write(batch)
        except BaseException:
            self._files.remove()
            raise
        self._files.forget()

    @transaction.atomic
    def _write(self, batch: list[Item]) -> None:
        if self._row is not None:
            # Somebody may have written in it since the last batch.
            rows = Conversation.objects.select_for_update()
            self._row.last_position = rows.get(pk=self._row.pk).last_position
        for item in batch:
            match item:
                case Began():
                    self._form, self._new_id = item.form, item.id
                case Known():
                    self._begin(item.external_id)
                case WithParts():
                    self._message(item)
                case LateResult():
                    self._late(item)
                case Skipped():
                    self._report.skip(item)
                case Ended():
                    self._end(item)
        if self._row is not None:
            # Should it break off here, what is written can be read and gone on with.
            assert self._chat is not None
            self._row.title = self._row.title or self._chat.title
            self._row.rev += 1
            self._row.save(update_fields=("title", "rev", "last_position"))

    def _begin(self, external_id: str) -> None:
        """Find the conversation that was imported before, or make one."""
        key = f"{self._form}:{external_id}"[:LONGEST_ID] if external_id else ""
        mine = Conversation.objects.owned_by(self._caller.user_id)
        found = mine.select_for_update().filter(external_session_id=key).first() if key else None
        self._number = self._here = 0
        self._last = None
        if found is None:
            self._row = Conversation.objects.create(
                pk=self._new_id, owner_id=self._caller.user_id, external_session_id=key
            )
        else:
            self._row = found
            self._look_at(found)
        self._chat = ImportedChat(str(self._row.pk), self._row.title)
        self._report.chats.append(self._chat)
        self._chat.is_known = self._here < 0

    def _look_at(self, conversation: Conversation) -> None:
        rows = Message.objects.filter(conversation=conversation)
        imported = rows.filter(client_id__startswith=PREFIX).order_by("position")
        self._here = imported.count()
        if rows.count() > self._here:
            # Somebody has gone on with it here: it is theirs now.
            self._here = -1
        else:
            self._last = imported.last()

    def _message(self, message: WithParts) -> None:
        assert self._row is not None
        assert self._chat is not None
        number, self._number = self._number, self._number + 1
        if self._here < 0:
            return
        self._chat.messages += 1
        self._chat.tools += len(message.tools)
        if number < self._here:
            return
        is_question = isinstance(message.info, UserInfo) and message.text != self._missing
        if is_question and not self._chat.title:
            self._chat.title = title_from(message.text)
        self._try_to_write(message, number)

    def _try_to_write(self, message: WithParts, number: int) -> None:
        """What no column takes is left out; the other messages are not."""
        files = self._files.count()
        try:
            with transaction.atomic():
                self._write_message(message, number)
        except (DatabaseError, OverflowError, ValueError) as error:
            log.warning("a message of an import cannot be kept: %s", type(error).__name__)
            self._files.remove(files)
            self._report.skip(Skipped("message_not_kept", str(number + 1)))

    def _write_message(self, message: WithParts, number: int) -> None:
        assert self._row is not None
        conversation = self._row
        row = _row_of(message, conversation, conversation.last_position + 1)
        row.client_id = f"{PREFIX}{number}"
        row.parent = self._last
        row.save(force_insert=True)
        parts = self._with_files(row, _of_here(message, conversation).parts)
        Part.objects.bulk_create(Part.of(part, place) for place, part in enumerate(parts))
        index_text(conversation.owner_id, conversation.pk, row.pk, searched(parts))
        conversation.last_position = row.position
        self._last = row

    def _with_files(self, row: Message, parts: Sequence[values.Part]) -> list[values.Part]:
        kept = self._files.keep(row, parts)
        for name in self._files.take_refused():
            self._report.skip(Skipped("file_refused", name))
        return kept

    def _late(self, late: LateResult) -> None:
        """The result of a call whose message is written already."""
        if self._here < 0:
            return
        rows = Part.objects.filter(conversation=self._row, call_id=late.part.call_id, type="tool")
        for row in rows:
            moved = late.part.model_copy(
                update={
                    "id": str(row.pk),
                    "session_id": str(row.conversation_id),
                    "message_id": str(row.message_id),
                }
            )
            (kept,) = self._with_files(row.message, [moved])
            Part.of(kept, row.position).save(force_update=True)

    def _end(self, ended: Ended) -> None:
        row, chat = self._row, self._chat
        self._row = self._chat = None
        if row is None or chat is None:
            # There was nothing in it.
            return
        if self._here < 0:
            return
        title = cut_title(" ".join(ended.title.split())) or chat.title or self._untitled
        if not row.titled_by_hand:
            row.title = chat.title = title
        if self._last is not None:
            row.updated = self._last.completed_at or self._last.created
        row.rev += 1
        row.save(update_fields=("title", "updated", "rev", "last_position"))
        index_title(row)


def _of_here(message: WithParts, conversation: Conversation) -> WithParts:
    """The message in the conversation that it is written to: one found again has another id."""
    session_id = str(conversation.pk)
    if message.info.session_id == session_id:
        return message
    return WithParts(
        info=message.info.model_copy(update={"session_id": session_id}),
        parts=tuple(part.model_copy(update={"session_id": session_id}) for part in message.parts),
    )


def _row_of(message: WithParts, conversation: Conversation, position: int) -> Message:
    info = message.info
    created = _moment(info.time.created)
    row = Message(
        pk=info.id,
        conversation=conversation,
        position=position,
        role=info.role,
        created=created,
        updated=created,
        completed_at=created,
        agent=info.agent[:100],
    )
    if isinstance(info, AnswerInfo):
        _note_answer(row, info)
    return row


def _note_answer(row: Message, info: AnswerInfo) -> None:
    # Nothing is being written any more, whatever the file says.
    running = info.status in ("pending", "streaming")
    row.status = Message.Status.CANCELLED if running else info.status
    row.completed_at = _moment(info.time.completed or info.time.created)
    row.provider_id, row.model_id = info.provider_id[:200], info.model_id[:200]
    row.finish_reason = (info.finish or "")[:50]
    row.input_tokens, row.output_tokens = info.tokens.input, info.tokens.output
    row.reasoning_tokens = info.tokens.reasoning
    row.cache_read_tokens, row.cache_write_tokens = info.tokens.cache.read, info.tokens.cache.write
    row.cost = min(Decimal(str(info.cost)), Decimal(999_999)).quantize(Decimal("0.00000001"))
    if info.error is not None:
        row.error_key, row.error_data = info.error.key[:100], dict(info.error.data)


def _moment(ms: int) -> datetime:
    try:
        return datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.now(UTC)
