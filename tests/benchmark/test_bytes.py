"""What a tab is sent for an answer, at 20 ms per token (performance: bytes per character)."""

import asyncio

import pytest

from tests.benchmark.shapes import SHAPES, tokens_of
from tests.benchmark.virtual import bytes_once, bytes_per_character, frames_of
from tests.support.virtual_loop import VirtualLoop

MS = 20.0


@pytest.mark.parametrize("shape", SHAPES)
def test_a_character_costs_at_most_fourteen_bytes(shape: str) -> None:
    assert bytes_per_character(shape, 200, MS) <= 14


@pytest.mark.parametrize("shape", SHAPES)
def test_a_long_answer_costs_no_more_per_character_than_a_short_one(shape: str) -> None:
    """Growth is linear: 2,000 tokens here, 10,000 in the benchmark."""
    short, long = (bytes_per_character(shape, tokens, MS) for tokens in (200, 2_000))
    assert long <= 14
    assert long <= 1.2 * short


def test_what_every_answer_costs_stays_small() -> None:
    assert bytes_once(MS) < 3_100


@pytest.mark.parametrize(("shape", "size"), [("prose", 4.5), ("code", 4.5), ("chinese", 1.5)])
def test_tokens_have_the_size_that_tokenisers_give(shape: str, size: float) -> None:
    said = tokens_of(shape, 400)
    assert len(said) == 400
    assert sum(map(len, said)) / 400 == size


@pytest.mark.parametrize(
    ("token", "ms", "every"),
    [("words", 40, 40), ("word", 40, 80), ("字", 25, 100), ("字", 50, 100)],
)
def test_a_frame_waits_for_its_fifth_character_and_never_longer_than_100_ms(
    token: str, ms: float, every: float
) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        frames = runner.run(frames_of([token] * 200, ms))
    assert sum(token in frame for frame in frames) == pytest.approx(200 * ms / every, rel=0.05)
