"""What is read of an import is written: one conversation after the other, batch by batch."""

from datetime import timedelta

from django.db import IntegrityError, transaction

from chat.formats.imported.conversation import Branch, LateResult
from chat.formats.imported.items import (
    Began,
    Ended,
    GivenFile,
    Item,
    Known,
    PlacedMessage,
    Skipped,
    WaitingMessage,
)
from chat.formats.parley_json import ChatDetails
from chat.formats.title import cut_title, title_from
from chat.models import Conversation, Message, Part
from chat.protocol.messages import AnswerInfo, UserInfo, WithParts
from chat.services.caller import Caller
from chat.services.conversations.import_messages import MessageWriting
from chat.services.conversations.import_overlap import (
    begins_with,
    differs,
    has_grown,
    has_words_of_here,
    last_imported,
    number_here,
    number_of,
    was_gone_on_with,
    where_it_is,
)
from chat.services.conversations.import_report import ImportedChat, ImportReport
from chat.services.conversations.imported_rows import note_details
from chat.services.conversations.inline_files import Beside, InlineFiles
from chat.services.conversations.search_index import index_title
from chat.services.upkeep.repair import upgrade_held

# The database has no room for longer ones.
LONGEST_ID = 180
# More messages than any conversation has.
EVERYTHING = 2**31


