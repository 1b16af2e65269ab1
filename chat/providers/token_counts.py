"""Tokens as providers count them, taken apart so that no token counts twice (BR-13)."""

from chat.protocol.parts import CacheTokens, Tokens

# The largest number that a column of the database holds.
_MOST = 2**31 - 1


def read_count(counts: object, name: str) -> int:
    """The number of tokens under this name; nothing usable is 0."""
    value = counts.get(name) if isinstance(counts, dict) else None
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        # Servers report the strangest numbers.
        return int(min(value, _MOST))
    return 0


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
    reasoning = max(reasoning, 0)
    return Tokens(
        input=max(input - (cache.read + cache.write if input_has_cache else 0), 0),
        output=max(output - (reasoning if output_has_reasoning else 0), 0),
        reasoning=reasoning,
        cache=cache,
    )
