"""Who is watching: every open socket is a view; the last one gone may end a run."""

import asyncio
import contextvars
import logging
import time

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.db.models.functions import Now

from chat.models import Conversation, Profile, View
from chat.services.broadcast import ask_processes
from chat.services.pool import in_pool
from chat.services.process import this_process
from chat.services.runs import RUNS, Stop

log = logging.getLogger(__name__)

# Pages without scripts come back every few seconds instead of staying.
_glimpsed: dict[str, float] = {}
_waiting: set[asyncio.Task[None]] = set()
_looked_at: set[str] = set()


async def attach(conversation_id: str, user_id: int, socket: str, tab_id: str) -> None:
    """Note a view; the same socket again changes nothing."""
    await in_pool(_attach, conversation_id, user_id, socket, tab_id)


async def detach(conversation_id: str, socket: str) -> None:
    """Forget a view, and look after the grace time whether anybody is left."""
    await in_pool(_detach, socket)
    look_later(conversation_id)


async def glimpse(conversation_id: str) -> None:
    """A page without scripts, or a client that asks now and then, is watching too."""
    glimpsed_here(conversation_id)
    if conversation_id not in RUNS:
        await ask_processes("glimpse", conversation_id=conversation_id)


def glimpsed_here(conversation_id: str) -> None:
    _glimpsed[conversation_id] = time.monotonic()


def look_later(conversation_id: str) -> None:
    """Stop the run of a conversation that nobody watches once the grace time is over."""
    if conversation_id in RUNS and conversation_id not in _looked_at:
        _looked_at.add(conversation_id)
        task = asyncio.get_running_loop().create_task(
            _look(conversation_id), context=contextvars.Context()
        )
        _waiting.add(task)
        task.add_done_callback(_waiting.discard)
        task.add_done_callback(lambda _: _looked_at.discard(conversation_id))


async def look_around() -> None:
    """See to the runs whose last view was closed in another process, or died with it."""
    grace = settings.PARLEY_LIMITS["grace_seconds"]
    long_ago = time.monotonic() - grace
    for conversation_id in [key for key, at in _glimpsed.items() if at < long_ago]:
        del _glimpsed[conversation_id]
    if RUNS:
        for conversation_id in set(RUNS) - await in_pool(_watched, list(RUNS)):
            look_later(conversation_id)


async def _look(conversation_id: str) -> None:
    grace = settings.PARLEY_LIMITS["grace_seconds"]
    await asyncio.sleep(grace)
    _looked_at.discard(conversation_id)
    run = RUNS.get(conversation_id)
    if run is None:
        return
    if time.monotonic() - _glimpsed.get(conversation_id, -grace) < grace:
        look_later(conversation_id)
        return
    try:
        go_on = run.assignment.unwatched == "continue" or await in_pool(
            _is_watched, conversation_id
        )
    except (DatabaseError, InterfaceError):
        log.exception("cannot see who is watching")
        return
    if not go_on:
        run.stop(Stop(reason="unwatched"))


def _attach(conversation_id: str, user_id: int, socket: str, tab_id: str) -> None:
    View.objects.update_or_create(
        socket=socket,
        defaults={
            "conversation_id": conversation_id,
            "user_id": user_id,
            "process_id": this_process(),
            "tab_id": tab_id[:100],
        },
    )


def _detach(socket: str) -> None:
    View.objects.filter(socket=socket).delete()


def _watched(conversation_ids: list[str]) -> set[str]:
    """Those that somebody looks at; views of dead processes do not count."""
    alive = View.objects.filter(conversation_id__in=conversation_ids, process__lease__gte=Now())
    return {str(pk) for pk in alive.values_list("conversation_id", flat=True)}


def _is_watched(conversation_id: str) -> bool:
    """Somebody looks, or the owner wishes it to go on without."""
    if _watched([conversation_id]):
        return True
    owner = Conversation.objects.filter(pk=conversation_id).values("owner_id")
    return Profile.objects.filter(user_id__in=owner, keep_generating=True).exists()
