"""Everything a run needs to know, read once: whom to ask, with what, about what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Conversation, Generation
from chat.protocol.effort import Effort
from chat.protocol.errors import ChatError
from chat.protocol.interfaces import SearchEngine, ToolStyle
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.parts import Part
from chat.services.catalog.known import Catalog, KnownAgent, KnownModel, ModelChoice, spoken
from chat.tools.registry import ToolLimits


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run: its rows, its model, its tools and the conversation so far."""

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
    search_engine: SearchEngine = field(default_factory=SearchEngine)
    # How hard the model thinks: one of its steps, or as it likes.
    effort: Effort = ""
    tool_limits: Mapping[str, ToolLimits] = field(default_factory=dict)
    # Whether somebody has a budget: then it is seen before every request what is left of it.
    limited: bool = False
    # Whether what is sent for it may be kept; not of a temporary chat.
    logged: bool = False
    # How often other processes have gone on with it, and the last event that was told so far.
    attempt: int = 0
    seq: int = 0
    # Whether another process has begun this run.
    taken_up: bool = False
    # The messages before this answer, and what this answer consists of already.
    history: tuple[WithParts, ...] = field(default=(), repr=False)
    parts: tuple[Part, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Answerer:
    """Who gives an answer: an agent, its model, and the tools it may use now."""

    agent: KnownAgent
    model: KnownModel
    tools: tuple[str, ...]
    # How hard the model thinks: one of its steps, or as it likes.
    effort: Effort = ""
    # What the person asks of every agent, and of those that answer in the conversation's folder.
    instructions: str = ""
    search_engine: SearchEngine = field(default_factory=SearchEngine)
    folder_instructions: str = ""
    # Whether there are budgets.
    limited: bool = False
    tool_limits: Mapping[str, ToolLimits] = field(default_factory=dict)

    def system_prompt(self, language: str) -> str:
        """The agent's instructions in the language the conversation began in, then the person's
        own, then those of its folder. They come last: what stands before them is the same for
        everybody, and cached."""
        prompt = spoken(self.agent.prompts, language)
        if not (self.instructions or self.folder_instructions):
            return prompt.strip()
        with translation.override(language):
            headings = (
                (_("What the person you are talking to asks of every answer:"), self.instructions),
                (
                    _("What they ask of the answers in this folder of conversations:"),
                    self.folder_instructions,
                ),
            )
        asked = (f"\n\n{heading}\n{words}" for heading, words in headings if words)
        return f"{prompt}{''.join(asked)}".strip()

    def tool_switches(self) -> dict[str, bool]:
        """Of each tool of the agent whether it can be used in this turn."""
        return {tool: tool in self.tools for tool in self.agent.tools}


def choose_answerer(
    conversation: Conversation,
    catalog: Catalog,
    *,
    model_id: UUID | None = None,
    instructions: str = "",
    folder_instructions: str = "",
) -> Answerer:
    """The conversation's own agent, else the default; the model that is asked for, else the
    conversation's own, else the agent's; both the model and its provider switched on,
    and the person permitted to use it. Of the
    agent's tools those that are not switched off, everywhere or in this conversation; of the
    model's steps of thinking the one nearest to what was chosen, else to the agent's."""
    agent = catalog.agent(conversation.agent_id)
    if agent is None or not agent.usable:
        raise ChatError("error.chat_agent_not_found")
    model = catalog.model(model_id or conversation.model_id or agent.model_id)
    if model is None or not model.enabled:
        raise ChatError("error.chat_model_not_configured")
    if not model.permitted:
        raise ChatError("error.chat_model_not_permitted")
    if not model.provider_enabled:
        raise ChatError("error.chat_provider_not_enabled", provider=spoken(model.provider_names))
    off = conversation.tools_off or ()
    offered = () if model.runs_its_tools else catalog.allowed_tools(agent)
    tools = tuple(tool for tool in offered if tool not in off)
    effort = model.effort_for(conversation.effort or agent.effort)
    return Answerer(
        agent,
        model,
        tools,
        effort,
        instructions,
        search_engine=catalog.search_engine,
        folder_instructions=folder_instructions,
        limited=bool(catalog.budgets),
        tool_limits=catalog.tool_limits,
    )


def make_spec(
    conversation: Conversation,
    generation: Generation,
    answer: WithParts,
    answerer: Answerer,
    history: tuple[WithParts, ...],
) -> RunSpec:
    """What a run needs to know, once its rows are written."""
    assert isinstance(answer.info, AnswerInfo)
    agent = answerer.agent
    return RunSpec(
        request_id=str(generation.pk),
        info=answer.info,
        parts=answer.parts,
        user_id=conversation.owner_id,
        tab_id=generation.tab_id,
        rev=conversation.rev,
        language=conversation.prompt_language,
        system=answerer.system_prompt(conversation.prompt_language),
        tools=answerer.tools,
        tool_limits=answerer.tool_limits,
        temperature=agent.temperature,
        max_steps=agent.max_steps,
        unwatched=agent.unwatched,
        model=answerer.model.choice,
        effort=answerer.effort,
        tool_style="xml" if conversation.tool_style == "xml" else "json",
        search_engine=answerer.search_engine,
        limited=answerer.limited,
        logged=not conversation.temporary,
        history=history,
    )
