"""Ids that sort by time: UUIDv7, which Python 3.11 does not make yet."""

import os
import threading
import time
from uuid import UUID

_lock = threading.Lock()
_last = 0


def uuid7() -> UUID:
    """A UUIDv7; within one process every new one is greater than the one before."""
    global _last
    with _lock:
        # 60 bits: milliseconds, then a 12-bit fraction that also breaks ties.
        _last = max(_last + 1, time.time_ns() * 4096 // 1_000_000)
        stamp = _last
    random = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    return UUID(int=(stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0b10 << 62 | random)


def new_id() -> str:
    return str(uuid7())


def is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except (ValueError, AttributeError, TypeError):
        return False


def now_ms() -> int:
    return time.time_ns() // 1_000_000
