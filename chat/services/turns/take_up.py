"""Take up: go on with an answer that another process has left, or was writing when it died.

Of all that try one succeeds: the row must still have the owner and the attempt that were seen. Then
the run is made anew from its rows, and goes on after the last whole step. `runs/leave.py` is the
other half.
"""

import asyncio
import logging
import random
from collections import Counter
from dataclasses import replace
from enum import Enum
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now

from chat.models import Generation, Message, Process
from chat.protocol.errors import ChatError
from chat.protocol.follow import TAKEN_OVER
from chat.protocol.messages import AnswerInfo
from chat.services.background import Background
from chat.services.caller import Caller
from chat.services.catalog.known import Catalog
from chat.services.catalog.permissions import catalog_for
from chat.services.conversations.history import read_history, read_messages
from chat.services.notes import RunLeft
from chat.services.pool import in_pool, in_writer
from chat.services.processes import lease
from chat.services.processes.presence import is_watched
from chat.services.runs.generate import take_up_run
from chat.services.runs.leave import can_go_on, running_calls
from chat.services.runs.run import RUNS
from chat.services.runs.spec import RunSpec, choose_answerer, make_spec
from chat.services.turns.start import turn_in

log = logging.getLogger(__name__)

# So many processes may die of an answer; then a person decides whether it goes on.
MOST_CRASHES = 2
# How many answers are taken up side by side.
AT_ONCE = 4

# What this process is about to take up, and may have taken without holding it yet.
TAKING: Counter[UUID] = Counter()

# For so long, in seconds, an answer is left to the successor that was named.
FIRST_CHANCE = 1.0

_taking = Background()
_looking = Background()
# What was left to this process by name, and whether it is to look for what was left to anybody.
_given: list[UUID] = []
_wanted = False


class Left(Enum):
    """What becomes of an answer that was not taken up."""

    # Somebody else has it, or will.
    TO_OTHERS = 1
    # Nobody can go on with it by itself.
    TO_BE_SETTLED = 2


class _NotTaken(Exception):
    def __init__(self, left: Left) -> None:
        super().__init__(left.name)
        self.left = left


def takes_up() -> bool:
    """Whether this process goes on with what others leave: a server among servers, that stays."""
    return lease.serving and not lease.closing and connection.vendor != "sqlite"


def take_up_left(left: RunLeft) -> None:
    """A process that goes down has left an answer."""
    if not left.successor:
        _take_up_soon()
    elif lease.is_this(left.successor):
        _given.append(UUID(left.request_id))
        _begin()
    elif not _looking:
        _looking.spawn(_look_later(), "look for what was left")


async def _look_later() -> None:
    """Whoever was named may have gone down itself, or have enough to do."""
    await asyncio.sleep(FIRST_CHANCE)
    _take_up_soon()


def _take_up_soon() -> None:
    global _wanted
    _wanted = True
    _begin()


def _begin() -> None:
    if takes_up() and not _taking:
        _taking.spawn(_take_up(), "take up")


async def _take_up() -> None:
    global _wanted
    while _given or _wanted:
        if not _given:
            _wanted = False
            _given.extend(await in_pool(_left))
        given = _given.copy()
        _given.clear()
        await take_up_all(given)


def _left() -> list[UUID]:
    left = Generation.objects.filter(
        status="active", process__isnull=True, stop_requested_by__isnull=True
    )
    return list(left.values_list("pk", flat=True))


async def take_up_all(keys: list[UUID]) -> list[UUID]:
    """Go on with runs of nobody, some side by side; those that are to be settled instead."""
    to_be_settled: list[UUID] = []
    # The others look at the same answers.
    keys = random.sample(keys, len(keys))
    for at in range(0, len(keys), AT_ONCE):
        if not takes_up():
            break
        some = keys[at : at + AT_ONCE]
        became = await asyncio.gather(*map(take_up, some))
        to_be_settled += [
            key for key, left in zip(some, became, strict=True) if left is Left.TO_BE_SETTLED
        ]
    return to_be_settled


async def take_up(key: UUID) -> Left | None:
    """Go on with a run of nobody; nothing is left of it then."""
    TAKING[key] += 1
    try:
        take_up_run(await in_writer(_take, key))
    except _NotTaken as reason:
        return reason.left
    except Exception:  # one that cannot be read must not leave the others open
        log.exception("a run could not be taken up")
        return Left.TO_BE_SETTLED
    finally:
        TAKING[key] -= 1
        if not TAKING[key]:
            del TAKING[key]
    return None


