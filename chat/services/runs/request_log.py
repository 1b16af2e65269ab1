"""What was sent: every request and its answer are kept for a few days, unless that is switched off.

Nothing waits for it: a run hands an exchange over when it has ended, and what has gathered is
compressed by a worker and written together a moment later. Of temporary chats nothing is kept.
"""

import asyncio
import logging
import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.models import AuditEntry, Conversation, Message, RequestLog
from chat.providers.exchanges import Exchange, recorder
from chat.services import sql
from chat.services.background import Background
from chat.services.pool import in_worker, in_writer
from chat.services.runs.spec import RunSpec

log = logging.getLogger(__name__)

# Seconds until what has gathered is written.
WAIT: Final = 1.0
# More requests than these are not held for a database that does not take them.
MOST_PENDING: Final = 2000
NEVER: Final = datetime.min.replace(tzinfo=UTC)


class Pending(NamedTuple):
    conversation_id: UUID
    message_id: UUID | None
    kind: str
    model_id: str
    exchange: Exchange


_pending: list[Pending] = []
_writing = Background()


def keep_requests(spec: RunSpec, kind: str = "answer") -> None:
    """Keep what this task sends from now on, if that is wanted."""
    if not spec.logged or not settings.PARLEY_LIMITS["request_days"]:
        return
    message = UUID(spec.info.id) if kind == "answer" else None
    talk, model = UUID(spec.info.session_id), spec.model.ref.model_id

    def record(exchange: Exchange) -> None:
        hand_over(Pending(talk, message, kind, model, exchange))

    recorder.set(record)


def hand_over(ended: Pending) -> None:
    """Take in an exchange; it is written a moment later."""
    if len(_pending) < MOST_PENDING:
        _pending.append(ended)
    if not _writing:
        _writing.spawn(_write_soon(), "what was sent")


async def _write_soon() -> None:
    # More may come while some are written, and start no other writer.
    while _pending:
        await asyncio.sleep(WAIT)
        await write_requests()


async def write_requests() -> None:
    """Write what has gathered."""
    batch, _pending[:] = list(_pending), []
    if not batch:
        return
    try:
        rows = await in_worker(_rows, batch)
        await in_writer(_insert, rows)
    except Exception:  # a note of what was sent is no reason to end anything
        log.exception("what was sent could not be kept")


async def stop_keeping_requests() -> None:
    """The process goes down: what has gathered is written now."""
    await _writing.cancel()
    await write_requests()


def _rows(batch: Sequence[Pending]) -> list[RequestLog]:
    return [
        sql.new(
            RequestLog,
            conversation_id=each.conversation_id,
            message_id=each.message_id,
            kind=each.kind,
            model_id=each.model_id[:200],
            url=each.exchange.url[:1000],
            headers=dict(each.exchange.headers),
            sent=zlib.compress(each.exchange.sent(), 1),
            received=zlib.compress(each.exchange.received(), 1),
            status=each.exchange.status,
            error_key=each.exchange.error[:100],
            began=datetime.fromtimestamp(each.exchange.began / 1000, UTC),
            first_ms=_after(each.exchange, each.exchange.first),
            took_ms=_after(each.exchange, each.exchange.ended),
        )
        for each in batch
    ]


def _after(exchange: Exchange, moment: int | None) -> int | None:
    return None if moment is None else max(moment - exchange.began, 0)


@transaction.atomic
def _insert(rows: Sequence[RequestLog]) -> None:
    """Those whose conversation and message are still there, and whose words were not redacted
    since: in another process, perhaps."""
    talks = {row.conversation_id for row in rows}
    kept = Conversation.objects.filter(pk__in=talks, temporary=False).order_by("pk")
    # Held, as a redaction holds it: either it is seen here, or it deletes what is written here.
    there = set(kept.select_for_update(no_key=True).values_list("pk", flat=True))
    redacted = _redactions(there)
    answers = {row.message_id for row in rows if row.message_id}
    known = set(Message.objects.filter(pk__in=answers).values_list("pk", flat=True))
    sql.insert(
        [
            row
            for row in rows
            if row.conversation_id in there
            and (row.message_id is None or row.message_id in known)
            and row.began > redacted.get(str(row.conversation_id), NEVER)
        ]
    )


def _redactions(talks: Iterable[UUID]) -> dict[str, datetime]:
    """When something was last redacted in each of these, where it was."""
    entries = AuditEntry.objects.filter(
        verb=AuditEntry.Verb.REDACT,
        kind=Conversation._meta.label_lower,
        object_id__in=[str(talk) for talk in talks],
    )
    return dict(entries.order_by("at").values_list("object_id", "at"))


def forget_requests() -> None:
    """What is older than it is kept for goes; all of it where nothing is kept."""
    days = settings.PARLEY_LIMITS["request_days"]
    old = RequestLog.objects.filter(began__lt=timezone.now() - timedelta(days=days))
    old._raw_delete(old.db)


def sent_text(row: RequestLog) -> str:
    return zlib.decompress(row.sent).decode("utf-8", "replace")


def received_text(row: RequestLog) -> str:
    return zlib.decompress(row.received).decode("utf-8", "replace")
