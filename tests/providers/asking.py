"""Ask a provider and keep its whole answer, with the error that ended it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import (
    CaughtUp,
    Finish,
    ModelMessage,
    ModelProvider,
    ModelRequest,
    ProviderEvent,
    ReasoningDelta,
    Retrying,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolSpec,
    Usage,
)
from chat.providers.retry import RetryPolicy

WEATHER = ToolSpec(
    name="get_weather",
    description="The weather in a city.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}},
)


def request(text: str = "Hello", **options: object) -> ModelRequest:
    messages = (ModelMessage("user", (TextBlock(text),)),)
    return ModelRequest(model="scripted-small", messages=messages, **options)  # type: ignore[arg-type]


@dataclass
class Naps:
    """Remembers how long it was told to sleep."""

    taken: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)

    @property
    def policy(self) -> RetryPolicy:
        return RetryPolicy(sleep=self)


@dataclass
class Answer:
    """An answer, event by event, and the error that ended it, if one did."""

    events: list[ProviderEvent] = field(default_factory=list)
    error: ProviderError | None = None

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def reasoning(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ReasoningDelta))

    @property
    def calls(self) -> list[ToolCall]:
        return [event for event in self.events if isinstance(event, ToolCall)]

    @property
    def retries(self) -> list[Retrying]:
        return [event for event in self.events if isinstance(event, Retrying)]

    @property
    def usage(self) -> Usage | None:
        """What was counted last: a server may count while it writes."""
        counted = [event for event in self.events if isinstance(event, Usage)]
        return counted[-1] if counted else None

    @property
    def finish(self) -> str | None:
        last = self.events[-1] if self.events else None
        return last.reason if isinstance(last, Finish) else None

    @property
    def fault(self) -> str:
        """The key of the error without what all keys have in common."""
        return self.error.key.removeprefix("error.chat_provider_") if self.error else ""


async def ask(provider: ModelProvider, asked: ModelRequest | None = None) -> Answer:
    answer = Answer()
    events: AsyncIterator[ProviderEvent] = provider.stream(asked or request())
    try:
        async for event in events:
            # When it comes depends on how the answer was cut.
            if not isinstance(event, CaughtUp):
                answer.events.append(event)
    except ProviderError as error:
        answer.error = error
    return answer
