"""Log-ins: where somebody is logged in, when each was last used, and how it is ended.

A log-in is a session that is there and names its person. To end one is to delete its session; the
sockets that were opened with it are told to look whether they are still welcome.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any, Final
from uuid import UUID

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from chat.models import LogIn
from chat.services.broadcast import tell_access_changed
from chat.services.caller import Caller
from chat.services.conversations.temporary import TEMPORARY, end_of_session
from chat.services.pool import from_thread
from chat.services.together import Together

# A visit is written down once in so many seconds, of each session.
EVERY: Final = 300.0
REMEMBERED: Final = 10_000
# How many sessions are asked about in one statement.
TOGETHER: Final = 200

# How long a socket that opens waits for others, in seconds: nobody shall notice.
AT_THE_DOOR: Final = 0.005

# When a session was last written down by this process.
_noted: OrderedDict[str, float] = OrderedDict()


@dataclass(frozen=True, slots=True)
class KnownLogIn:
    id: str
    agent: str
    address: str
    created: datetime
    seen: datetime
    is_this: bool


def is_due(session_key: str) -> bool:
    """Whether a visit with this session is to be written down."""
    noted = _noted.get(session_key)
    return noted is None or monotonic() - noted > EVERY


def note_visit(user_id: int, session_key: str, agent: str = "", address: str = "") -> None:
    """Somebody was here, in this session; what is not said stays as it was."""
    _noted[session_key] = monotonic()
    _noted.move_to_end(session_key)
    while len(_noted) > REMEMBERED:
        _noted.popitem(last=False)
    said = {"agent": agent[:300], "address": address[:45]}
    said = {name: value for name, value in said.items() if value}
    now = timezone.now()
    rows = LogIn.objects.filter(session_key=session_key, user_id=user_id)
    # Not where the session has ended meanwhile: nothing would take its row away again.
    if not rows.update(seen=now, **said) and Session.objects.filter(pk=session_key).exists():
        LogIn.objects.update_or_create(
            session_key=session_key, defaults={"user_id": user_id, "seen": now, **said}
        )


def list_log_ins(caller: Caller, session_key: str) -> list[KnownLogIn]:
    """Where a person is logged in: this browser first, then the one that was used last."""
    rows = _open(LogIn.objects.filter(user_id=caller.user_id)).order_by("-seen", "-pk")
    listed = [
        KnownLogIn(
            id=str(row.pk),
            agent=row.agent,
            address=row.address,
            created=row.created,
            seen=row.seen,
            is_this=row.session_key == session_key,
        )
        for row in rows
    ]
    return sorted(listed, key=lambda each: not each.is_this)


def end_log_in(caller: Caller, log_in_id: str | UUID) -> bool:
    """Log one's other browser out; whether it was logged in."""
    return bool(_end(LogIn.objects.filter(user_id=caller.user_id, pk=log_in_id)))


def end_other_log_ins(caller: Caller, session_key: str) -> int:
    """Log out everywhere but here; of how many browsers."""
    return _end(LogIn.objects.filter(user_id=caller.user_id).exclude(session_key=session_key))


def end_all_log_ins(user_id: int) -> int:
    """Log somebody out everywhere."""
    return _end(LogIn.objects.filter(user_id=user_id))


def forget_log_in(session_key: str) -> None:
    """Its session has ended by itself."""
    LogIn.objects.filter(session_key=session_key).delete()


def forget_log_ins() -> None:
    """Delete what belongs to sessions that are gone."""
    LogIn.objects.exclude(pk__in=_open(LogIn.objects.all()).values("pk")).delete()


def _open(rows: QuerySet[LogIn]) -> QuerySet[LogIn]:
    sessions = Session.objects.filter(pk=OuterRef("session_key"), expire_date__gt=timezone.now())
    return rows.filter(Exists(sessions))


def _end(rows: QuerySet[LogIn]) -> int:
    found = list(rows)
    if not found:
        return 0
    keys = [row.session_key for row in found]
    sessions = Session.objects.filter(pk__in=keys)
    begun = [key for session in sessions for key in session.get_decoded().get(TEMPORARY, ())]
    sessions.delete()
    LogIn.objects.filter(pk__in=[row.pk for row in found]).delete()
    user_id = found[0].user_id
    transaction.on_commit(lambda: from_thread(tell_access_changed, user_id))
    transaction.on_commit(lambda: from_thread(end_of_session, user_id, begun))
    return len(found)


# --- whether a session still lets its person in ----------------------------------------


def _welcomes(asked: list[tuple[int, str]]) -> dict[tuple[int, str], bool]:
    """Of people and their sessions those that still let them in: not logged out, not switched off,
    and no other password since."""
    welcome: dict[tuple[int, str], bool] = {}
    for start in range(0, len(asked), TOGETHER):
        some = asked[start : start + TOGETHER]
        ids, keys = {user_id for user_id, _ in some}, {key for _, key in some}
        people = User.objects.filter(pk__in=ids, is_active=True).in_bulk()
        now = timezone.now()
        sessions = Session.objects.filter(pk__in=keys, expire_date__gt=now).in_bulk()
        for user_id, key in some:
            person, session = people.get(user_id), sessions.get(key)
            if person and session:
                welcome[user_id, key] = _lets_in(session, person)
    return welcome


def _lets_in(session: Session, person: User) -> bool:
    values: dict[str, Any] = SessionStore().decode(session.session_data)
    hashes = (person.get_session_auth_hash(), *person.get_session_auth_fallback_hash())
    return (
        BACKEND_SESSION_KEY in values
        and str(values.get(SESSION_KEY)) == str(person.pk)
        and values.get(HASH_SESSION_KEY) in hashes
    )


# For all sockets of a process at once, every few seconds.
welcomes: Together[tuple[int, str], bool] = Together(_welcomes, "welcomes")


def _visitors(keys: list[str]) -> dict[str, int]:
    """Of sessions those that let somebody in, and whom."""
    visitors: dict[str, int] = {}
    for start in range(0, len(keys), TOGETHER):
        found = Session.objects.filter(
            pk__in=keys[start : start + TOGETHER], expire_date__gt=timezone.now()
        )
        claimed = {session: _claimed(session) for session in found}
        people = User.objects.filter(pk__in={*claimed.values()}, is_active=True).in_bulk()
        for session, user_id in claimed.items():
            person = people.get(user_id)
            if person and _lets_in(session, person):
                visitors[session.pk] = person.pk
    return visitors


def _claimed(session: Session) -> int:
    """Whom a session names, nobody by 0."""
    said = str(SessionStore().decode(session.session_data).get(SESSION_KEY, ""))
    return int(said) if said.isdecimal() else 0


# For all sockets that open at a moment: a crowd of strangers costs one reading, and waits for
# nothing that belongs to those who are let in.
visitors: Together[str, int] = Together(_visitors, "visitors", AT_THE_DOOR)
