"""Before a request that would not fit: old outputs are set aside, then older turns summed up."""

import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, cast

from django.db import transaction
from django.db.models import F

from chat.engine import context
from chat.models import Conversation, Message
from chat.protocol.events import Event
from chat.protocol.ids import now_ms
from chat.protocol.interfaces import ModelProvider, ModelRequest, TextDelta
from chat.protocol.messages import Summary, WithParts
from chat.protocol.parts import ToolPart
from chat.services.broadcast import publish
from chat.services.pool import in_pool
from chat.services.runs import Run
from chat.services.settle import Placed, write_parts

log = logging.getLogger(__name__)


async def make_fit(
    run: Run, provider: ModelProvider, build: Callable[[], ModelRequest], limit: int
) -> None:
    """Shorten what the run sends of the conversation until about `limit` tokens are left."""
    excess = context.estimate(build()) - limit
    ids = context.old_outputs(run.history, excess) if excess > 0 else []
    if ids:
        run.history = context.compacted(run.history, ids, now_ms())
        await in_pool(write_parts, _placed(run.history, ids))
        excess = context.estimate(build()) - limit
    if excess > 0:
        await _sum_up(run, provider, build(), limit)


async def _sum_up(run: Run, provider: ModelProvider, request: ModelRequest, limit: int) -> None:
    start = context.kept_from(run.history, limit // 2)
    if start == 0:
        return
    older, kept = run.history[:start], run.history[start:]
    text = await _ask(provider, context.summary_request(request, older, limit))
    if not text:
        return
    summary = Summary(body=text)
    first = kept[0].model_copy(
        update={"info": kept[0].info.model_copy(update={"summary": summary})}
    )
    run.history = (first, *kept[1:])
    rev = await in_pool(_keep, run.conversation_id, first.info.id, summary)
    told = Event(
        name="chat:edited",
        conversation_id=run.conversation_id,
        rev=rev,
        message_id=first.info.id,
    )
    await publish(run.conversation_id, [told])


async def _ask(provider: ModelProvider, request: ModelRequest) -> str:
    async with aclosing(cast("Any", provider.stream(request))) as stream:
        pieces = [event.text async for event in stream if isinstance(event, TextDelta)]
    return "".join(pieces).strip()


@transaction.atomic
def _keep(conversation_id: str, message_id: str, summary: Summary) -> int:
    """The summary stays with the message it leads up to (BR-11)."""
    Message.objects.filter(pk=message_id).update(
        summary=summary.model_dump(exclude_none=True), revision=F("revision") + 1
    )
    Conversation.objects.filter(pk=conversation_id).update(rev=F("rev") + 1)
    return Conversation.objects.values_list("rev", flat=True).get(pk=conversation_id)


def _placed(messages: tuple[WithParts, ...], ids: list[str]) -> list[Placed]:
    return [
        (position, part)
        for message in messages
        for position, part in enumerate(message.parts)
        if isinstance(part, ToolPart) and part.id in ids
    ]
