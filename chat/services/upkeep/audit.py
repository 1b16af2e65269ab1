"""Audit: what somebody did with the rights of an administrator is written down, for ever.

In the transaction of the act itself where there is one: what is rolled back did not happen.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import Model

from chat.models import AuditEntry, Budget, Conversation, DailyUsage, Profile
from chat.protocol.frozen import JsonObject
from chat.services.broadcast import tell_sidebar
from chat.services.caller import Caller
from chat.services.pool import from_thread

Verb = AuditEntry.Verb

# An owner is not interested in who read theirs years ago.
MOST_READS: Final = 200
# What was set for a person, or counted: not what they wrote, so nobody has read anything of theirs.
_ABOUT: Final = (Budget, DailyUsage, Profile)


def audit(
    caller: Caller,
    verb: AuditEntry.Verb,
    thing: Model,
    *,
    owner: User | None = None,
    reason: str = "",
    details: JsonObject | None = None,
) -> None:
    """Write down that somebody did something to a row. What belongs to somebody is called by its
    owner: the name of a row may be what was said in it. Whoever did it is called by their
    username: they choose the name that others read, and could choose somebody else's."""
    owner = owner or _owner_of(thing)
    name = "" if owner else str(thing)
    AuditEntry.objects.create(
        actor_id=caller.user_id or None,
        actor=_username(caller.user_id),
        verb=verb,
        kind=thing._meta.label_lower,
        object_id=str(thing.pk),
        name=name[:200],
        owner_id=owner.pk if owner else None,
        owner=owner.get_username() if owner else "",
        reason=reason[:500],
        details=details or {},
    )
    if owner and owner.pk != caller.user_id and not isinstance(thing, _ABOUT):
        Profile.objects.update_or_create(user=owner, defaults={"was_read": True})
        _tell(owner.pk)


def _username(user_id: int) -> str:
    names = User.objects.filter(pk=user_id).values_list("username", flat=True)
    return names.first() or ""


def write_history(
    caller: Caller, flag: int, things: Iterable[Model], message: str | list[Any] = ""
) -> list[LogEntry]:
    """Django's own history of the administration. It stays when its rows go, so what belongs to
    somebody is called by its kind and id."""
    told = message if isinstance(message, str) else json.dumps(message)
    return LogEntry.objects.bulk_create(
        LogEntry(
            user_id=caller.user_id,
            content_type=ContentType.objects.get_for_model(thing, for_concrete_model=False),
            object_id=str(thing.pk),
            object_repr=_history_name(thing)[:200],
            action_flag=flag,
            change_message=told,
        )
        for thing in things
    )


def _history_name(thing: Model) -> str:
    return f"{thing._meta.label_lower} {thing.pk}" if _owner_of(thing) else str(thing)


def _owner_of(thing: Model) -> User | None:
    """Whose it is: a conversation's owner, and that of whatever belongs to one; a person's own."""
    thing = getattr(thing, "conversation", None) or thing
    of = (getattr(thing, name, None) for name in ("owner", "person", "user"))
    return next((each for each in of if isinstance(each, User)), None)


def readings_of(caller: Caller) -> list[AuditEntry]:
    """Who else did something to one's conversations, the latest first; each with the title of the
    conversation, if that is still there."""
    entries = AuditEntry.objects.filter(owner_id=caller.user_id).exclude(actor_id=caller.user_id)
    entries = entries.exclude(kind__in=[model._meta.label_lower for model in _ABOUT])
    listed = list(entries[:MOST_READS])
    talks = [each.object_id for each in listed if each.kind == "chat.conversation"]
    mine = Conversation.objects.owned_by(caller.user_id).filter(pk__in=talks)
    titles = {str(row.pk): str(row) for row in mine}
    for each in listed:
        each.title = titles.get(each.object_id, "")  # type: ignore[attr-defined]  # for its page
    return listed


def note_readings_seen(caller: Caller) -> None:
    """Take the mark away that says that there is something new."""
    if Profile.objects.filter(user_id=caller.user_id, was_read=True).update(was_read=False):
        _tell(caller.user_id)


def _tell(user_id: int) -> None:
    """The mark stands under the list of their conversations, and is read with it."""
    transaction.on_commit(lambda: from_thread(tell_sidebar, user_id, ""))
