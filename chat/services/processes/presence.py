"""Who is watching: tabs, not pages; an answer whose last tab was closed may be stopped.

A tab that goes to another page of ours still counts for what it showed before. A tab that says it
is closed (`detach`) counts for the grace time longer, for a reload says so too; one whose
connection is lost counts much longer, for it may only be in a tunnel.
"""

import logging
import time
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from chat.models import Conversation, Profile, View
from chat.protocol.ids import new_id
from chat.protocol.stopped import StoppedBy
from chat.services import sql, statements
from chat.services.broadcast import tell_processes, tell_sidebar
from chat.services.caller import Caller
from chat.services.notes import Seen
from chat.services.pool import in_pool, in_writer
from chat.services.processes.lease import this_process
from chat.services.runs.run import RUNS

log = logging.getLogger(__name__)

# The tab of a page that was loaded and has not attached: perhaps it has no scripts.
PAGE = ""

# When a conversation was last looked at without a socket: pages without scripts, and programs,
# come back every few seconds instead of staying.
_seen: dict[str, float] = {}


# --- tabs -------------------------------------------------------------------------


async def attach_view(
    caller: Caller, conversation_id: str, socket: str, *, hidden: bool = False
) -> None:
    """A socket of a tab is open, on a conversation or on a page without one."""
    if await in_writer(_attach, caller, conversation_id, socket, hidden):
        await tell_sidebar(caller.user_id, conversation_id)


async def expect_view(caller: Caller, conversation_id: str) -> None:
    """A tab is on its way to a conversation that it has just begun."""
    if caller.tab_id:
        socket = new_id()
        await attach_view(caller, conversation_id, socket, hidden=True)
        await leave_view(caller, socket, closed=False)


async def look(caller: Caller, conversation_id: str, socket: str, *, hidden: bool) -> None:
    """A page has come to the front, or lies behind others now."""
    if await in_writer(_look, caller, conversation_id, socket, hidden):
        await tell_sidebar(caller.user_id, conversation_id)


async def leave_view(caller: Caller, socket: str, *, closed: bool) -> None:
    """A socket is gone: its tab was closed, or only the connection lost."""
    await in_writer(_leave, caller, socket, closed)


async def mark_read(caller: Caller, conversation_id: str) -> None:
    """Somebody sees a conversation now; its row says so in every tab."""
    if await in_writer(statements.mark_read, caller.user_id, UUID(conversation_id)):
        await tell_sidebar(caller.user_id, conversation_id)


async def note_page(caller: Caller, conversation_id: str) -> None:
    """A page of a temporary chat was loaded. If it has scripts, its tab says the rest; if not, it
    counts as a tab whose connection was lost now, for nobody learns when it is closed."""
    await in_writer(_note_page, caller, conversation_id)


def forget_views() -> None:
    """Views that were left, of conversations in which nothing is being written any more."""
    statements.forget_left_views()


# --- without a socket -------------------------------------------------------------


async def see(conversation_id: str) -> None:
    """A page without scripts shows the conversation now: it counts as watching for a while, and
    what it sees is stopped if it does not come back."""
    seen_here(conversation_id)
    if conversation_id not in RUNS:
        await tell_processes(Seen(conversation_id))


def seen_here(conversation_id: str) -> None:
    _seen[conversation_id] = time.monotonic()


# --- stopping ---------------------------------------------------------------------


async def stop_unwatched() -> None:
    """Stop the answers of this process that nobody watches and nobody wants to go on."""
    long_ago = time.monotonic() - settings.PARLEY_LIMITS["grace_seconds"]
    for conversation_id in [key for key, at in _seen.items() if at < long_ago]:
        del _seen[conversation_id]
    # Whoever has just asked may still be on the way to the page that shows it.
    asked = [
        run.conversation_id
        for run in list(RUNS.values())
        if run.spec.unwatched == "stop" and run.began_at < long_ago
    ]
    asked = [conversation_id for conversation_id in asked if conversation_id not in _seen]
    if not asked:
        return
    try:
        unwatched = set(asked) - await in_pool(_watched, asked)
    except (DatabaseError, InterfaceError):
        log.exception("cannot see who is watching")
        return
    for conversation_id in unwatched:
        run = RUNS.get(conversation_id)
        if run is not None and conversation_id not in _seen:
            run.stop(StoppedBy(reason="unwatched"))


