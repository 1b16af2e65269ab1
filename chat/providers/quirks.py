"""How servers that speak the OpenAI chat wire differ, as data."""

from dataclasses import dataclass, field

from chat.protocol.tool_state import JsonObject
from chat.providers.think_tags import ThinkTags


@dataclass(frozen=True, slots=True)
class Quirks:
    """What a server wants that others do not; the defaults suit most."""

    max_tokens_field: str = "max_tokens"
    include_usage: bool = True
    think_tags: ThinkTags = "auto"
    # The field in which thinking goes back with a turn that called tools; "" = never.
    echo_reasoning: str = ""
    # Gemini refuses a call that comes back without its signature.
    echo_extra_content: bool = False
    extra_body: JsonObject = field(default_factory=dict)
