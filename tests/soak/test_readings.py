"""A leak is seen, and what is only uneven is not: or the soak would prove nothing."""

import random

import pytest

from tests.soak.readings import Reading, growth

FIRST = Reading(turns=0, memory=120_000, threads=20, descriptors=40, tasks=12, database=4, redis=2)


def run(number: int = 20, **each: int) -> list[Reading]:
    """Readings every two hundred turns in which these grow by so much; all are uneven a little."""
    dice = random.Random(8)
    return [
        FIRST.but(
            turns=200 * n,
            memory=FIRST.memory + dice.randint(-800, 800) + each.get("memory", 0) * n,
            **{
                name: getattr(FIRST, name) + dice.randint(0, 2) + each.get(name, 0) * n
                for name in ("threads", "descriptors", "tasks", "database", "redis")
            },
        )
        for n in range(number)
    ]


def test_what_is_uneven_is_flat() -> None:
    assert growth(run()) == []


def test_what_grows_at_the_start_alone_is_flat() -> None:
    warming = [each.but(memory=each.memory - 9_000 * (6 - n), threads=each.threads - 2 * (6 - n))
               for n, each in enumerate(run(6))]  # fmt: skip
    assert growth(warming + [each.but(turns=each.turns + 1_200) for each in run(14)]) == []


def test_one_odd_reading_is_no_growth() -> None:
    readings = run()
    readings[-1] = readings[-1].but(memory=readings[-1].memory + 40_000)
    assert growth(readings) == []


@pytest.mark.parametrize("name", ["threads", "descriptors", "tasks", "database", "redis"])
def test_one_more_in_every_reading_is_seen(name: str) -> None:
    [said] = growth(run(**{name: 1}))
    assert said.startswith(f"{name}: ")


def test_two_kilobytes_of_a_turn_are_seen() -> None:
    [said] = growth(run(memory=400))
    assert said.startswith("memory: ")


def test_few_readings_are_no_proof() -> None:
    assert growth(run(5)) == ["5 readings say nothing"]
