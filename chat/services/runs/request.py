"""What a run asks its model: the messages, the tools and the files, request by request."""

from collections.abc import Iterator

from django.conf import settings

from chat.engine import context
from chat.engine.files import replace_other_files
from chat.engine.history import HistoryOptions, to_model_messages
from chat.protocol.displays import Display
from chat.protocol.interfaces import (
    ModelMessage,
    ModelProvider,
    ModelRequest,
    TextBlock,
    Toolbox,
    ToolContext,
)
from chat.protocol.messages import WithParts, is_answer
from chat.protocol.notes import state_notes
from chat.protocol.parts import Part, ToolPart
from chat.protocol.server_tools import LOOKING
from chat.protocol.tool_state import ToolCompleted
from chat.providers.http import HttpSettings
from chat.providers.registry import shared_http
from chat.services.pool import in_pool, in_worker
from chat.services.runs.budgeted import BudgetedProvider
from chat.services.runs.files import has_files, open_files, rows_of
from chat.services.runs.fit import make_fit
from chat.services.runs.model import open_model
from chat.services.runs.run import Run
from chat.services.runs.tool_pictures import PictureKeeper, PictureKeepingProvider
from chat.services.runs.written_first import WritingToolbox
from chat.tools.registry import registry

GO_ON = "Continue exactly where you stopped, without repeating anything."


class RequestBuilder:
    """A run's provider and toolbox, and the requests made of the conversation so far."""

    def __init__(self, run: Run) -> None:
        self.run = run
        accepted = run.spec.model.accepted_files
        self.toolbox = PictureKeeper(
            registry.toolbox(run.spec.tools, limits=run.spec.tool_limits),
            run.spec.user_id,
            accepted,
        )
        self.tools = tuple(self.toolbox.specs())
        model: ModelProvider = open_model(
            run.spec.model,
            shared_http(http_settings()),
            style=run.spec.tool_style,
            tools=self.tools,
            try_now=run.try_now,
        )
        if run.spec.limited:
            model = BudgetedProvider(model, run)
        if run.spans:
            model = run.spans.provider(model, run.spec.model.connection.base_url)
        self.provider = PictureKeepingProvider(model, self.toolbox, run.info.id)

    def running_toolbox(self) -> Toolbox:
        """That by which calls are made."""
        toolbox = WritingToolbox(self.toolbox, self.run)
        return self.run.spans.toolbox(toolbox) if self.run.spans else toolbox

    def request(self, parts: tuple[Part, ...]) -> ModelRequest:
        spec = self.run.spec
        return ModelRequest(
            model=spec.model.ref.model_id,
            system=spec.system,
            messages=self._messages(parts),
            tools=self.tools,
            server_tools=spec.model.server_tools,
            temperature=spec.temperature,
            output_limit=spec.model.output_limit,
            longest_output=spec.model.longest_output,
            window=spec.model.context_window,
            thinks=spec.model.thinks,
            thinking=spec.model.thinking,
            effort=spec.effort,
            cache_key=self.run.conversation_id,
            conversation_id=self.run.conversation_id,
        )

    def _messages(self, parts: tuple[Part, ...]) -> tuple[ModelMessage, ...]:
        """The conversation and the answer so far; one taken up in mid-sentence is told so."""
        run = self.run
        so_far = WithParts(info=run.info, parts=parts)
        options = HistoryOptions(model=run.spec.model.ref, media_in_results=True)
        talk = self.toolbox.with_pictures((*run.history, so_far))
        messages = to_model_messages(talk, options)
        messages = replace_other_files(messages, run.spec.model.accepted_files)
        taken_up = bool(parts) and len(parts) == len(run.spec.parts)
        if taken_up and messages and messages[-1].role == "assistant":
            messages += (ModelMessage("user", (TextBlock(GO_ON),)),)
        return messages

    async def open_files(self) -> None:
        """Read the attached files once, before the first request."""
        run, accepted = self.run, self.run.spec.model.accepted_files
        if has_files(run.history):
            rows = await in_pool(rows_of, run.history, run.spec.user_id)
            run.history = await in_worker(open_files, run.history, rows, accepted)
        await self.toolbox.open_earlier((*run.history, run.so_far()))

    async def fit(self) -> None:
        """Shorten what would not fit the model's window, where that is known."""
        model = self.run.spec.model
        if model.context_window:
            await self._shorten(self._room(model.context_window))

    async def fit_after_refusal(self, window: int | None = None) -> bool:
        """The provider says it was too long: try with half, or with what fits the window that it
        has told; whether anything was shortened."""
        before, half = self.run.history, context.estimate(self._now()) // 2
        told = self._room(window) if window else half
        await self._shorten(min(told, half))
        return self.run.history != before

    def _room(self, window: int) -> int:
        model = self.run.spec.model
        return context.room(window, model.output_limit, model.longest_output)

    async def _shorten(self, limit: int) -> None:
        await make_fit(self.run, self.provider, self._now, limit)

    def _now(self) -> ModelRequest:
        return self.request(self.run.assembly.parts())

    def context_for(self, call: ToolPart) -> ToolContext:
        return ToolContext(
            conversation_id=self.run.conversation_id,
            message_id=self.run.info.id,
            call_id=call.call_id,
            language=self.run.spec.language,
            previous=self._previous(call),
            search_engine=self.run.spec.search_engine,
            told=self._told,
        )

    def _told(self) -> Iterator[str]:
        """What the person said, and what searches and pages did."""
        for message in (*self.run.spec.history, self.run.so_far()):
            if not is_answer(message.info):
                yield message.text
            for tool in message.tools:
                if _is_from_outside(tool.tool) and isinstance(tool.state, ToolCompleted):
                    yield tool.state.output

    def _previous(self, call: ToolPart) -> Display | None:
        """What the same tool showed last in this conversation."""
        for message in reversed((*self.run.spec.history, self.run.so_far())):
            for tool in reversed(message.tools):
                if tool.tool == call.tool and isinstance(tool.state, ToolCompleted):
                    return state_notes(tool.state).display
        return None


def _is_from_outside(name: str) -> bool:
    """Whether a tool says nothing but what it has found elsewhere: one of ours, or a provider's."""
    return registry.is_from_outside(name) if name in registry else name in LOOKING


def http_settings() -> HttpSettings:
    limits = settings.PARLEY_LIMITS
    return HttpSettings(
        first_byte=limits["first_byte_seconds"],
        idle=limits["idle_seconds"],
    )
