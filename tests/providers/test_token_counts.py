"""Tokens as providers count them, taken apart (BR-13)."""

import pytest

from chat.protocol.parts import CacheTokens, Tokens
from chat.providers.token_counts import count_tokens, read_count


def test_totals_that_leave_out_the_cache_are_taken_as_they_are() -> None:
    tokens = count_tokens(input=10, cache_read=100, cache_write=5, input_has_cache=False)
    assert tokens == Tokens(input=10, cache=CacheTokens(read=100, write=5))


def test_totals_that_leave_out_the_thinking_are_taken_as_they_are() -> None:
    tokens = count_tokens(output=10, reasoning=4, output_has_reasoning=False)
    assert (tokens.output, tokens.reasoning) == (10, 4)


def test_numbers_below_zero_count_as_none() -> None:
    assert (
        count_tokens(input=-1, output=-1, reasoning=-1, cache_read=-1, cache_write=-1) == Tokens()
    )


@pytest.mark.parametrize(
    ("value", "count"),
    [(7, 7), (7.9, 7), (0, 0), (-3, 0), (True, 0), ("7", 0), (None, 0), (10**30, 2**31 - 1)],
)
def test_only_a_number_is_a_count_and_none_is_larger_than_a_column(
    value: object, count: int
) -> None:
    assert read_count({"tokens": value}, "tokens") == count
    assert read_count(None, "tokens") == 0
