"""What model calls cost: prices per million tokens, by the tokens that were used."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from chat.protocol.interfaces import Usage
from chat.protocol.parts import Part, StepFinishPart, Tokens

_MILLION = Decimal(1_000_000)
LONG_INPUT = 200_000


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of a million tokens; reasoning costs what output costs."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cache_read: Decimal = Decimal(0)
    cache_write: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Tier:
    """Other rates for a call whose input, cached tokens included, is above a size."""

    above: int
    rates: Rates


@dataclass(frozen=True, slots=True)
class Prices:
    """A model's rates; its own tiers come before the general one for long inputs."""

    rates: Rates = Rates()
    tiers: tuple[Tier, ...] = ()
    long_input: Rates | None = None

    def for_input(self, size: int) -> Rates:
        reached = [tier for tier in self.tiers if size > tier.above]
        if reached:
            return max(reached, key=lambda tier: tier.above).rates
        if self.long_input and size > LONG_INPUT:
            return self.long_input
        return self.rates


def cost_of(tokens: Tokens, prices: Prices) -> Decimal:
    rates = prices.for_input(tokens.input + tokens.cache.read + tokens.cache.write)
    total = (
        tokens.input * rates.input
        + (tokens.output + tokens.reasoning) * rates.output
        + tokens.cache.read * rates.cache_read
        + tokens.cache.write * rates.cache_write
    )
    return total / _MILLION


def cost_of_call(usage: Usage, prices: Prices) -> float:
    """The cost that the provider reports (BR-12), else the one by our prices."""
    if usage.cost is not None:
        return max(usage.cost, 0.0)
    return float(cost_of(usage.tokens, prices))


def steps_of(parts: Sequence[Part]) -> tuple[StepFinishPart, ...]:
    return tuple(part for part in parts if isinstance(part, StepFinishPart))


def last_tokens(parts: Sequence[Part]) -> Tokens:
    """A message's tokens are those of its last step: how full the context is."""
    steps = steps_of(parts)
    return steps[-1].tokens if steps else Tokens()


def total_cost(parts: Sequence[Part]) -> Decimal:
    return sum((Decimal(str(step.cost)) for step in steps_of(parts)), Decimal(0))
