"""What one run asks its model, and with what tools."""

from django.conf import settings

from chat.engine import context, media
from chat.engine.history import HistoryOptions, to_model_messages
from chat.engine.xml_provider import XmlToolProvider
from chat.protocol.interfaces import (
    ModelMessage,
    ModelProvider,
    ModelRequest,
    TextBlock,
    ToolContext,
)
from chat.protocol.messages import WithParts
from chat.protocol.parts import Part, ToolPart
from chat.protocol.tool_state import JsonObject, ToolCompleted
from chat.providers.http import HttpSettings
from chat.providers.registry import connect, shared_http
from chat.services.context import make_fit
from chat.services.media import open_files
from chat.services.pace import pace
from chat.services.pool import in_pool
from chat.services.runs import Run
from chat.tools.registry import registry

GO_ON = "Continue exactly where you stopped, without repeating anything."


class Asking:
    """A run's provider, its toolbox, and the requests made of what was said."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.toolbox = registry.toolbox(run.assignment.tools)
        self.tools = tuple(self.toolbox.specs())
        self.provider: ModelProvider = connect(
            run.assignment.model.connection, shared_http(http_settings())
        )
        if run.assignment.tool_style == "xml":
            self.provider = XmlToolProvider(self.provider, self.tools)

    def request(self, parts: tuple[Part, ...]) -> ModelRequest:
        assignment = self.run.assignment
        return ModelRequest(
            model=assignment.model.ref.model_id,
            system=assignment.system,
            messages=self._messages(parts),
            tools=self.tools,
            temperature=assignment.temperature,
            max_output=assignment.model.max_output,
        )

    def _messages(self, parts: tuple[Part, ...]) -> tuple[ModelMessage, ...]:
        """The conversation and the answer so far; one taken up in mid-sentence is told so."""
        run = self.run
        so_far = WithParts(info=run.info, parts=parts)
        options = HistoryOptions(model=run.assignment.model.ref)
        messages = to_model_messages((*run.history, so_far), options)
        messages = media.for_model(messages, run.assignment.model.takes)
        taken_up = bool(parts) and len(parts) == len(run.assignment.parts)
        if taken_up and messages and messages[-1].role == "assistant":
            messages += (ModelMessage("user", (TextBlock(GO_ON),)),)
        return messages

    async def open_files(self) -> None:
        """Read the attached files once, before the first request."""
        run, takes = self.run, self.run.assignment.model.takes
        run.history = await in_pool(open_files, run.history, run.assignment.user_id, takes)

    async def fit(self) -> None:
        """Shorten what would not fit the model's window, where that is known."""
        model = self.run.assignment.model
        if model.context_window:
            await self._shorten(context.room(model.context_window, model.max_output))

    async def fit_after_refusal(self) -> bool:
        """The provider says it was too long: try with half; whether anything was shortened."""
        before = self.run.history
        await self._shorten(context.estimate(self._now()) // 2)
        return self.run.history != before

    async def _shorten(self, limit: int) -> None:
        await make_fit(self.run, self.provider, self._now, limit)

    def _now(self) -> ModelRequest:
        return self.request(self.run.assembly.parts())

    def context_for(self, call: ToolPart) -> ToolContext:
        return ToolContext(
            conversation_id=self.run.conversation_id,
            message_id=self.run.info.id,
            call_id=call.call_id,
            language=self.run.assignment.language,
            previous=self._previous(call),
        )

    def _previous(self, call: ToolPart) -> JsonObject | None:
        """What the same tool showed last in this conversation."""
        said = (*self.run.assignment.history, self.run.so_far())
        for message in reversed(said):
            for tool in reversed(message.tools):
                if tool.tool == call.tool and isinstance(tool.state, ToolCompleted):
                    return tool.state.metadata.get("display")
        return None


def http_settings() -> HttpSettings:
    limits = settings.PARLEY_LIMITS
    return HttpSettings(
        first_byte=limits["first_byte_seconds"],
        idle=limits["idle_seconds"],
        read_every=pace.reading,
    )
