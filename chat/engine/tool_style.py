"""How tools are offered to a model: as its provider does (`json`) or in the prompt (`xml`) (C1)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from chat.protocol.interfaces import ToolStyle
from chat.protocol.messages import WithParts

Setting = Literal["auto", "json", "xml"]

# Models that are known to call tools natively, wherever they are served.
JSON_MODELS = ("claude-haiku-4.5", "claude-haiku-4-5")
# Calls that came as XML have ids of our own making.
XML_ID = "xml_"


@dataclass(frozen=True, slots=True)
class StyleChoice:
    """What the style is decided by; `default` is what a kind of provider does best."""

    native: bool = True  # both the provider and the model have native tools
    settings: tuple[Setting, ...] = ()  # the agent's, then the provider's
    model: str = ""
    json_models: Collection[str] = JSON_MODELS
    default: ToolStyle = "xml"


def decide(choice: StyleChoice) -> ToolStyle:
    """First what the model cannot do, then what is set, then what is known of the model."""
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
    """The style of a run: the conversation's own, else that of its history, else as decided."""
    return locked or detected or decide(choice)


def detect(messages: Sequence[WithParts]) -> ToolStyle | None:
    """The style of the last call of a history, if it has any."""
    calls = [call for message in messages for call in message.tools]
    if not calls:
        return None
    return "xml" if calls[-1].call_id.startswith(XML_ID) else "json"
