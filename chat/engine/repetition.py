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
    """The call that the model keeps making, if its last three calls are the same.

    What it says and thinks between them does not count: it says each time that it tries again.
    """
    skipped = (StepStartPart, StepFinishPart, ReasoningPart, TextPart)
    last = [part for part in parts if not isinstance(part, skipped)][-IN_A_ROW:]
    calls = [part for part in last if isinstance(part, ToolPart)]
    if len(calls) < IN_A_ROW or any(isinstance(part.state, ToolPending) for part in calls):
        return None
    if calls[-1].tool in exempt or len({_fingerprint(part) for part in calls}) > 1:
        return None
    return calls[-1]


def _fingerprint(part: ToolPart) -> tuple[str, str]:
    return part.tool, json.dumps(part.state.input, sort_keys=True, default=str)
