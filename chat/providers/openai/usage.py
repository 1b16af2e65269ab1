"""What a call used, as the OpenAI chat wire reports it."""

from typing import Any

from chat.protocol.interfaces import Usage
from chat.providers.token_counts import count_tokens, read_count


def usage_of(usage: dict[str, Any]) -> Usage:
    """The prompt counts what was cached, and the completion mostly counts the reasoning."""
    details = usage.get("prompt_tokens_details")
    reasoning = read_count(usage.get("completion_tokens_details"), "reasoning_tokens")
    completion = read_count(usage, "completion_tokens")
    tokens = count_tokens(
        input=read_count(usage, "prompt_tokens"),
        output=completion,
        reasoning=reasoning,
        cache_read=read_count(details, "cached_tokens")
        or read_count(usage, "prompt_cache_hit_tokens"),
        cache_write=read_count(details, "cache_write_tokens"),
        # xAI counts reasoning beside the completion, everybody else inside it.
        output_has_reasoning=reasoning <= completion,
    )
    return Usage(tokens, _cost(usage.get("cost")))


def _cost(cost: object) -> float | None:
    """The price of the call, if the provider reports a plausible one."""
    if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e6:
        return float(cost)
    return None
