"""What a model call used and cost: tokens that do not overlap, prices per million."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from chat.protocol.interfaces import Usage
from chat.protocol.parts import CacheTokens, Part, StepFinishPart, Tokens

_MILLION = Decimal(1_000_000)
LONG_INPUT = 200_000


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of a million tokens; thinking costs what output costs."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cache_read: Decimal = Decimal(0)
    cache_write: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Tier:
    """Other rates for a call whose whole input is above a size."""

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


def count_tokens(
    *,
    input: int = 0,
    output: int = 0,
    reasoning: int = 0,
    cache_read: int = 0,
    cache_write: int = 0,
    input_has_cache: bool = True,
    output_has_reasoning: bool = True,
) -> Tokens:
    """Tokens from a provider's totals; the flags say what its totals include."""
    cache = CacheTokens(read=max(cache_read, 0), write=max(cache_write, 0))
    thought = max(reasoning, 0)
    return Tokens(
        input=max(input - (cache.read + cache.write if input_has_cache else 0), 0),
        output=max(output - (thought if output_has_reasoning else 0), 0),
        reasoning=thought,
        cache=cache,
    )


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
    """What the provider says it cost (BR-12), else what our prices say."""
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


def token_sums(parts: Sequence[Part]) -> Tokens:
    """All steps together: what was paid for."""
    steps = [step.tokens for step in steps_of(parts)]
    return Tokens(
        input=sum(tokens.input for tokens in steps),
        output=sum(tokens.output for tokens in steps),
        reasoning=sum(tokens.reasoning for tokens in steps),
        cache=CacheTokens(
            read=sum(tokens.cache.read for tokens in steps),
            write=sum(tokens.cache.write for tokens in steps),
        ),
    )
