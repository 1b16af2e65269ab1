"""Ids of calls that Anthropic takes: few characters, and no id for two calls of a conversation.
Those that other providers have made may be anything, and the same again in every answer."""

import re
from collections import defaultdict, deque

from chat.protocol.frozen import JsonObject


def give_own_ids(turns: list[JsonObject]) -> None:
    """Every call its own id, and every result that of its call. What is added to a conversation
    changes no id before it, so what the server has kept of it still fits."""
    # And how often an id was wanted that looks like it.
    taken: defaultdict[str, int] = defaultdict(int)
    # Of calls without their results, by the ids that they came with.
    waiting: defaultdict[str, deque[str]] = defaultdict(deque)
    for block in (block for turn in turns for block in turn["content"]):
        if block["type"] == "tool_use":
            wanted = block["id"]
            block["id"] = _own(_allowed(wanted), taken)
            waiting[wanted].append(block["id"])
        elif block["type"] == "tool_result":
            wanted = block["tool_use_id"]
            ids = waiting[wanted] or deque([_allowed(wanted)])
            block["tool_use_id"] = ids.popleft()


def _own(wanted: str, taken: defaultdict[str, int]) -> str:
    made = wanted
    while made in taken:
        taken[wanted] += 1
        made = f"{wanted}_{taken[wanted]}"
    taken[made] = 1
    return made


def _allowed(call_id: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id) or "_"
