"""The tool style of a conversation: decided at its first run, again when its model changes."""

from collections.abc import Sequence

from chat.engine.tool_style import StyleChoice, detect, resolve
from chat.models import Provider
from chat.protocol.interfaces import ToolStyle
from chat.protocol.messages import ModelRef, WithParts
from chat.services.runs.spec import Answerer

# What each kind of provider does best.
_DEFAULTS: dict[str, ToolStyle] = {
    Provider.Kind.OPENAI: "json",
    Provider.Kind.ANTHROPIC: "json",
    Provider.Kind.OLLAMA: "json",
    Provider.Kind.DEMO: "json",
}


def style_of(
    answerer: Answerer, locked: str, model_before: ModelRef | None, history: Sequence[WithParts]
) -> ToolStyle:
    """The style of a run, kept for the next ones; the whole history is sent in it (C1, C2)."""
    if answerer.model.runs_its_tools:
        return "json"
    wanted = _wanted(answerer)
    if model_before != answerer.model.choice.ref:
        return resolve(wanted)
    return resolve(
        wanted, locked=_possible(locked, wanted), detected=_possible(detect(history), wanted)
    )


def _wanted(answerer: Answerer) -> StyleChoice:
    model = answerer.model
    return StyleChoice(
        native=model.native_tools,
        settings=(answerer.agent.tool_style, model.tool_style),
        model=model.choice.ref.model_id,
        default=_DEFAULTS.get(model.kind, "xml"),
    )


def _possible(style: str | None, choice: StyleChoice) -> ToolStyle | None:
    """A model that has lost its native tools is another model."""
    if style == "xml":
        return "xml"
    return "json" if style == "json" and choice.native else None
