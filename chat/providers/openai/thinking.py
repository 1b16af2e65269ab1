"""How a model is told on the OpenAI chat wire to think, as far as anything must be said, and what
it is told again of its own thoughts."""

import re
from collections.abc import Sequence
from typing import Any, Final

from chat.protocol.effort import NONE, ON, Effort
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ModelRequest, ReasoningBlock
from chat.providers.openai.quirks import STEP, Fields, Quirks

# Models that think on between their tools and want to read what they thought before them, whoever
# serves them. Others were trained without it, and some servers refuse the field.
_GO_ON_THINKING: Final = re.compile(
    r"deepseek-(v3\.[2-9]|v[4-9]|flash|reasoner)|kimi-(k2[-.](thinking|[5-9])|k[3-9])|minimax-m\d"
    r"|glm-(4\.[5-9]|[5-9])|mimo-v\d|gpt-oss|qwen-?3"
)
# Where the field in which thoughts came is kept with them, and what it mostly is.
FIELD: Final = "field"
USUAL_FIELD: Final = "reasoning_content"


def thinking_fields(request: ModelRequest, quirks: Quirks) -> JsonObject:
    """What the body says of thinking; nothing where that is left to the model."""
    effort = effort_of(request)
    if not effort:
        return {}
    return {name: _filled(value, effort) for name, value in _form(request, quirks, effort).items()}


def effort_of(request: ModelRequest) -> Effort:
    """The step that is asked for. Some models refuse their tools on this wire unless they are told
    not to think."""
    if request.tools and request.thinking.form == "toolless":
        return NONE
    return request.effort


def _form(request: ModelRequest, quirks: Quirks, effort: Effort) -> Fields:
    known, only_switched = quirks.thinking, ON in request.thinking.efforts
    if effort == ON:
        return known.on
    if effort == NONE:
        return known.off if only_switched else known.none
    return known.step


def _filled(value: Any, effort: Effort) -> Any:
    """A field with the step in the place that is kept for it."""
    if isinstance(value, dict):
        return {name: _filled(inner, effort) for name, inner in value.items()}
    return effort if value == STEP else value


def thoughts_beside_calls(
    thoughts: Sequence[ReasoningBlock], model: str, quirks: Quirks
) -> JsonObject:
    """The thoughts that led to calls, in the field in which they came."""
    text = "".join(block.text for block in thoughts)
    if quirks.echo_reasoning:
        return {quirks.echo_reasoning: text}
    if not text or not _GO_ON_THINKING.search(model.lower()):
        return {}
    named = (block.metadata.get(FIELD) for block in thoughts)
    return {next((name for name in named if isinstance(name, str)), USUAL_FIELD): text}
