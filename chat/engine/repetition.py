"""Notices a model that makes the same call three times in a row."""

import json
from collections.abc import Collection, Sequence

from chat.protocol.parts import (
    Part,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolPart,
)
from chat.protocol.tool_state import ToolPending

IN_A_ROW = 3
# Reading or writing a plan again and again is normal.
EXEMPT = frozenset({"todo_write", "todo_read"})


def repeated_call(parts: Sequence[Part], exempt: Collection[str] = EXEMPT) -> ToolPart | None:
    """The call that the model keeps making, if its last three calls are the same."""
    calls = _calls_in_a_row(parts)
    if len(calls) < IN_A_ROW or any(isinstance(part.state, ToolPending) for part in calls):
        return None
    if calls[0].tool in exempt or len({_fingerprint(part) for part in calls}) > 1:
        return None
    return calls[0]


def _calls_in_a_row(parts: Sequence[Part]) -> list[ToolPart]:
    """The last calls, the latest first.

    Words between two calls of one step end the row. Those that begin a step do not: a model that
    has read a result and makes the same call again mostly says that it tries again.
    """
    calls: list[ToolPart] = []
    spoke = False
    for part in reversed(parts):
        match part:
            case ToolPart() if spoke or len(calls) == IN_A_ROW:
                break
            case ToolPart():
                calls.append(part)
            case TextPart():
                spoke = spoke or bool(calls and part.text.strip())
            case StepStartPart() | StepFinishPart():
                spoke = False
            case ReasoningPart():
                pass
            case _:
                break
    return calls


def _fingerprint(part: ToolPart) -> tuple[str, str]:
    return part.tool, json.dumps(part.state.input, sort_keys=True, default=str)
