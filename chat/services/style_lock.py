"""The tool style of a conversation: decided at its first run, again when its model changes."""

from collections.abc import Sequence

from chat.engine.tool_style import Setting, StyleChoice, detect, resolve
from chat.models import Agent, Conversation, LanguageModel, Message, Provider
from chat.protocol.interfaces import ToolStyle
from chat.protocol.messages import AnswerInfo, ModelRef, WithParts

# What each kind of provider does best.
_DEFAULTS: dict[str, ToolStyle] = {
    Provider.Kind.OPENAI: "json",
    Provider.Kind.ANTHROPIC: "json",
    Provider.Kind.OLLAMA: "json",
    Provider.Kind.DEMO: "json",
}


def lock_style(
    conversation: Conversation,
    choice: tuple[Agent, LanguageModel],
    answer: WithParts,
    history: Sequence[WithParts],
) -> ToolStyle:
    """The style of a run, kept for the next ones; the whole history is sent in it (C1, C2)."""
    agent, model = choice
    wanted = _wanted(agent, model)
    keeps = _model_before(conversation, answer) == _ref(model.provider_id, model.model_id)
    locked = _possible(conversation.tool_style, wanted) if keeps else None
    detected = _possible(detect(history), wanted) if keeps else None
    style = resolve(wanted, locked=locked, detected=detected)
    if style != conversation.tool_style:
        conversation.tool_style = style
        conversation.save(update_fields=("tool_style",))
    return style


def _wanted(agent: Agent, model: LanguageModel) -> StyleChoice:
    provider = model.provider
    default = _DEFAULTS.get(provider.kind, "xml")
    settings: list[Setting] = [_setting(agent.tool_style), _setting(provider.tool_style)]
    return StyleChoice(
        native=model.native_tools,
        settings=tuple(settings),
        model=model.model_id,
        default=default,
    )


def _setting(value: str) -> Setting:
    return "json" if value == "json" else "xml" if value == "xml" else "auto"


def _possible(style: str | None, choice: StyleChoice) -> ToolStyle | None:
    """A model that has lost its native tools is another model."""
    if style == "xml":
        return "xml"
    return "json" if style == "json" and choice.native else None


def _model_before(conversation: Conversation, answer: WithParts) -> ModelRef | None:
    """The model of the last run, versions out of sight included."""
    info = answer.info
    assert isinstance(info, AnswerInfo)
    if answer.parts:  # it is being continued
        return _ref(info.provider_id, info.model_id)
    answers = Message.objects.filter(conversation=conversation, role=Message.Role.ASSISTANT)
    last = answers.exclude(pk=info.id).order_by("-position").first()
    return _ref(last.provider_id, last.model_id) if last else None


def _ref(provider_id: object, model_id: str) -> ModelRef:
    return ModelRef(provider_id=str(provider_id), model_id=model_id)
