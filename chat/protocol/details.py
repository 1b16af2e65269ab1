"""What is known of an answer besides its words, and what its conversation has taken so far."""

from dataclasses import dataclass, field, replace
from decimal import Decimal

from chat.protocol.messages import WithParts
from chat.protocol.parts import ReasoningPart, TextPart, Tokens, ToolPart
from chat.protocol.tool_state import ToolPending


@dataclass(frozen=True, slots=True)
class Spent:
    """What a number of model calls took together."""

    calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal = Decimal(0)

    def plus(self, tokens: Tokens, cost: Decimal) -> "Spent":
        return self.with_all(Spent(1, tokens, cost))

    def with_all(self, other: "Spent") -> "Spent":
        return replace(
            self,
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            cost=self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True)
class AnswerDetails:
    """An answer, what its steps took, and what the whole conversation took."""

    answer: WithParts
    # How hard the model was asked to think, where that was chosen.
    effort: str
    steps: Spent
    # All answers of the conversation, those out of sight too, and what was asked beside them.
    answers: Spent
    titles: Spent
    summaries: Spent

    @property
    def first_word_after(self) -> int | None:
        """Milliseconds from the question to the first word, thought or call of the model."""
        starts = [_start(part) for part in self.answer.parts]
        known = [start for start in starts if start is not None]
        return max(min(known) - self.answer.info.time.created, 0) if known else None


def _start(part: object) -> int | None:
    match part:
        case TextPart(time=time) | ReasoningPart(time=time):
            return time.start if time else None
        case ToolPart(state=state) if not isinstance(state, ToolPending):
            return state.time.start
        case _:
            return None
