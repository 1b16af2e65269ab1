"""Prices and what an answer cost (BR-12, A15)."""

from decimal import Decimal

import pytest

from chat.engine.usage import (
    Prices,
    Rates,
    Tier,
    cost_of,
    cost_of_call,
    last_tokens,
    total_cost,
)
from chat.protocol.factories import create_step_finish_part, create_text_part
from chat.protocol.ids import new_id
from chat.protocol.interfaces import Usage
from chat.protocol.parts import CacheTokens, Tokens

S, M = new_id(), new_id()


def rates(price: int) -> Rates:
    return Rates(*[Decimal(price)] * 4)


def test_small_prices_add_up_without_rounding():
    prices = Prices(Rates(input=Decimal("0.1"), output=Decimal("0.2")))
    assert cost_of(Tokens(input=1, output=1), prices) == Decimal("0.0000003")


@pytest.mark.parametrize(
    ("size", "price"), [(100, 1), (100_000, 1), (100_001, 2), (150_000, 2), (300_000, 3)]
)
def test_a_long_input_has_the_price_of_its_tier(size, price):
    prices = Prices(rates(1), (Tier(100_000, rates(2)), Tier(250_000, rates(3))), rates(9))
    assert prices.for_input(size) == rates(price)


def test_the_general_price_of_long_inputs_holds_where_no_tier_does():
    prices = Prices(rates(1), (), rates(9))
    cached = Tokens(input=1, cache=CacheTokens(read=200_000))
    assert prices.for_input(200_000) == rates(1)
    assert cost_of(cached, prices) == Decimal(200_001) * 9 / 1_000_000


def test_a_cost_below_zero_is_none():
    assert cost_of_call(Usage(Tokens(), cost=-1), Prices()) == 0


def test_a_message_has_the_last_steps_tokens_and_the_cost_of_all():
    one = Tokens(input=100, output=10, reasoning=1, cache=CacheTokens(read=2, write=3))
    parts = [
        create_step_finish_part(S, M, "tool-calls", 0.1, one),
        create_text_part(S, M, "x"),
        create_step_finish_part(S, M, "stop", 0.2, Tokens(input=140, output=20)),
    ]
    assert last_tokens(parts) == Tokens(input=140, output=20)
    assert total_cost(parts) == Decimal("0.3")
    assert last_tokens([]) == Tokens()
