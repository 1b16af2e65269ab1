"""How tools are spoken of with a model: natively (`json`) or in the prompt (`xml`) (C1)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chat.protocol.interfaces import ToolStyle
from chat.protocol.messages import WithParts

Setting = Literal["auto", "json", "xml"]

# Models that are known to call tools natively, wherever they are served.
JSON_MODELS = ("claude-haiku-4.5", "claude-haiku-4-5")
# Calls that came as XML have ids of our own making.
XML_ID = "xml_"


@dataclass(frozen=True, slots=True)
class StyleChoice:
    """What the rule looks at; `default` is what a kind of provider does best."""

    native: bool = True  # neither the provider nor the model is without native tools
    settings: tuple[Setting, ...] = ()  # the agent's, then the provider's
    model: str = ""
    json_models: Collection[str] = JSON_MODELS
    default: ToolStyle = "xml"


def decide(choice: StyleChoice) -> ToolStyle:
    """What cannot be done comes first, then what somebody wants, then what is known."""
    if not choice.native:
        return "xml"
    for setting in choice.settings:
        if setting != "auto":
            return setting
    name = choice.model.lower()
    if any(keyword in name for keyword in choice.json_models):
        return "json"
    return choice.default


def resolve(
    choice: StyleChoice, *, locked: ToolStyle | None = None, detected: ToolStyle | None = None
) -> ToolStyle:
    """The style of a run: the conversation's own, else that of its history, else the rule's."""
    return locked or detected or decide(choice)


def detect(messages: Sequence[WithParts]) -> ToolStyle | None:
    """The style of the last call of a history, if it has any."""
    calls = [call for message in messages for call in message.tools]
    if not calls:
        return None
    return "xml" if calls[-1].call_id.startswith(XML_ID) else "json"


def detect_in_blocks(messages: Sequence[Mapping[str, Any]]) -> ToolStyle | None:
    """The same for a foreign history of blocks, whose XML calls have no ids."""
    for message in reversed(messages):
        content = message.get("content")
        if message.get("role") != "assistant" or not isinstance(content, list):
            continue
        for block in content:
            if block.get("type") == "tool_use":
                return "json" if block.get("id") else "xml"
    return None
