"""What is removed for good: files that nobody sent, conversations that were deleted long ago."""

from time import monotonic

from chat.services.attachments import forget_waiting
from chat.services.organise import purge_deleted
from chat.services.pool import in_pool

# Seconds between two looks.
EVERY = 600.0

_next = 0.0


async def sweep() -> None:
    """From time to time; costs nothing in between."""
    global _next
    if monotonic() >= _next:
        _next = monotonic() + EVERY
        await in_pool(forget_waiting)
        await in_pool(purge_deleted)
