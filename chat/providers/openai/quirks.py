"""How servers that speak the OpenAI chat wire differ, as data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quirks:
    """What a server wants that others do not; the defaults suit most."""

    max_tokens_field: str = "max_tokens"
    include_usage: bool = True
    # Its models may write their reasoning into the text, between `<think>` tags.
    think_tags: bool = True
    # The field in which reasoning goes back with a turn that called tools; "" = never.
    echo_reasoning: str = ""
    # Gemini refuses a call that comes back without its signature.
    echo_extra_content: bool = False
