"""Count: what an answer, a title or a summary took is added to the day of whoever asked for it.

One statement for each of them, in the transaction that ends it: nothing is counted twice, and
nothing is lost when the conversation is deleted, or kept nowhere in the first place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from typing import Final

from django.utils import timezone

from chat.engine.usage import steps_of, total_cost
from chat.models import DailyUsage
from chat.protocol.ids import made_ms
from chat.protocol.messages import AnswerInfo
from chat.protocol.parts import Part, ReasoningPart, TextPart, Tokens, ToolPart
from chat.protocol.tool_state import ToolPending
from chat.services import sql


@dataclass(frozen=True, slots=True)
class Used:
    """What was used: by whom and through what, then how much."""

    person_id: int
    agent: str
    provider_id: str
    model_id: str
    kind: str
    requests: int = 1
    errors: int = 0
    stopped: int = 0
    steps: int = 1
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: Decimal = Decimal(0)
    first_words: int = 0
    first_word_ms: int = 0


# A row of these is found, and the others are added to it.
_KEY: Final = ("person_id", "agent", "provider_id", "model_id", "kind")
_ALL: Final = tuple(field.name for field in fields(Used))
_ADDED: Final = tuple(name for name in _ALL if name not in _KEY)
_SENTENCE: Final = f"""INSERT INTO chat_dailyusage (day, {", ".join(_ALL)})
    VALUES {sql.places(("day", *_ALL))}
    ON CONFLICT (day, {", ".join(_KEY)}) DO UPDATE SET
    {", ".join(f"{name} = chat_dailyusage.{name} + excluded.{name}" for name in _ADDED)}"""


def today() -> date:
    """The day that is counted for: that of the server's zone, the same for everybody."""
    return timezone.localdate(timezone=timezone.get_default_timezone())


def count(used: Used) -> None:
    """Add it to today."""
    sql.change(_SENTENCE, today().isoformat(), *(getattr(used, name) for name in _ALL))


def count_answer(
    request_id: str, owner_id: int, info: AnswerInfo, parts: Sequence[Part], status: str
) -> None:
    """What one run has used. An answer that was continued has parts of earlier runs, which were
    counted when those ended: ids sort by time, so what is this run's comes after its own."""
    own = own_parts(request_id, parts)
    steps = steps_of(own)
    waited = waited_for(request_id, own)
    count(
        Used(
            person_id=owner_id,
            agent=info.agent,
            provider_id=info.provider_id,
            model_id=info.model_id,
            kind=DailyUsage.Kind.ANSWER.value,
            errors=int(status == "error"),
            stopped=int(status == "cancelled"),
            steps=len(steps),
            tool_calls=sum(isinstance(part, ToolPart) for part in own),
            **columns_of([step.tokens for step in steps]),
            cost=round(total_cost(own), 8),
            first_words=int(waited is not None),
            first_word_ms=waited or 0,
        )
    )


def own_parts(request_id: str, parts: Sequence[Part]) -> list[Part]:
    """Those that this run has added."""
    return [part for part in parts if part.id > request_id]


def waited_for(request_id: str, own: Sequence[Part]) -> int | None:
    """How long it took until something was seen, in milliseconds."""
    return next(_first_words(own, request_id), None)


def columns_of(steps: Sequence[Tokens]) -> dict[str, int]:
    """The tokens of all of them, by column."""
    used = sum(steps, Tokens())
    return {
        "input_tokens": used.input,
        "output_tokens": used.output,
        "reasoning_tokens": used.reasoning,
        "cache_read_tokens": used.cache.read,
        "cache_write_tokens": used.cache.write,
    }


def _first_words(parts: Sequence[Part], request_id: str) -> Iterator[int]:
    """How long after the request each part began to be seen, in milliseconds."""
    asked = made_ms(request_id)
    for part in parts:
        start = None
        match part:
            case TextPart(time=time) | ReasoningPart(time=time) if time is not None:
                start = time.start
            case ToolPart(state=state) if not isinstance(state, ToolPending):
                start = state.time.start
        if start is not None:
            yield max(start - asked, 0)
