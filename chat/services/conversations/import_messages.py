"""The messages of one conversation that is imported become rows, each in a step of its own."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils.translation import gettext as _

from chat.formats.imported.conversation import Branch, LateResult
from chat.formats.imported.items import PlacedMessage, Skipped
from chat.models import Conversation, Message, Part, QueuedMessage
from chat.protocol import parts as values
from chat.protocol.files import own_id
from chat.protocol.messages import AnswerInfo, WithParts
from chat.services import statements
from chat.services.conversations.import_branches import Returns, place_after
from chat.services.conversations.import_overlap import (
    PREFIX,
    WAITING_PREFIX,
    imported_as,
    where_it_is,
)
from chat.services.conversations.import_report import ImportReport
from chat.services.conversations.imported_rows import (
    keep_feedback,
    moment,
    of_here,
    placed_row,
    row_of,
)
from chat.services.conversations.inline_files import InlineFiles
from chat.services.conversations.queue import describe_file
from chat.services.conversations.search_index import index_text, searched

T = TypeVar("T")

log = logging.getLogger(__name__)


class MessageWriting:
    """Writes messages to a conversation; `number` is the place of each in its file."""

    def __init__(
        self, conversation: Conversation, report: ImportReport, files: InlineFiles
    ) -> None:
        self.conversation = conversation
        # What the next message follows.
        self.last: Message | None = None
        # By how much the numbers of the file differ from those that its messages have here.
        self.shift = 0
        self._report = report
        self._files = files
        self._returns = Returns(conversation)
        # Of a conversation of ours: which of its messages are written, and those that follow one
        # which is not.
        self._written: set[str] = set()
        self._later: dict[str, str] = {}

    # --- each is written, or left out -------------------------------------------------

    def write(self, message: WithParts, number: int) -> bool:
        return self._try(self._write_message, message, number)

    def write_again(self, message: WithParts, number: int) -> bool:
        """The last answer is here as far as it was written then; the file has more of it."""
        return self._try(self._rewrite_message, message, number)

    def write_branch(self, branch: Branch, number: int) -> bool:
        """A question that was asked where somebody went back to."""
        return self._try(self._write_branch, branch, number)

    def write_placed(self, item: PlacedMessage, number: int) -> bool:
        """A message of ours, of which there may be other versions."""
        return self._try(self._write_placed, item, number)

    def write_late(self, late: LateResult) -> None:
        """The result of a call whose message is written already."""
        rows = Part.objects.filter(
            conversation=self.conversation, call_id=late.part.call_id, type="tool"
        )
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

    def write_waiting(self, message: WithParts) -> None:
        """A message that had not been sent. It waits for a person: nothing is asked of a model
        because something was imported."""
        place = self.conversation.queued.count()
        if place >= settings.PARLEY_LIMITS["queued_messages"]:
            self._report.skip(Skipped("message_not_kept", _("waiting, %s") % (place + 1)))
            return
        row = QueuedMessage(
            pk=message.info.id,
            conversation=self.conversation,
            place=place,
            text=message.text,
            client_id=f"{WAITING_PREFIX}{place}",
        )
        row.revision = message.info.revision
        row.created = moment(message.info.time.created)
        row.save(force_insert=True)
        files = [each for each in message.parts if isinstance(each, values.FilePart)]
        kept = [
            own_id(each.url)
            for each in self._with_files(row, files)
            if isinstance(each, values.FilePart)
        ]
        rows = {str(each.pk): each for each in row.attachments.all()}
        row.files = [describe_file(rows[key]) for key in kept if key in rows]
        row.save(update_fields=("files",))
        self.conversation.queue_held = True
        self.conversation.save(update_fields=("queue_held",))

    def lead_to_earlier(self) -> None:
        """The answers to an earlier text follow a row that was written after them. Nothing else may
        be followed in this way, so that nobody is led in a circle."""
        messages = self.conversation.messages
        earlier = messages.filter(copy_of__isnull=False, parent=None)
        for key in set(self._later.values()) & {str(each.pk) for each in earlier.only("pk")}:
            answers = [answer for answer, parent in self._later.items() if parent == key]
            messages.filter(pk__in=answers).update(parent=key)

    # --- rows -------------------------------------------------------------------------

    def _try(self, write: Callable[[T, int], None], message: T, number: int) -> bool:
        """What no column takes is left out; the other messages are not."""
        files = self._files.count()
        try:
            with transaction.atomic():
                write(message, number)
        except (DatabaseError, OverflowError, ValueError) as error:
            log.warning("a message of an import cannot be kept: %s", type(error).__name__)
            self._files.remove(files)
            self._report.skip(Skipped("message_not_kept", str(number + 1)))
            return False
        return True

    def _write_message(self, message: WithParts, number: int) -> None:
        conversation = self.conversation
        parent = self.last and self._returns.show(self.last, whatever_it_costs=True)
        row = row_of(message, conversation, conversation.last_position + 1)
        row.parent = parent
        self._insert(row, message, number)

    def _write_branch(self, branch: Branch, number: int) -> None:
        conversation = self.conversation
        after = imported_as(conversation, branch.after + self.shift) if branch.after >= 0 else None
        parent = after and self._returns.show(where_it_is(after))
        if (branch.after >= 0 and parent is None) or self._returns.are_over:
            # What it follows could not be kept, or this goes on without end.
            self._write_message(branch.question, number)
            return
        new = row_of(branch.question, conversation, 0)
        row = place_after(conversation, parent, new)
        if row is new:
            row.position, row.parent = conversation.last_position + 1, parent
            self._insert(row, branch.question, number)
        else:
            # Which version it is, was seen by looking at all of them.
            self._returns.spend(row.version)
            row.client_id = f"{PREFIX}{number}"
            row.save()
            self._fill(row, branch.question)

    def _rewrite_message(self, message: WithParts, number: int) -> None:
        if (row := imported_as(self.conversation, number)) is not None:
            self.last = row.parent
            row.delete()
        self._write_message(message, number)

    def _insert(self, row: Message, message: WithParts, number: int) -> None:
        row.client_id = f"{PREFIX}{number}"
        statements.add([row])
        self.conversation.last_position = row.position
        self._fill(row, message)

    def _fill(self, row: Message, message: WithParts) -> None:
        """Write what a message says to its row."""
        conversation = self.conversation
        parts = self._with_files(row, of_here(message, row).parts)
        statements.add([Part.of(part, place) for place, part in enumerate(parts)])
        if row.copy_of_id is None:
            index_text(conversation.owner_id, conversation.pk, row.pk, searched(parts))
        self.last = row

    def _write_placed(self, item: PlacedMessage, number: int) -> None:
        message, place = item.message, item.place
        row = placed_row(message, place, self.conversation)
        if place.parent in self._written:
            row.parent_id = UUID(place.parent)
        if place.copy_of:
            # What it is a version of was left out: then nobody can be led to it.
            row.archived_at = row.archived_at or row.created
            row.copy_of_id = UUID(place.copy_of) if place.copy_of in self._written else None
        self._insert(row, message, number)
        if isinstance(message.info, AnswerInfo):
            keep_feedback(row, message.info, self.conversation.owner_id)
        self._written.add(message.info.id)
        if place.parent and row.parent_id is None:
            self._later[message.info.id] = place.parent

    def _with_files(
        self, row: Message | QueuedMessage, parts: Sequence[values.Part]
    ) -> list[values.Part]:
        kept = self._files.keep(row, parts)
        for name in self._files.take_refused():
            self._report.skip(Skipped("file_refused", name))
        return kept
