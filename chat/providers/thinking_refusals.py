"""What servers do not like about how a model is asked to think."""

import re
from typing import Final, Literal

from chat.protocol.adjustments import Adjustment
from chat.protocol.effort import ON
from chat.protocol.frozen import JsonObject
from chat.providers.body_fields import value_at
from chat.providers.refusal_rules import Found, Maker, Rule, any_of, drop

_EFFORTS: Final = ("reasoning_effort", "reasoning.effort", "output_config.effort", "think")
# What a model is told that shall not think, on all wires.
_OFF: Final[tuple[tuple[str, str | bool], ...]] = (
    ("reasoning_effort", "none"),
    ("reasoning.effort", "none"),
    ("reasoning.enabled", False),
    ("thinking.type", "disabled"),
    ("enable_thinking", False),
    ("chat_template_kwargs.enable_thinking", False),
    ("think", False),
)


def _think_as(kind: Literal["adaptive", "enabled"]) -> Maker:
    """In this way, where it was asked to think."""

    def make(_found: Found, body: JsonObject) -> Adjustment | None:
        sent = value_at(body, "thinking.type")
        return Adjustment("thinking", value=kind) if sent not in (None, "disabled") else None

    return make


def _not_off(_found: Found, body: JsonObject) -> Adjustment | None:
    """It always thinks: that it shall not is no longer said."""
    sent = ((name, off) for name, off in _OFF if value_at(body, name) == off)
    return next((Adjustment("drop", name, off) for name, off in sent), None)


def _not_disabled(found: Found, body: JsonObject) -> Adjustment | None:
    """Some Claude models always think, and some can be told to do so between their tools only;
    where they are asked to think, nothing changes."""
    if value_at(body, "thinking.type") != "disabled":
        return None
    kinds = ("adaptive", "between_tools") if "between_tools" in found.string else ("adaptive",)
    return Adjustment("choices", "thinking.type", kinds)


def _choices(found: Found, body: JsonObject) -> Adjustment | None:
    offered = tuple(re.findall(r"['\"`](\w+)['\"`]", found[1]))
    sent = next((name for name in _EFFORTS if value_at(body, name) is not None), None)
    if sent is None or not offered:
        return None
    # One that is refused and offered at once is meant in some other way.
    return Adjustment("choices", sent, offered) if value_at(body, sent) not in offered else None


def _stepless(_found: Found, body: JsonObject) -> Adjustment | None:
    """Older servers of Ollama, and most of its models, know no steps of thinking."""
    return Adjustment("choices", "think", (ON,)) if isinstance(body.get("think"), str) else None


_ADAPTIVE: Final = any_of(
    r"thinking\.type\.enabled\W* is not supported",
    r"use \W*thinking\.type\.adaptive",
    r"thinking\.type\W{1,3}(?:input should|must) be \W?adaptive",
)
_NOT_ADAPTIVE: Final = any_of(
    r"adaptive thinking is not supported",
    r"thinking\.type:? .{0,60}adaptive",
    r"thinking\.adaptive\W* is not supported",
    r"tag 'adaptive'",
    r"thinking\W{1,5}type\b.{0,50}\benabled\W{1,3}or\W{1,3}disabled",
    r"'enabled' and 'disabled' are supported for thinking",
)
_ALWAYS_THINKS: Final = any_of(
    r"reasoning is mandatory .{0,40}cannot be disabled",
    r"budget 0 is invalid",
    r"only works in thinking mode",
    r"does not support setting thinking_budget to 0",
)
_CHOICES: Final = (
    r"(?:(?:supported|allowed|valid) values (?:are|for .{0,60} are)?:? ?"
    r"|think value: .{0,24}must be )((?:['\"`]\w+['\"`](?:, |,| |and|or)*)+)"
)
_STEPLESS: Final = any_of(
    r"cannot unmarshal string into .{0,40}\.think of type bool",
    r"invalid think value",
    r"think value .{0,20} is not supported",
)

THINKING_RULES: Final[tuple[Rule, ...]] = (
    (r"verified to generate reasoning summaries", drop("reasoning.summary")),
    (_ADAPTIVE, _think_as("adaptive")),
    (_NOT_ADAPTIVE, _think_as("enabled")),
    (_ALWAYS_THINKS, _not_off),
    (
        r"does not support (?:extended )?thinking|thinking is not (?:supported|enabled)",
        drop("think", "thinking", "reasoning_effort", "reasoning"),
    ),
    (r"thinking\.type\.disabled\W* is not supported|\bbetween_tools\b", _not_disabled),
    (_CHOICES, _choices),
    (_STEPLESS, _stepless),
)
