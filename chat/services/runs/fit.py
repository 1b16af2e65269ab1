"""Before a request that would not fit: old outputs are set aside, then older turns summed up."""

from collections.abc import Callable, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import F

from chat.engine import context
from chat.models import BackgroundCall, Message
from chat.protocol.events import SUMMING_UP, Edited, Retry
from chat.protocol.ids import now_ms
from chat.protocol.interfaces import ModelProvider, ModelRequest
from chat.protocol.messages import Summary, WithParts
from chat.protocol.parts import ToolPart
from chat.services.access import lock_row
from chat.services.broadcast import publish
from chat.services.conversations.revision import edited, raise_rev
from chat.services.pool import in_writer
from chat.services.runs.background_calls import For, ask_in_background
from chat.services.runs.rows import Placed, write_parts
from chat.services.runs.run import Run


async def make_fit(
    run: Run, provider: ModelProvider, build: Callable[[], ModelRequest], limit: int
) -> None:
    """Shorten what the run sends of the conversation until about `limit` tokens are left."""
    excess = context.estimate(build()) - limit
    ids = context.old_outputs(run.history, excess) if excess > 0 else []
    if ids:
        run.history = context.compacted(run.history, ids, now_ms())
        placed = _placed(run.history, ids)
        event = await in_writer(_write_compacted, run.conversation_id, placed)
        await publish(run.conversation_id, [event])
        excess = context.estimate(build()) - limit
    if excess > 0:
        await _sum_up(run, provider, build(), limit)


async def _sum_up(run: Run, provider: ModelProvider, request: ModelRequest, limit: int) -> None:
    start = context.kept_from(run.history, limit // 2)
    if start == 0:
        return
    older, kept = run.history[:start], run.history[start:]
    # It may take minutes: whoever waits sees what for.
    run.tell(
        Retry(
            conversation_id=run.conversation_id,
            error_key=SUMMING_UP,
            attempt=0,
            attempts=0,
            wait=0,
        )
    )
    text = await ask_in_background(
        provider,
        context.summary_request(request, older, limit),
        run.spec.model,
        For(
            run.spec.user_id,
            run.conversation_id,
            run.info.agent,
            BackgroundCall.Purpose.SUMMARY,
        ),
        use=str.strip,
    )
    if not text:
        return
    summary = Summary(body=text)
    first = kept[0].model_copy(
        update={"info": kept[0].info.model_copy(update={"summary": summary})}
    )
    run.history = (first, *kept[1:])
    event = await in_writer(_write_summary, run.conversation_id, first.info.id, summary)
    await publish(run.conversation_id, [event])


@transaction.atomic
def _write_compacted(conversation_id: str, placed: Sequence[Placed]) -> Edited:
    """The outputs are marked as no longer sent; they themselves are kept."""
    conversation = lock_row(conversation_id)
    write_parts(placed)
    raise_rev(conversation)
    changed = dict.fromkeys(UUID(part.message_id) for _, part in placed)
    return edited(conversation, list(changed))


@transaction.atomic
def _write_summary(conversation_id: str, message_id: str, summary: Summary) -> Edited:
    """The summary stays with the message it leads up to (BR-11)."""
    conversation = lock_row(conversation_id)
    Message.objects.filter(pk=message_id).update(
        summary=summary.model_dump(exclude_none=True), revision=F("revision") + 1
    )
    raise_rev(conversation)
    return edited(conversation, [UUID(message_id)])


def _placed(messages: tuple[WithParts, ...], ids: Sequence[str]) -> list[Placed]:
    return [
        (position, part)
        for message in messages
        for position, part in enumerate(message.parts)
        if isinstance(part, ToolPart) and part.id in ids
    ]
