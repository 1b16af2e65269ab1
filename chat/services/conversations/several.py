"""Archive and delete many conversations in one act; `undo` takes it back for all of them."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.models import Conversation, Generation
from chat.protocol.events import Deleted
from chat.protocol.ids import is_uuid
from chat.protocol.stopped import StoppedBy
from chat.services.background import shielded
from chat.services.broadcast import publish, tell_sidebar
from chat.services.caller import Caller
from chat.services.pool import in_writer
from chat.services.processes.control import stop_runs

# More than a column lists before its reader asks for more, ten times over.
MOST_AT_ONCE = 1000


def own_ids(conversation_ids: Sequence[str]) -> list[str]:
    """Those that can be ids, each once, and not too many of them."""
    return [key for key in dict.fromkeys(conversation_ids) if is_uuid(key)][:MOST_AT_ONCE]


@shielded
async def archive_several(
    caller: Caller, conversation_ids: Sequence[str], *, archived: bool
) -> list[str]:
    """Take conversations out of the column, or bring them back; those that it was done to."""
    done = await in_writer(_archive, caller, conversation_ids, archived)
    await tell_sidebar(caller.user_id, "")
    return done


@shielded
async def delete_several(caller: Caller, conversation_ids: Sequence[str]) -> list[str]:
    """Take conversations out of sight; those that it was done to. What is answered there stops."""
    events, running = await in_writer(_delete, caller, conversation_ids)
    stop = StoppedBy(by_id=str(caller.user_id), reason="deleted")
    for key in running:
        await stop_runs(key, stop)
    for event in events:
        await publish(event.conversation_id, [event])
    await tell_sidebar(caller.user_id, "")
    return [event.conversation_id for event in events]


@transaction.atomic
def _archive(caller: Caller, conversation_ids: Sequence[str], archived: bool) -> list[str]:
    rows = Conversation.objects.kept_by(caller.user_id).filter(
        pk__in=own_ids(conversation_ids), archived_at__isnull=archived
    )
    done = [str(key) for key in rows.values_list("pk", flat=True)]
    rows.update(archived_at=timezone.now() if archived else None)
    return done


@transaction.atomic
def _delete(caller: Caller, conversation_ids: Sequence[str]) -> tuple[list[Deleted], list[str]]:
    """What to tell, and where an answer is being written."""
    rows = Conversation.objects.kept_by(caller.user_id).filter(pk__in=own_ids(conversation_ids))
    # All are held in one order, so that two who want the same ones do not wait for each other.
    held = dict(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", "rev"))
    Conversation.objects.filter(pk__in=held).update(deleted_at=timezone.now(), rev=F("rev") + 1)
    running = Generation.objects.filter(conversation_id__in=held, status="active")
    events = [Deleted(conversation_id=str(key), rev=rev + 1) for key, rev in held.items()]
    return events, [str(key) for key in running.values_list("conversation_id", flat=True)]
