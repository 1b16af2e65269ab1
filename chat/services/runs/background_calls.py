"""Requests to a model whose answer is no message: what they take is counted all the same."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TypeVar
from uuid import UUID

from django.db import transaction

from chat.engine.collect import Collected
from chat.engine.usage import cost_of_call
from chat.models import BackgroundCall
from chat.protocol.interfaces import ModelProvider, ModelRequest, Usage
from chat.services import sql, statements
from chat.services.catalog.adjustments import remember_adjustment
from chat.services.catalog.known import ModelChoice
from chat.services.pool import in_transaction, in_writer
from chat.services.telemetry.metrics import count_tokens
from chat.services.usage.count import Used, columns_of, count

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class For:
    """Whose conversation a request is made for, who answers there, and what it shall bring."""

    person_id: int
    conversation_id: str
    agent: str
    purpose: BackgroundCall.Purpose


async def ask_in_background(
    provider: ModelProvider,
    request: ModelRequest,
    model: ModelChoice,
    wanted: For,
    *,
    use: Callable[[str], T],
    patience: float | None = None,
) -> T:
    """Ask, for so many seconds at most; `use` makes something of the answer, in the transaction
    that counts its tokens. They are counted also when it broke off, and what the server refused is
    kept with its model."""
    collected = Collected()
    try:
        async with asyncio.timeout(patience):
            text = await collected.collect(provider, request)
    except BaseException:
        await in_transaction(_count, collected.usage, model, wanted, _nothing, complete=False)
        raise
    finally:
        for adjusted in collected.adjusted:
            await in_writer(remember_adjustment, model.ref, adjusted)
    use_it = partial(use, text)
    return await in_transaction(_count, collected.usage, model, wanted, use_it, complete=True)


def _nothing() -> None:
    """An answer that broke off is of no use."""


@transaction.atomic
def _count(
    usage: Usage | None, model: ModelChoice, wanted: For, use: Callable[[], T], *, complete: bool
) -> T:
    tokens = columns_of([usage.tokens] if usage else [])
    if usage:
        spent = (model.ref.model_id, wanted.purpose.value, usage.tokens)
        transaction.on_commit(partial(count_tokens, *spent))
    cost = round(Decimal(str(cost_of_call(usage, model.prices))), 8) if usage else Decimal(0)
    ref = model.ref
    if usage:
        statements.write_background_call(
            sql.new(
                BackgroundCall,
                conversation_id=UUID(wanted.conversation_id),
                purpose=wanted.purpose,
                provider_id=ref.provider_id,
                model_id=ref.model_id,
                cost=cost,
                **tokens,
            )
        )
    count(
        Used(
            person_id=wanted.person_id,
            agent=wanted.agent,
            provider_id=ref.provider_id,
            model_id=ref.model_id,
            kind=wanted.purpose.value,
            errors=int(not complete),
            cost=cost,
            **tokens,
        )
    )
    return use()