# --- the rows ---------------------------------------------------------------------


@transaction.atomic
def _attach(caller: Caller, conversation_id: str, socket: str, hidden: bool) -> bool:
    key = UUID(conversation_id) if conversation_id else None
    statements.write_view(
        sql.new(
            View,
            conversation_id=key,
            user_id=caller.user_id,
            process_id=this_process(),
            socket=socket,
            tab_id=_tab(caller, socket),
            hidden=hidden,
        )
    )
    return key is not None and not hidden and statements.mark_read(caller.user_id, key)


@transaction.atomic
def _look(caller: Caller, conversation_id: str, socket: str, hidden: bool) -> bool:
    View.objects.filter(socket=socket).update(hidden=hidden)
    return not hidden and statements.mark_read(caller.user_id, UUID(conversation_id))


@transaction.atomic
def _leave(caller: Caller, socket: str, closed: bool) -> None:
    statements.leave_views(caller.user_id, _tab(caller, socket), socket, closed=closed)


@transaction.atomic
def _note_page(caller: Caller, conversation_id: str) -> None:
    mine = {"conversation_id": UUID(conversation_id), "user_id": caller.user_id, "tab_id": PAGE}
    View.objects.filter(**mine).delete()
    View.objects.create(
        **mine, socket=new_id(), process_id=this_process(), hidden=True, left_at=Now()
    )


def _tab(caller: Caller, socket: str) -> str:
    """A program that names no tab is one of its own."""
    return caller.tab_id or socket


def is_watched(conversation_id: str) -> bool:
    """Whether a tab counts as watching a conversation, or its owner wants answers to go on."""
    return conversation_id in _seen or bool(_watched([conversation_id]))


def _watched(conversation_ids: list[str]) -> set[str]:
    """Those that a tab still counts for, in which something is queued behind the answer, or
    whose owner wants answers to go on without."""
    views = counting_views().filter(conversation_id__in=conversation_ids)
    wanted = Profile.objects.filter(user_id=OuterRef("owner_id"), keep_generating=True)
    is_queued = Q(queue_held=False) & Q(queued__isnull=False)
    kept = Conversation.objects.filter(Exists(wanted) | is_queued, pk__in=conversation_ids)
    found = [*views.values_list("conversation_id", flat=True), *kept.values_list("pk", flat=True)]
    return {str(pk) for pk in found}


def counting_views() -> QuerySet[View]:
    """The views of tabs that count as watching what they show, or have shown."""
    grace = Now() - timedelta(seconds=settings.PARLEY_LIMITS["grace_seconds"])
    lost = Now() - timedelta(seconds=settings.PARLEY_LIMITS["lost_seconds"])
    same_tab = View.objects.filter(user_id=OuterRef("user_id"), tab_id=OuterRef("tab_id"))
    is_open = Q(left_at__isnull=True, process__lease__gte=Now())
    # Of a process that died, and lost when it did, unless the tab has come back since.
    is_lost = Q(left_at__isnull=True, process__lease__gte=lost) & ~Exists(
        same_tab.filter(created__gt=OuterRef("created"))
    )
    counts = (
        Q(left_at__gte=grace, closed=True)
        | Q(left_at__gte=lost, closed=False)
        | is_open
        | is_lost
        | Exists(same_tab.filter(is_open))
    )
    attached = View.objects.filter(
        conversation_id=OuterRef("conversation_id"),
        user_id=OuterRef("user_id"),
        created__gte=OuterRef("created"),
    )
    has_scripts = Q(tab_id=PAGE) & Exists(attached.exclude(tab_id=PAGE))
    return View.objects.filter(counts, ~has_scripts)
