"""How servers that speak the OpenAI chat wire differ, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from chat.protocol.adjustments import Adjustments
from chat.protocol.frozen import JsonObject

# Stands for the step in the fields of `ThinkingFields`.
STEP: Final = "{step}"

Fields = Mapping[str, Any]


def _template(enable_thinking: bool) -> Fields:
    """For vLLM, llama.cpp, SGLang and LM Studio: the switch is one of the model's template."""
    return {"chat_template_kwargs": {"enable_thinking": enable_thinking}}


@dataclass(frozen=True, slots=True)
class ThinkingFields:
    """What a body says of thinking. Some models only switch it (`off`, `on`), others have steps,
    of which `none` may be one."""

    off: Fields = field(default_factory=lambda: _template(False))
    on: Fields = field(default_factory=lambda: _template(True))
    none: Fields = field(default_factory=lambda: {"reasoning_effort": "none"})
    step: Fields = field(default_factory=lambda: {"reasoning_effort": STEP})


@dataclass(frozen=True, slots=True)
class Quirks:
    """What a server wants that others do not; the defaults suit most."""

    max_tokens_field: str = "max_tokens"
    include_usage: bool = True
    # Its models may write their reasoning into the text, between `<think>` tags.
    think_tags: bool = True
    # How its models are told to think.
    thinking: ThinkingFields = field(default_factory=ThinkingFields)
    # Whether a model that thinks takes a temperature.
    warm_thinking: bool = True
    # The field in which reasoning always goes back with a turn that called tools; "" = only to
    # models that go on with it (`thinking.py`).
    echo_reasoning: str = ""
    # What is sent for a search of the server's own, where it has one.
    web_search: JsonObject = field(default_factory=dict)
    # Whether requests that begin alike are kept together by a key.
    cache_key: bool = False

    def adjusted(self, adjustments: Adjustments) -> Self:
        """As a server wants it that has refused a turn without its thoughts."""
        fields = [str(each.value) for each in adjustments if each.kind == "echo"]
        return replace(self, echo_reasoning=fields[-1]) if fields else self
