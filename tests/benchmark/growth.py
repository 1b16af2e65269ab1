"""Whether anything costs more than it grows: answers, histories, conversations, rows.

Processor time of the server is compared with itself, so these figures need no relay.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.benchmark.stage import Person, Stage

MS = 20.0
# Several at once: what the server does anyway is then small beside them.
TOGETHER = 8
# Tokens in an event: a long answer must not take a minute.
BURST = 10

Costs = dict[str, float]


@dataclass(frozen=True, slots=True)
class Lengths:
    """What is compared with what: the first of each with the others."""

    answers: tuple[int, ...] = (1_000, 10_000)
    messages: tuple[int, ...] = (10, 100, 1_000)
    conversations: tuple[int, ...] = (1, 1_000)
    # Messages that others have written.
    rows: int = 20_000
    rounds: int = 3


def growth(stage: Stage, lengths: Lengths) -> Costs:
    return (
        dict(_answers(stage, lengths))
        | _compared(stage, "messages", lengths.messages, lengths.rounds)
        | _compared(stage, "conversations", lengths.conversations, lengths.rounds)
        | dict(_rows(stage, lengths))
    )


def _answers(stage: Stage, lengths: Lengths) -> Iterator[tuple[str, float]]:
    """Processor time per token, by the length of the answer."""
    for tokens in lengths.answers:
        each = stage.run("parley", "prose", tokens, streams=4, ms=MS, burst=BURST)
        cost = each.cpu_per_1k_tokens_streaming
        yield f"growth_answer_{tokens}_cpu_s_per_1k_tokens", round(cost, 4)


def _compared(stage: Stage, what: str, sizes: tuple[int, ...], rounds: int) -> Costs:
    """What a turn and a page cost people who have more and more of something."""
    groups = {size: stage.make(TOGETHER, **{"messages": 2, what: size}) for size in sizes}
    found: dict[int, list[Costs]] = {size: [] for size in sizes}
    for _ in range(rounds):
        for size, people in groups.items():
            found[size].append(_costs(stage, people))
    return {
        f"growth_{what}_{size}_{name}": min(costs[name] for costs in found[size])
        for size in sizes
        for name in ("turn_cpu_ms", "page_cpu_ms")
    }


def _rows(stage: Stage, lengths: Lengths) -> Iterator[tuple[str, float]]:
    """The same for people who have little, before and after others have written much."""
    for size in (0, lengths.rows):
        if size:
            stage.make(size // 100, messages=100)
        people = stage.make(TOGETHER, messages=2)
        found = [_costs(stage, people) for _ in range(lengths.rounds)]
        for name in ("turn_cpu_ms", "page_cpu_ms"):
            yield f"growth_rows_{size}_{name}", min(costs[name] for costs in found)


def _costs(stage: Stage, people: list[Person]) -> Costs:
    turns = stage.run("parley", "prose", 10, streams=len(people), ms=MS, people=people)
    assert not turns.failed, turns.failed
    return {
        "turn_cpu_ms": round(1000 * turns.cpu_with_rest / len(people), 2),
        "page_cpu_ms": round(1000 * stage.open_pages(people) / len(people), 2),
    }
