"""Prune: files that nobody sent, conversations that were deleted long ago and views that were left
go for good."""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Final

from django.contrib.sessions.backends.db import SessionStore

from chat.services.conversations.attachments import forget_waiting
from chat.services.conversations.organise import purge_deleted
from chat.services.conversations.shares import forget_expired
from chat.services.people.attempts import forget_attempts
from chat.services.people.log_ins import forget_log_ins
from chat.services.pool import in_writer
from chat.services.processes.presence import forget_views
from chat.services.runs.request_log import forget_requests
from chat.services.usage.spend import forget_reservations

log = logging.getLogger(__name__)

# Seconds between two rounds.
EVERY = 600.0

_next = 0.0


def forget_sessions() -> None:
    """Log-ins that have run out."""
    SessionStore.clear_expired()


ROUND: Final = (
    forget_waiting,
    purge_deleted,
    forget_expired,
    forget_views,
    forget_reservations,
    forget_requests,
    forget_sessions,
    forget_log_ins,
    forget_attempts,
)


async def prune() -> None:
    """Called every few seconds; does something every ten minutes."""
    global _next
    if monotonic() >= _next:
        _next = monotonic() + EVERY
        for forget in ROUND:
            await in_writer(_try, forget)


def prune_now() -> None:
    """One round, for whoever runs it by hand, who is told what failed when all else is done."""
    faults = [fault for forget in ROUND if (fault := _try(forget))]
    if faults:
        raise ExceptionGroup("Not everything could be removed", faults)


def _try(forget: Callable[[], object]) -> Exception | None:
    """Do one of them. One that fails, and would again in ten minutes, keeps none of the others
    from what they do."""
    try:
        forget()
    except Exception as error:  # whatever it is, the next round tries again
        log.exception("%s failed", forget.__name__)
        return error
    return None
