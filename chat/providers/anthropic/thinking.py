"""How Claude is asked to think: adaptively, or with a budget of tokens."""

import re
from dataclasses import replace
from typing import Final

from chat.protocol.effort import NONE, ON, Effort
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import Block, ModelRequest, ReasoningBlock

# The wire wants a limit; these are for models whose own is not known. Thoughts count as output,
# and what is asked for must fit the window beside the conversation: so it is not all there is.
_MAX_TOKENS: Final = 8192
_MAX_TOKENS_THINKING: Final = 32_000
# From the generation of 4.6 on a model thinks as much as it wants to, and is asked to show it.
_CLAUDE: Final = re.compile(r"claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?!\d)")
_ADAPTIVE: Final = (4, 6)

# How many tokens a step is worth, where they are counted.
_BUDGETS: Final[dict[Effort, int]] = {
    "minimal": 1024, "low": 4096, ON: 8192, "medium": 8192, "high": 16_384, "xhigh": 32_768,
    "max": 65_536,
}  # fmt: skip
_LEAST_BUDGET: Final = 1024


def thinking_fields(request: ModelRequest) -> JsonObject:
    """The limit of the output and what the body says of thinking, which is part of the output."""
    if is_adaptive(request):
        return _adaptive(request)
    if _goes_on_without_thought(request):
        request = replace(request, effort=NONE)
    if request.effort in ("", NONE):
        # These think only when they are asked to.
        return {
            "max_tokens": _limit(request, _MAX_TOKENS_THINKING if request.longest_output else None)
        }
    wanted = _BUDGETS.get(request.effort, _BUDGETS[ON])
    limit = _limit(request, wanted + _MAX_TOKENS)
    # Half of the output is left for the answer.
    budget = max(min(wanted, limit // 2), _LEAST_BUDGET)
    if budget >= limit:
        return {"max_tokens": limit}
    return {"max_tokens": limit, "thinking": {"type": "enabled", "budget_tokens": budget}}


def _limit(request: ModelRequest, wanted: int | None) -> int:
    """The limit that somebody has set, else the one that is wanted as far as the model goes."""
    if request.output_limit:
        return request.output_limit
    wanted = wanted or _MAX_TOKENS
    return min(wanted, request.longest_output) if request.longest_output else wanted


def _adaptive(request: ModelRequest) -> JsonObject:
    limit: JsonObject = {"max_tokens": _limit(request, _MAX_TOKENS_THINKING)}
    if request.effort == NONE:
        off = "between_tools" if request.thinking.form == "between" else "disabled"
        return limit | {"thinking": {"type": off}}
    # Newer ones leave the text of their thoughts away unless they are asked for it.
    asked: JsonObject = {"thinking": {"type": "adaptive", "display": "summarized"}}
    if request.effort not in ("", ON):
        asked["output_config"] = {"effort": request.effort}
    return limit | asked


def _goes_on_without_thought(request: ModelRequest) -> bool:
    """Whether the answer to go on with has called tools without a thought of this model's: then
    it is refused that one with a budget begins to think in the middle of it."""
    said: list[Block] = []
    for message in reversed(request.messages):
        if message.role == "user":
            break
        said += message.content if message.role == "assistant" else ()
    return bool(said) and not any(isinstance(block, ReasoningBlock) for block in said)


def is_adaptive(request: ModelRequest) -> bool:
    if request.thinking.form:
        return request.thinking.form in ("adaptive", "between")
    found = _CLAUDE.search(request.model)
    return found is not None and (int(found[1]), int(found[2] or 0)) >= _ADAPTIVE
