"""Everything a run needs to know, read once: whom to ask, with what, about what."""

from dataclasses import dataclass, field

from django.utils import translation

from chat.engine.media import Takes
from chat.engine.usage import Prices, Rates
from chat.models import Agent, Conversation, LanguageModel, ToolSetting
from chat.protocol.errors import ChatError
from chat.protocol.files import IMAGES
from chat.protocol.interfaces import ToolStyle
from chat.protocol.messages import AnswerInfo, ModelRef, WithParts
from chat.protocol.parts import Part
from chat.providers.presets import IMAGES_OF, takes_pdf
from chat.providers.registry import Connection
from chat.services.providers import connection_of


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model, and the way to the place that serves it."""

    ref: ModelRef
    connection: Connection
    prices: Prices
    max_output: int | None = None
    context_window: int | None = None
    takes: Takes = field(default_factory=Takes)


@dataclass(frozen=True, slots=True)
class Assignment:
    """One run: its rows, its model, its tools and what was said so far."""

    request_id: str
    # The answer to write, as it was when it began.
    info: AnswerInfo
    user_id: int
    tab_id: str
    rev: int
    language: str
    system: str
    tools: tuple[str, ...]
    temperature: float | None
    max_steps: int
    unwatched: str
    model: ModelChoice
    tool_style: ToolStyle = "json"
    # What was said before this answer, and what this answer has said already.
    history: tuple[WithParts, ...] = field(default=(), repr=False)
    parts: tuple[Part, ...] = field(default=(), repr=False)


def choose_agent(conversation: Conversation) -> Agent:
    agents = Agent.objects.select_related("model__provider")
    chosen = {"pk": conversation.agent_id} if conversation.agent_id else {"is_default": True}
    agent = agents.filter(**chosen).first()
    if agent is None or not agent.enabled:
        raise ChatError("error.chat_agent_not_found")
    return agent


def choose_model(conversation: Conversation, agent: Agent) -> LanguageModel:
    """The conversation's own model, else the agent's; both it and its provider switched on."""
    model = conversation.model or agent.model
    if model is None or not model.enabled:
        raise ChatError("error.chat_model_not_configured")
    if not model.provider.enabled:
        raise ChatError("error.chat_provider_not_enabled", provider=str(model.provider))
    return model


def model_choice(model: LanguageModel) -> ModelChoice:
    provider = model.provider
    return ModelChoice(
        ref=ModelRef(provider_id=str(provider.pk), model_id=model.model_id),
        connection=connection_of(provider),
        prices=Prices(
            Rates(
                input=model.input_price,
                output=model.output_price,
                cache_read=model.cache_read_price,
                cache_write=model.cache_write_price,
            )
        ),
        max_output=model.max_output,
        context_window=model.context_window,
        takes=_takes(model),
    )


def _takes(model: LanguageModel) -> Takes:
    """Which files go to a model: those that it sees, as far as its wire carries them."""
    if not model.vision:
        return Takes()
    wire = model.provider.kind
    return Takes(
        images=IMAGES_OF.get(wire, IMAGES),
        pdf=takes_pdf(wire, model.provider.base_url),
    )


def system_prompt(agent: Agent, language: str) -> str:
    """The agent's instructions in the language the conversation began in."""
    with translation.override(language or None):
        return agent.system_prompt or ""


def allowed_tools(agent: Agent) -> tuple[str, ...]:
    off = set(ToolSetting.objects.filter(enabled=False).values_list("tool", flat=True))
    return tuple(tool for tool in agent.tools if tool not in off)
