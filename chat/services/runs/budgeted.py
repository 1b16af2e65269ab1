"""A model that somebody with a budget asks: before every request it is seen what is left."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import UUID

from chat.engine import context
from chat.engine.usage import steps_of, total_cost
from chat.protocol.interfaces import ModelProvider, ModelRequest, ProviderEvent
from chat.protocol.parts import Tokens
from chat.services.pool import in_writer
from chat.services.runs.run import Run
from chat.services.usage.count import own_parts
from chat.services.usage.spend import EXPECTED_OUTPUT, reserve


class BudgetedProvider:
    """Implements `ModelProvider`: sets aside what a request will about take, then makes it."""

    def __init__(self, provider: ModelProvider, run: Run) -> None:
        self._provider = provider
        self._run = run

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        run = self._run
        # What an answer that is continued took before was counted when it ended.
        own = own_parts(run.request_id, run.assembly.parts())
        output = min(request.output_limit or EXPECTED_OUTPUT, EXPECTED_OUTPUT)
        await in_writer(
            reserve,
            UUID(run.request_id),
            run.spec.user_id,
            sum((step.tokens for step in steps_of(own)), Tokens()),
            total_cost(own),
            Tokens(input=context.estimate(request), output=output),
            run.spec.model.prices,
        )
        async with aclosing(self._provider.stream(request)) as events:
            async for event in events:
                yield event
