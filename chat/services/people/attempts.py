"""Attempts: guessing passwords is slow, however many guess at one moment and from wherever.

An attempt is counted before its password is looked at, by one statement of the database: of many
at the same moment, in whichever process, no more are looked at than are allowed. Counted are the
address, the name together with the address (so that one who mistypes locks nobody else out), and
the name alone (so that many addresses together guess no more). What one of them refuses, the next
does not count: an account is not put to rest from a single address. Names that do not exist are
counted alike.
"""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import time
from typing import Final

from chat.models import Attempt
from chat.services import sql

REST: Final = 15 * 60
PER_ADDRESS: Final = 50
PER_NAME: Final = 5
PER_ACCOUNT: Final = 50

# Hashing a password takes a core for a while: the pages of everybody else need the others.
AT_ONCE: Final = 2
WAITING: Final = 20
PATIENCE: Final = 15.0

_hashing = threading.BoundedSemaphore(AT_ONCE)
_in_line = threading.BoundedSemaphore(AT_ONCE + WAITING)


class Resting(Exception):
    """There were too many attempts: nothing is looked at for a while."""


class Busy(Exception):
    """Too many people log in at this very moment."""


def count_attempt(address: str, name: str) -> None:
    """One attempt to enter as somebody, from an address."""
    for key, limit in _counters(address, name):
        if _count(key)[0] > limit:
            raise Resting


def count_request(kind: str, who: str, most: int) -> None:
    """Something else that strangers may do, but not often: to ask for a mail, say."""
    if _count(_key(kind, who.casefold()))[0] > most:
        raise Resting


def count_turn(user_id: int, within: int) -> tuple[int, int]:
    """A message that somebody sends, or has answered anew: how many they are by now, and in how
    many seconds counting begins anew. The counter outlives what is sent: deleting it is no way to
    send more. One that is refused is taken back with its transaction."""
    count, until = _count(_key("turn", str(user_id)), within)
    return count, max(until - int(time()), 1)


def forgive_requests(kind: str, who: str) -> None:
    """It was rightly done: what was counted of it is forgotten."""
    Attempt.objects.filter(pk=_key(kind, who.casefold())).delete()


def forgive(address: str, name: str) -> None:
    """It was the right password: what was counted before it is forgotten, but for other names from
    that address, of which only this attempt is taken back."""
    (whole, _), *others = _counters(address, name)
    Attempt.objects.filter(pk__in=[key for key, _limit in others]).delete()
    sql.change("UPDATE chat_attempt SET count = count - 1 WHERE key = %s AND count > 0", whole)


def forget_attempts() -> None:
    """Delete counters that count nothing any more."""
    Attempt.objects.filter(until__lt=int(time())).delete()


@contextmanager
def hashing() -> Iterator[None]:
    """Wait until few others hash a password; not where too many wait already."""
    if not _in_line.acquire(blocking=False):
        raise Busy
    try:
        if not _hashing.acquire(timeout=PATIENCE):
            raise Busy
        try:
            yield
        finally:
            _hashing.release()
    finally:
        _in_line.release()


def _counters(address: str, name: str) -> tuple[tuple[str, int], ...]:
    name = name.casefold()
    return (
        (_key("address", address), PER_ADDRESS),
        (_key("name", address, name), PER_NAME),
        (_key("account", name), PER_ACCOUNT),
    )


def _key(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def _count(key: str, rest: int = REST) -> tuple[int, int]:
    """Add one, and say how many they are, and until when: in one statement, so that no two see the
    same number."""
    now = int(time())
    [(count, until)] = sql.fetch(
        """INSERT INTO chat_attempt (key, count, until) VALUES (%s, 1, %s)
            ON CONFLICT (key) DO UPDATE SET
                count = CASE WHEN chat_attempt.until <= %s THEN 1 ELSE chat_attempt.count + 1 END,
                until = CASE WHEN chat_attempt.until <= %s THEN %s ELSE chat_attempt.until END
            RETURNING count, until""",
        *(key, now + rest, now, now, now + rest),
    )
    return int(count), int(until)
