"""Ids that sort by time: UUIDv7, which Python 3.11 does not make yet."""

import os
import re
import threading
import time
from uuid import UUID

_UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

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


def is_uuid(text: object) -> bool:
    """Whether it is a UUID as it is mostly written, with hyphens."""
    return isinstance(text, str) and _UUID.fullmatch(text) is not None


def made_ms(id: str) -> int:
    """When one of ours was made, in milliseconds."""
    return UUID(id).int >> 80


def now_ms() -> int:
    return time.time_ns() // 1_000_000
