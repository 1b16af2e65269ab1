"""Requests to a model whose answer is no message: what they take is counted all the same."""

from uuid import UUID

from chat.engine.collect import Collected
from chat.engine.usage import cost_of_call
from chat.models import BackgroundCall
from chat.protocol.interfaces import ModelProvider, ModelRequest, Usage
from chat.services.catalog.adjustments import remember_adjustment
from chat.services.catalog.known import ModelChoice
from chat.services.pool import in_writer


async def ask_in_background(
    provider: ModelProvider,
    request: ModelRequest,
    model: ModelChoice,
    conversation_id: str,
    purpose: BackgroundCall.Purpose,
) -> str:
    """The text of the answer; its tokens are kept with the conversation, also when it broke off,
    and what the server refused with its model."""
    collected = Collected()
    try:
        return await collected.collect(provider, request)
    finally:
        if collected.usage is not None:
            await in_writer(_count, collected.usage, model, conversation_id, purpose)
        for adjusted in collected.adjusted:
            await in_writer(remember_adjustment, model.ref, adjusted)


def _count(usage: Usage, model: ModelChoice, conversation_id: str, purpose: str) -> None:
    tokens = usage.tokens
    BackgroundCall.objects.create(
        conversation_id=UUID(conversation_id),
        purpose=purpose,
        provider_id=model.ref.provider_id,
        model_id=model.ref.model_id,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        reasoning_tokens=tokens.reasoning,
        cache_read_tokens=tokens.cache.read,
        cache_write_tokens=tokens.cache.write,
        cost=round(cost_of_call(usage, model.prices), 8),
    )