class Writing:
    """Writes what was read; one conversation after the other."""

    def __init__(
        self, caller: Caller, report: ImportReport, beside: Beside, missing: str, untitled: str
    ) -> None:
        self._caller = caller
        self._report = report
        # Our words for a question that is not in the file.
        self._missing = missing
        self._untitled = untitled
        self._form = ""
        self._new_id = ""
        self._rows: MessageWriting | None = None
        self._chat: ImportedChat | None = None
        self._number = 0
        # How many of the messages are here already.
        self._here = 0
        # The first question of what is here already: the answer to it says where it belongs.
        self._first: WithParts | None = None
        self._files = InlineFiles(caller, beside)
        # Of a conversation of ours: what is known of it.
        self._details: ChatDetails | None = None
        # The other id of a file that is always there from its beginning, and what of it was here.
        self._apart = ""
        self._passed: list[WithParts | Branch | LateResult] = []

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
        if self._rows is not None:
            self._hold(self._rows)
        for item in batch:
            self._item(item)
        if self._rows is not None:
            # Should it break off here, what is written can be read and gone on with.
            assert self._chat is not None
            row = self._rows.conversation
            row.title = row.title or self._chat.title
            row.rev += 1
            row.save(update_fields=("title", "rev", "last_position"))

    def _hold(self, rows: MessageWriting) -> None:
        """Somebody may have written in it since the last batch, or imports the same file."""
        row = rows.conversation
        held = Conversation.objects.select_for_update().get(pk=row.pk)
        row.last_position, row.rev = held.last_position, held.rev
        if self._here < 0:
            return
        if self._details is None:
            self._look_for_last(rows)
        elif rows.last and not Message.objects.filter(pk=rows.last.pk).exists():
            # Whoever imports the same has begun anew: it is left to them.
            self._here = EVERYTHING

    def _item(self, item: Item) -> None:
        match item:
            case Began():
                self._form, self._new_id = item.form, item.id
            case Known():
                self._begin(item.external_id, item.details)
                self._apart = item.apart
            case GivenFile():
                self._files.give(item.file)
            case WithParts() | Branch():
                self._message(item)
            case PlacedMessage():
                self._placed(item)
            case WaitingMessage() | LateResult():
                self._besides(item)
            case Skipped():
                self._report.skip(item)
            case Ended():
                self._end(item)

    def _begin(self, external_id: str, details: ChatDetails | None) -> None:
        """Find the conversation that was imported before, or make one."""
        key = f"{self._form}:{external_id}"[:LONGEST_ID] if external_id else ""
        self._number = self._here = 0
        self._first, self._apart, self._passed = None, "", []
        self._details = details
        self._files.begin()
        found = row = self._imported_before(key)
        if row is None:
            try:
                with transaction.atomic():
                    row = self._make(key)
            except IntegrityError:
                # Somebody imports the same at this moment, and was faster.
                found = row = self._imported_before(key)
                if row is None:
                    raise
        self._rows = MessageWriting(row, self._report, self._files)
        if found is not None:
            self._look_at(self._rows)
        self._chat = ImportedChat(str(row.pk), row.title, was_here=found is not None)
        self._report.chats.append(self._chat)
        self._chat.is_known = self._here < 0

    def _imported_before(self, key: str) -> Conversation | None:
        mine = Conversation.objects.owned_by(self._caller.user_id)
        return mine.select_for_update().filter(external_session_id=key).first() if key else None

    def _make(self, key: str) -> Conversation:
        if key:
            # One that was deleted may be restored, but is no longer what the file is imported to.
            mine = Conversation.objects.filter(owner_id=self._caller.user_id)
            gone = mine.filter(external_session_id=key, deleted_at__isnull=False)
            gone.update(external_session_id="")
        row = Conversation(pk=self._new_id, owner_id=self._caller.user_id, external_session_id=key)
        if self._details is not None and self._details.updated is not None:
            # Older than the file, until all of it is here.
            row.updated = self._details.updated - timedelta(seconds=1)
        row.save(force_insert=True)
        return row

    def _look_for_last(self, rows: MessageWriting) -> None:
        """How far the file is here already."""
        last = last_imported(rows.conversation)
        if last is not None:
            self._here = number_of(last) + 1
            rows.last = where_it_is(last)

    def _look_at(self, rows: MessageWriting) -> None:
        conversation = rows.conversation
        messages = conversation.messages
        if was_gone_on_with(conversation):
            # It is theirs now.
            self._here = -1
        elif self._details is None:
            self._look_for_last(rows)
        elif self._details.updated is None or conversation.updated < self._details.updated:
            if has_words_of_here(conversation):
                self._here = -1
                return
            # Versions may have changed places everywhere: all of it is written anew.
            messages.all().delete()
            conversation.queued.all().delete()
            conversation.last_position = self._here = 0
        else:
            self._here = EVERYTHING

    def _message(self, item: WithParts | Branch) -> None:
        assert self._rows is not None
        if isinstance(item, WithParts) and self._first is None:
            if self._number == 0 and self._here > 0 and not self._apart:
                self._first = item
                return
        elif self._first is not None:
            first, self._first = self._first, None
            self._rows.shift = self._number = self._begins_at(self._rows, first, _said(item))
            self._take(first)
        self._take(item)

    def _begins_at(self, rows: MessageWriting, question: WithParts, answer: WithParts) -> int:
        """As which message the first of the file is here, or will be."""
        conversation = rows.conversation
        is_known = question.text != self._missing and begins_with(conversation, question)
        if is_known or not isinstance(answer.info, AnswerInfo):
            return 0
        return number_here(conversation, answer, 1, self._here) - 1

    def _take(self, item: WithParts | Branch) -> None:
        assert self._rows is not None
        assert self._chat is not None
        message = _said(item)
        number, self._number = self._number, self._number + 1
        if self._here < 0:
            return
        if number < self._here and self._apart:
            if message.text != self._missing and differs(self._rows.conversation, message, number):
                self._begin_apart(item)
                return
            self._passed.append(item)
        self._chat.messages += 1
        self._chat.tools += len(message.tools)
        if number < self._here:
            if number == self._here - 1 and has_grown(self._rows.conversation, message, number):
                self._chat.new += self._rows.write_again(message, number)
            return
        is_question = isinstance(message.info, UserInfo) and message.text != self._missing
        if is_question and not self._chat.title:
            self._chat.title = title_from(message.text)
        if isinstance(item, Branch):
            self._chat.new += self._rows.write_branch(item, number)
        else:
            self._chat.new += self._rows.write(message, number)

    def _begin_apart(self, item: WithParts | Branch) -> None:
        """It goes on in another way than what is here: a conversation of its own, with what they
        have in common."""
        passed = [*self._passed, item]
        self._report.chats.pop()
        self._begin(self._apart, None)
        for each in passed:
            if isinstance(each, LateResult):
                self._besides(each)
            else:
                self._take(each)

    def _placed(self, item: PlacedMessage) -> None:
        assert self._rows is not None
        assert self._chat is not None
        number, self._number = self._number, self._number + 1
        if self._here < 0:
            return
        if item.place.archived is None:
            self._chat.messages += 1
            self._chat.tools += len(item.message.tools)
        if number >= self._here:
            self._chat.new += self._rows.write_placed(item, number)

    def _besides(self, item: WaitingMessage | LateResult) -> None:
        """What is no message of its own: of one that is here already, or not sent yet."""
        assert self._rows is not None
        match item:
            case WaitingMessage() if not self._here:
                self._rows.write_waiting(item.message)
            case LateResult() if self._here >= 0:
                self._passed += [item] if self._apart else []
                self._rows.write_late(item)

    def _end(self, ended: Ended) -> None:
        if self._first is not None:
            first, self._first = self._first, None
            self._take(first)
        rows, chat = self._rows, self._chat
        self._rows = self._chat = None
        if rows is None or chat is None:
            # There was nothing in it.
            return
        if self._here < 0:
            return
        if self._details is not None:
            self._end_ours(rows, chat, self._details, is_whole=ended.is_whole)
            return
        row = rows.conversation
        title = cut_title(" ".join(ended.title.split())) or chat.title or self._untitled
        if not row.titled_by_hand:
            row.title = chat.title = title
        if rows.last is not None:
            row.updated = rows.last.completed_at or rows.last.created
        row.rev += 1
        row.save(update_fields=("title", "updated", "rev", "last_position"))
        index_title(row)
        _bring_forward(row, chat)

    def _end_ours(
        self, rows: MessageWriting, chat: ImportedChat, details: ChatDetails, *, is_whole: bool
    ) -> None:
        row = rows.conversation
        # One that has no title yet was imported as far as a file went that broke off.
        is_new = not chat.was_here or not row.title
        keeps_title = row.titled_by_hand and not is_new
        chat.title = (row.title if keeps_title else details.title) or chat.title
        if self._here:
            return
        rows.lead_to_earlier()
        note_details(row, details, is_new=is_new)
        if is_whole:
            row.updated = details.updated or row.updated
        row.rev += 1
        row.save()
        index_title(row)
        _bring_forward(row, chat)
        self._files.begin()


def _said(item: WithParts | Branch) -> WithParts:
    return item if isinstance(item, WithParts) else item.question


def _bring_forward(row: Conversation, chat: ImportedChat) -> None:
    """Calls in texts become parts; then it is told how much there is."""
    upgrade_held(row)
    shown = Message.objects.shown().filter(conversation=row)
    chat.messages = shown.count()
    chat.tools = Part.objects.filter(message__in=shown, type=Part.Type.TOOL).count()
