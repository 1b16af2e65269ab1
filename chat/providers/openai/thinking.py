"""How a model is told on the OpenAI chat wire to think, as far as anything must be said."""

from typing import Any

from chat.protocol.effort import NONE, ON, Effort
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ModelRequest
from chat.providers.openai.quirks import STEP, Fields, Quirks


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
