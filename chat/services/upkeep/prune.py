"""Prune: files that nobody sent, conversations that were deleted long ago and views that were left
go for good."""

from time import monotonic

from chat.services.conversations.attachments import forget_waiting
from chat.services.conversations.organise import purge_deleted
from chat.services.pool import in_writer
from chat.services.processes.presence import forget_views

# Seconds between two rounds.
EVERY = 600.0

_next = 0.0


async def prune() -> None:
    """Called every few seconds; does something every ten minutes."""
    global _next
    if monotonic() >= _next:
        _next = monotonic() + EVERY
        await in_writer(forget_waiting)
        await in_writer(purge_deleted)
        await in_writer(forget_views)
