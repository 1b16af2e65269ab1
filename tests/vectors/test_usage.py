"""Tokens and costs against the reference cases (BR-12, BR-13)."""

from decimal import Decimal
from typing import Any

import pytest

from chat.engine.usage import Prices, Rates, Tier, cost_of
from chat.providers.token_counts import count_tokens
from tests.vectors.cases import cases, only

CACHE_WRITES = (
    ("anthropic", "cacheCreationInputTokens"),
    ("vertex", "cacheCreationInputTokens"),
    ("venice", "usage", "cacheCreationInputTokens"),
    ("bedrock", "usage", "cacheWriteInputTokens"),
)


def dig(data: Any, path: tuple[str, ...]) -> int:
    for name in path:
        data = data.get(name) if isinstance(data, dict) else None
    return data or 0


def rates(cost: dict[str, Any]) -> Rates:
    only(cost, "input", "output", "cache", "tiers", "tier", "experimentalOver200K")
    cache = cost.get("cache", {})
    return Rates(
        input=Decimal(str(cost.get("input", 0))),
        output=Decimal(str(cost.get("output", 0))),
        cache_read=Decimal(str(cache.get("read", 0))),
        cache_write=Decimal(str(cache.get("write", 0))),
    )


def prices(cost: dict[str, Any]) -> Prices:
    over = cost.get("experimentalOver200K")
    tiers = tuple(Tier(tier["tier"]["size"], rates(tier)) for tier in cost.get("tiers", ()))
    return Prices(rates(cost), tiers, rates(over) if over else None)


@pytest.mark.parametrize("case", cases("tool_state_and_parts", "usage_cases"))
def test_usage_becomes_tokens_and_a_cost(case):
    only(case, "usage", "metadata", "model_cost", "expect")
    only(case["expect"], "tokens", "cost")
    usage, metadata = case["usage"], case.get("metadata") or {}
    known = ("inputTokens", "outputTokens", "reasoningTokens", "totalTokens")
    details = ("inputTokenDetails", "outputTokenDetails")
    only(
        usage,
        *known,
        "cacheReadInputTokens",
        "cachedInputTokens",
        "cacheWriteInputTokens",
        *details,
    )
    into, out = (usage.get(name) or {} for name in details)
    tokens = count_tokens(
        input=usage.get("inputTokens") or 0,
        output=usage.get("outputTokens") or 0,
        reasoning=usage.get("reasoningTokens") or out.get("reasoningTokens") or 0,
        cache_read=usage.get("cacheReadInputTokens")
        or usage.get("cachedInputTokens")
        or into.get("cacheReadTokens")
        or 0,
        cache_write=usage.get("cacheWriteInputTokens")
        or into.get("cacheWriteTokens")
        or max(dig(metadata, path) for path in CACHE_WRITES),
    )
    expected = {key: value for key, value in case["expect"]["tokens"].items() if key != "total"}
    assert tokens.model_dump() == expected
    assert float(cost_of(tokens, prices(case["model_cost"]))) == pytest.approx(
        case["expect"]["cost"], abs=1e-12
    )
