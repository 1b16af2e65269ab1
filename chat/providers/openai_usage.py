"""Tokens as the OpenAI wire counts them, taken apart so that no token counts twice (BR-13)."""

from typing import Any

from chat.protocol.interfaces import Usage
from chat.protocol.parts import CacheTokens, Tokens

MOST = 2**31 - 1


def usage_of(usage: dict[str, Any]) -> Usage:
    """The prompt counts what was cached, the completion counts the thinking: not here."""
    prompt_details = usage.get("prompt_tokens_details")
    read = count(prompt_details, "cached_tokens") or count(usage, "prompt_cache_hit_tokens")
    write = count(prompt_details, "cache_write_tokens")
    reasoning = count(usage.get("completion_tokens_details"), "reasoning_tokens")
    completion = count(usage, "completion_tokens")
    # xAI counts thinking beside the completion, everybody else inside it.
    inside = reasoning <= completion
    tokens = Tokens(
        input=max(0, count(usage, "prompt_tokens") - read - write),
        output=completion - reasoning if inside else completion,
        reasoning=reasoning,
        cache=CacheTokens(read=read, write=write),
    )
    cost = usage.get("cost")
    numeric = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e6
    return Usage(tokens, float(cost) if numeric and cost is not None else None)


def count(found: object, name: str) -> int:
    """A number of tokens, or nothing where there is none."""
    value = found.get(name) if isinstance(found, dict) else None
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        # Servers say the strangest numbers; a column holds no more than this.
        return int(min(value, MOST))
    return 0
