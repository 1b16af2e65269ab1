"""The end of a run: one write, and exactly one writer wins it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.models import Conversation, Generation, Message, Part
from chat.protocol import parts as values
from chat.protocol.messages import AnswerInfo
from chat.services.reading import answer_info
from chat.services.search_index import index_message

Placed = tuple[int, values.Part]

_GENERATION = {"success": "done", "cancelled": "stopped", "error": "failed"}
_CHANGING = ("text", "data", "tool_status", "ignored", "started_at", "ended_at")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, in the words of its message."""

    status: str
    finish_reason: str = ""
    error_key: str = ""
    error_data: dict[str, Any] = field(default_factory=dict)
    tokens: values.Tokens = field(default_factory=values.Tokens)
    cost: Decimal = Decimal(0)

    def with_usage(self, tokens: values.Tokens, cost: Decimal) -> "Outcome":
        return replace(self, tokens=tokens, cost=cost)


@dataclass(frozen=True, slots=True)
class Settled:
    """The conversation's new revision, and the answer as it is now kept."""

    rev: int
    info: AnswerInfo


def write_parts(placed: Sequence[Placed]) -> None:
    """Insert parts, or bring their rows forward."""
    if placed:
        Part.objects.bulk_create(
            [Part.of(part, position) for position, part in placed],
            update_conflicts=True,
            unique_fields=("id",),
            update_fields=_CHANGING,
        )


def settle(request_id: str, outcome: Outcome, placed: Sequence[Placed]) -> Settled | None:
    """End a run if it has not ended yet; nothing when somebody was first."""
    with transaction.atomic():
        now = timezone.now()
        won = Generation.objects.filter(pk=request_id, status="active").update(
            status=_GENERATION[outcome.status], finished=now
        )
        if not won:
            return None
        run = Generation.objects.only("message_id", "conversation_id").get(pk=request_id)
        write_parts(placed)
        _close_message(run.message_id, outcome)
        index_message(run.message_id)
        Conversation.objects.filter(pk=run.conversation_id).update(rev=F("rev") + 1, updated=now)
        rev = Conversation.objects.values_list("rev", flat=True).get(pk=run.conversation_id)
        info = answer_info(Message.objects.with_versions().get(pk=run.message_id))
        return Settled(rev=rev, info=info)


def _close_message(message_id: Any, outcome: Outcome) -> None:
    now = timezone.now()
    tokens = outcome.tokens
    Message.objects.filter(pk=message_id).update(
        status=outcome.status,
        finish_reason=outcome.finish_reason[:50],
        error_key=outcome.error_key,
        error_data=outcome.error_data,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        reasoning_tokens=tokens.reasoning,
        cache_read_tokens=tokens.cache.read,
        cache_write_tokens=tokens.cache.write,
        cost=round(outcome.cost, 8),
        updated=now,
        completed_at=now,
    )
