"""Leaving: an account goes for good, with all that was its person's.

First nobody is let in any more: the account is switched off, its sessions end, its sockets close,
its answers are stopped. Then its conversations are deleted, some at a time, because others want to
write too; files and the folders of Claude Code go with them. The account itself goes last, and with
it what points to it. What was used stays in the sums, of nobody. A process that ends in between
leaves the account marked, and the next round of `processes/maintenance.py` goes on.
"""

import asyncio
import logging
from typing import Final

from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from chat.models import AuditEntry, Conversation, Generation, LogIn, Profile
from chat.protocol.errors import ChatError
from chat.services.background import Background, shielded
from chat.services.broadcast import tell_access_changed
from chat.services.caller import Caller
from chat.services.conversations.search_index import forget_removed_words
from chat.services.people.log_ins import end_all_log_ins
from chat.services.pool import in_pool, in_writer
from chat.services.processes.control import stop_all_of

log = logging.getLogger(__name__)

BATCH: Final = 20
# How long whoever asked waits for the end, in seconds; it comes all the same.
PATIENCE: Final = 10.0
# How long an answer that was stopped may take to be settled.
SETTLING: Final = 0.2

_removing = Background()


def is_last_superuser(person: User) -> bool:
    """Whether nobody else could give rights to anybody."""
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=person.pk)
    return person.is_superuser and not others.exists()


@shielded
async def delete_account(caller: Caller, user_id: int) -> None:
    """Delete one's own account, or somebody's as an administrator."""
    await in_writer(_close_doors, caller, user_id)
    await tell_access_changed(user_id)
    await stop_all_of(user_id)
    removing = _removing.spawn(_remove(user_id), f"removal of {user_id}")
    await asyncio.wait({removing}, timeout=PATIENCE)


async def go_on_removing() -> None:
    """Take up what a process that is gone has left half done."""
    if not _removing:
        for user_id in await in_pool(_half_gone):
            await stop_all_of(user_id)
            _removing.spawn(_remove(user_id), f"removal of {user_id}")


async def stop_removing() -> None:
    """Before the process goes: the next one goes on."""
    await _removing.cancel()


async def _remove(user_id: int) -> None:
    while await in_writer(_remove_some, user_id):
        if not await in_pool(_may_be_removed(user_id).exists):
            # The rest is still being written.
            await asyncio.sleep(SETTLING)
    await in_writer(_remove_person, user_id)
    while await in_writer(forget_removed_words):
        pass


# --- the rows -----------------------------------------------------------------------


@transaction.atomic
def _close_doors(caller: Caller, user_id: int) -> None:
    """Nobody comes in any more. What the audit log keeps of somebody who leaves by themselves is
    that an account was deleted."""
    # All administrators are held: of two who leave at the same moment, one stays.
    held = User.objects.select_for_update().filter(is_superuser=True).order_by("pk")
    list(held.values_list("pk", flat=True))
    person = User.objects.select_for_update().get(pk=user_id)
    if is_last_superuser(person):
        raise ChatError("error.chat_last_administrator")
    if caller.user_id == user_id:
        # The administration writes down by itself what is done there, and by whom.
        AuditEntry.objects.create(
            verb=AuditEntry.Verb.DELETE, kind=User._meta.label_lower, object_id=str(user_id)
        )
    User.objects.filter(pk=user_id).update(is_active=False)
    Profile.objects.update_or_create(user=person, defaults={"leaving": True})
    end_all_log_ins(user_id)


def _half_gone() -> list[int]:
    return list(Profile.objects.filter(leaving=True).values_list("user_id", flat=True))


def _may_be_removed(user_id: int) -> QuerySet[Conversation]:
    """What nothing writes any more: deleted earlier, its rows would come back half."""
    running = Generation.objects.filter(conversation=OuterRef("pk"), status="active")
    return Conversation.objects.filter(~Exists(running), owner_id=user_id)


def _remove_some(user_id: int) -> bool:
    """Some of their conversations; whether there are more."""
    for conversation in _may_be_removed(user_id).only("pk", "owner_id")[:BATCH]:
        conversation.delete()
    return Conversation.objects.filter(owner_id=user_id).exists()


@transaction.atomic
def _remove_person(user_id: int) -> None:
    person = User.objects.filter(pk=user_id).first()
    if person is None:
        return
    _forget_sessions(user_id)
    _forget_history(user_id)
    person.delete()


def _forget_history(user_id: int) -> None:
    """Django's own history of the administration has their name; it calls what was theirs by ids
    alone (`write_history`)."""
    LogEntry.objects.filter(content_type__model="user", object_id=str(user_id)).delete()


def _forget_sessions(user_id: int) -> None:
    """Those that nobody has written down, from before that was done."""
    unknown = ~Exists(LogIn.objects.filter(session_key=OuterRef("pk")))
    mine = [
        session.pk
        for session in Session.objects.filter(unknown).iterator()
        if str(session.get_decoded().get(SESSION_KEY)) == str(user_id)
    ]
    for start in range(0, len(mine), BATCH):
        Session.objects.filter(pk__in=mine[start : start + BATCH]).delete()
