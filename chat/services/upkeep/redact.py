"""Redact: a text that must not be kept is replaced wherever a conversation has it.

In every message, earlier versions and archived ones too: in texts, thinking, what tools were given
and answered, summaries and instructions; in the title, in what waits, in what people said of
answers, in names of files, in what was shared. What was sent to providers is deleted, and so is the
folder of Claude Code with its sessions, which have every word: it is told anew what is left. The
search index is made from what is left, and so is every export. The contents of attached files are
not changed: a file is deleted with its message.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import F, Model, Q
from django.utils import timezone

from chat.models import (
    Attachment,
    AuditEntry,
    Conversation,
    Feedback,
    Message,
    Part,
    QueuedMessage,
    RequestLog,
    ShareLink,
)
from chat.protocol.errors import ChatError
from chat.protocol.events import Title
from chat.protocol.text import clean_text
from chat.providers.claude_code import remove_folder
from chat.services.access import lock_row
from chat.services.caller import Caller
from chat.services.conversations.queue import queued_value
from chat.services.conversations.revision import edited, raise_rev, tell_on_commit
from chat.services.conversations.search_index import forget_copies, index_conversation
from chat.services.turns.enqueue import queue_changed
from chat.services.upkeep.audit import audit

RowT = TypeVar("RowT", bound=Model)

# Put in the place of what was there.
MARK: Final = "█████"
SHORTEST: Final = 2
# What rows are found and told apart by, and what a program reads: no words of anybody.
_KEPT: Final = frozenset(
    ("id", "sessionID", "messageID", "callID", "type", "status", "tool", "mime", "url", "signature")
)
_MESSAGE: Final = ("summary", "system", "error_data", "path")


@transaction.atomic
def redact(caller: Caller, conversation_id: Any, text: str, *, reason: str = "") -> int:
    """Replace a text everywhere in a conversation; in how many places it was."""
    text = clean_text(text).strip()
    if len(text) < SHORTEST or text in MARK:
        raise ChatError("error.chat_redaction_too_short")
    conversation = lock_row(conversation_id)
    if conversation.messages.filter(status__in=("pending", "streaming")).exists():
        raise ChatError("error.chat_generation_in_progress")
    parts = _replace(Part.objects.filter(conversation=conversation), text, "text", "data")
    messages = _replace(conversation.messages.all(), text, *_MESSAGE)
    in_queue = QueuedMessage.objects.filter(conversation=conversation)
    waiting = _replace(in_queue, text, "text", "files")
    on_answers = Feedback.objects.filter(message__conversation=conversation)
    comments = _replace(on_answers, text, "comment")
    of_messages = Q(message__conversation=conversation) | Q(queued__conversation=conversation)
    files = _replace(Attachment.objects.filter(of_messages), text, "filename")
    shared = ShareLink.objects.filter(conversation=conversation)
    links = _replace(shared, text, "title", "messages")
    # What was sent and came back is kept for a few days to look for faults: nothing is lost.
    # (What still waits to be written is passed over: `runs/request_log.py`.)
    RequestLog.objects.filter(conversation=conversation).delete()
    key = str(conversation.pk)
    transaction.on_commit(lambda: remove_folder(settings.PARLEY_CLAUDE_CODE, key))
    found = sum(len(rows) for rows in (parts, messages, waiting, comments, files, links))
    changed = {part.message_id for part in parts} | {message.pk for message in messages}
    changed |= {comment.message_id for comment in comments}
    found += _tell(conversation, changed, text)
    _tell_queue(conversation, waiting)
    details = {"places": found}
    audit(caller, AuditEntry.Verb.REDACT, conversation, reason=reason, details=details)
    return found


def _replace(rows: Iterable[RowT], text: str, *columns: str) -> list[RowT]:
    """Write the rows anew that have the text in one of these columns; those."""
    changed: list[RowT] = []
    for row in rows:
        before = {name: getattr(row, name) for name in columns}
        after = {name: _without(value, text) for name, value in before.items()}
        if after != before:
            for name, value in after.items():
                setattr(row, name, value)
            row.save(update_fields=columns)
            changed.append(row)
    return changed


def _without(value: Any, text: str) -> Any:
    """A value of JSON, however deep, without the text; names of fields are words too."""
    match value:
        case str():
            return value.replace(text, MARK)
        case list():
            return [_without(each, text) for each in value]
        case dict():
            return {
                name if name in _KEPT else name.replace(text, MARK): each
                if name in _KEPT and isinstance(each, str)
                else _without(each, text)
                for name, each in value.items()
            }
        case _:
            return value


def _tell(conversation: Conversation, changed: set[Any], text: str) -> int:
    """Title, index and open pages; whether the title had it."""
    now = timezone.now()
    rows = Message.objects.filter(pk__in=changed)
    rows.update(updated=now, revision=F("revision") + 1)
    title = conversation.title.replace(text, MARK)[:200]
    in_title = title != conversation.title
    if in_title:
        conversation.title = title
        Conversation.objects.filter(pk=conversation.pk).update(title=title)
    forget_copies(conversation)
    index_conversation(conversation)
    shown = list(rows.shown().order_by("position").values_list("pk", flat=True))
    raise_rev(conversation)
    tell_on_commit(conversation, edited(conversation, shown))
    if in_title:
        raise_rev(conversation)
        key = str(conversation.pk)
        tell_on_commit(conversation, Title(conversation_id=key, rev=conversation.rev, title=title))
    return int(in_title)


def _tell_queue(conversation: Conversation, changed: list[QueuedMessage]) -> None:
    """Open pages show what waits, too, and know it by its revision."""
    if not changed:
        return
    for row in changed:
        row.revision += 1
        row.save(update_fields=("revision",))
    messages = tuple(map(queued_value, changed))
    tell_on_commit(conversation, queue_changed(conversation, messages=messages))
