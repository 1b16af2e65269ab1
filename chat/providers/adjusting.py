"""A request as its server takes it: the body that a wire makes, changed by the adjustments."""

from copy import deepcopy
from typing import Any, Final

from chat.protocol.adjustments import Adjustment, Adjustments, AdjustmentValue
from chat.protocol.effort import ON, Thinking
from chat.protocol.frozen import JsonObject
from chat.providers.body_fields import drop_field, set_value, value_at

# Anthropic's older models are given so many tokens to think with; fewer than 1024 are refused.
_BUDGET: Final = 4096
_LEAST_BUDGET: Final = 1024
# What is meant, where it is not offered, by something that is no step of thinking.
_INSTEAD: Final = {"disabled": "between_tools"}
# Gemini's own word for calls that another model made: it checks the signature of all others.
_UNSIGNED: Final = {"google": {"thought_signature": "skip_thought_signature_validator"}}


def adjust_body(body: JsonObject, adjustments: Adjustments) -> JsonObject:
    """The body with every adjustment made to it; the one that was given stays as it is."""
    if not adjustments:
        return body
    changed = deepcopy(body) if _goes_deep(adjustments) else dict(body)
    for adjustment in adjustments:
        _adjust(changed, adjustment)
    return changed


def with_extra(body: JsonObject, extra: JsonObject) -> JsonObject:
    """The body with the parameters that an administrator has set; objects are merged."""
    merged = dict(body)
    for name, value in extra.items():
        old = merged.get(name)
        if isinstance(old, dict) and isinstance(value, dict):
            merged[name] = with_extra(old, value)
        else:
            merged[name] = value
    return merged


def _goes_deep(adjustments: Adjustments) -> bool:
    kinds = ("system", "thinking", "limit", "signature")
    return any("." in each.name or each.kind in kinds for each in adjustments)


def _adjust(body: JsonObject, adjustment: Adjustment) -> None:
    name, value = adjustment.name, adjustment.value
    match adjustment.kind:
        case "drop" if value is None or value_at(body, name) == value:
            drop_field(body, name)
        case "rename" if name in body:
            body[str(value)] = body.pop(name)
        case "set":
            set_value(body, name, value)
        case "limit":
            _limit(body, name, value)
        case "choices":
            _choose(body, adjustment)
        case "thinking":
            _think(body, str(value))
        case "signature":
            _sign_calls(body)
        case "system":
            _move_system(body, str(value))
        case _:
            pass  # decided before there is a body


def _limit(body: JsonObject, name: str, most: AdjustmentValue) -> None:
    asked = value_at(body, name)
    if isinstance(asked, int) and isinstance(most, int):
        set_value(body, name, min(asked, most))
        _lower_budget(body, min(asked, most))


def _lower_budget(body: JsonObject, most: int) -> None:
    """Thoughts are part of an answer, of which half is left for its words."""
    budget = value_at(body, "thinking.budget_tokens")
    if isinstance(budget, int) and budget >= most:
        if most < 2 * _LEAST_BUDGET:
            del body["thinking"]
        else:
            body["thinking"]["budget_tokens"] = most // 2


def _choose(body: JsonObject, adjustment: Adjustment) -> None:
    asked, offered = value_at(body, adjustment.name), adjustment.value
    if not isinstance(asked, str) or not isinstance(offered, tuple):
        return
    meant = _INSTEAD.get(asked, asked)
    if nearest := Thinking(offered).nearest(asked if asked in offered else meant):
        set_value(body, adjustment.name, True if nearest == ON else nearest)
    else:
        drop_field(body, adjustment.name)


def _think(body: JsonObject, kind: str) -> None:
    if value_at(body, "thinking.type") in ("disabled", "between_tools"):
        return
    if kind == "adaptive":
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
        return
    body.pop("thinking", None)
    drop_field(body, "output_config.effort")
    room = body.get("max_tokens")
    if kind == "enabled" and isinstance(room, int) and room > 2 * _LEAST_BUDGET:
        budget = max(_LEAST_BUDGET, min(_BUDGET, room // 2))
        body["thinking"] = {"type": "enabled", "budget_tokens": budget}


def _sign_calls(body: JsonObject) -> None:
    """The first call of a turn has the signature, also where there are several."""
    for message in body.get("messages") or ():
        calls = message.get("tool_calls")
        if calls and "extra_content" not in calls[0]:
            calls[0]["extra_content"] = _UNSIGNED


def _move_system(body: JsonObject, place: str) -> None:
    """The instructions as the developer's words, or in front of the person's first ones."""
    messages: list[JsonObject] = body.get("messages") or []
    if "instructions" in body:
        role = "developer" if place == "developer" else "user"
        body["input"] = [{"role": role, "content": body.pop("instructions")}, *body["input"]]
    elif messages and messages[0].get("role") == "system":
        if place == "developer":
            messages[0]["role"] = "developer"
        else:
            _put_first(messages)


def _put_first(messages: list[JsonObject]) -> None:
    system = messages.pop(0)["content"]
    first = next((each for each in messages if each.get("role") == "user"), None)
    if first is None:
        messages.insert(0, {"role": "user", "content": system})
        return
    content: Any = first["content"]
    if isinstance(content, str):
        first["content"] = f"{system}\n\n{content}"
    else:
        first["content"] = [{"type": "text", "text": system}, *content]