def _is_held(key: UUID) -> bool:
    """Whether this process writes it, or is about to."""
    return TAKING[key] > 1 or any(run.request_id == str(key) for run in list(RUNS.values()))


@transaction.atomic
def _take(key: UUID) -> RunSpec:
    run = Generation.objects.select_related("process", "conversation").filter(pk=key).first()
    if run is None or run.status != "active":
        raise _NotTaken(Left.TO_OTHERS)
    crashes = run.flushed_seq // TAKEN_OVER
    owner = run.process
    if owner is not None:
        if owner.pk == lease.this_process():
            # What this process has lost itself broke here, and would break again.
            raise _NotTaken(Left.TO_OTHERS if _is_held(key) else Left.TO_BE_SETTLED)
        if crashes >= MOST_CRASHES:
            raise _NotTaken(Left.TO_BE_SETTLED)
        # Only by those who were there: where nobody was, it is as if one served alone.
        if owner.lease <= lease.began():
            others = lease.others_serve(before=owner.lease)
            raise _NotTaken(Left.TO_OTHERS if others else Left.TO_BE_SETTLED)
        run.flushed_seq = (crashes + 1) * TAKEN_OVER
    if len(RUNS) >= settings.PARLEY_LIMITS["generations_per_process"]:
        raise _NotTaken(Left.TO_OTHERS)
    seen = Generation.objects.filter(
        pk=key, status="active", attempt=run.attempt, stop_requested_by__isnull=True
    )
    if owner is None:
        seen = seen.filter(process__isnull=True)
    else:
        # One that only slept may have come back.
        gone = Process.objects.filter(pk=OuterRef("process_id"), lease__lt=Now())
        seen = seen.filter(Exists(gone), process=owner)
    if not seen.update(
        process=lease.this_process(), attempt=F("attempt") + 1, flushed_seq=run.flushed_seq
    ):
        stopped = run.stop_requested_by is not None
        raise _NotTaken(Left.TO_BE_SETTLED if stopped else Left.TO_OTHERS)
    if owner is not None:
        # A page may show words that were not kept: by the message's mark it knows.
        Message.objects.filter(pk=run.message_id).update(revision=F("revision") + 1)
    return _spec(run)


def _spec(run: Generation) -> RunSpec:
    """What the run needs to know: as when it began, from its rows."""
    conversation = run.conversation
    written = read_messages([run.message_id])
    if not written or not isinstance(info := written[0].info, AnswerInfo):
        raise _NotTaken(Left.TO_BE_SETTLED)
    caller = Caller(user_id=conversation.owner_id, tab_id=run.tab_id)
    turn = turn_in(caller, conversation)
    catalog = catalog_for(caller, turn.standing.catalog_stamp, trying=conversation.agent_id)
    # Another agent or model may have been chosen meanwhile, for the next turn.
    agent = next((agent.id for agent in catalog.agents.values() if agent.key == info.agent), None)
    conversation.agent_id = agent or conversation.agent_id
    try:
        answerer = choose_answerer(
            conversation,
            catalog,
            model_id=_model_of(catalog, info),
            instructions=turn.standing.instructions,
            folder_instructions=turn.standing.folder_instructions,
        )
    except ChatError:
        raise _NotTaken(Left.TO_BE_SETTLED) from None
    history = read_history(conversation.pk, before=info.position)
    spec = make_spec(conversation, run, written[0], answerer, history)
    if not can_go_on(spec, running_calls(spec.parts)):
        raise _NotTaken(Left.TO_BE_SETTLED)
    # What went on without anybody watching shall go on so.
    unwatched = spec.unwatched if is_watched(str(conversation.pk)) else "continue"
    return replace(
        spec,
        attempt=run.attempt + 1,
        seq=run.flushed_seq,
        taken_up=True,
        unwatched=unwatched,
    )


def _model_of(catalog: Catalog, info: AnswerInfo) -> UUID | None:
    refs = ((model.id, model.choice.ref) for model in catalog.models.values())
    named = (info.provider_id, info.model_id)
    return next((key for key, ref in refs if (ref.provider_id, ref.model_id) == named), None)
