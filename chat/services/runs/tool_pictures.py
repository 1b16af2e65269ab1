"""Pictures that tools return: kept as files, shown on the card, and sent to models that see."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from chat.engine.files import AcceptedFiles
from chat.models import Attachment
from chat.protocol.files import own_id
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import (
    ModelProvider,
    ModelRequest,
    ProviderEvent,
    Toolbox,
    ToolContext,
    ToolOutput,
    ToolResult,
    ToolSpec,
)
from chat.protocol.messages import WithParts
from chat.protocol.parts import FilePart, Part, ToolPart
from chat.protocol.tool_state import ToolCompleted
from chat.services.conversations.attachments import keep_tool_pictures
from chat.services.pool import in_pool, in_worker
from chat.services.runs.files import Inline, picture_inline

# What is in the place of an address of ours when a request is sent, by that address.
Opened = Mapping[str, Inline]


class PictureKeeper:
    """A toolbox that keeps the pictures of its tools, and holds them ready for the model."""

    def __init__(self, toolbox: Toolbox, user_id: int, accepted: AcceptedFiles) -> None:
        self._toolbox = toolbox
        self._user_id = user_id
        self._accepted = accepted
        self._opened: dict[str, Inline] = {}

    def specs(self) -> Sequence[ToolSpec]:
        return self._toolbox.specs()

    async def run(self, name: str, arguments: JsonObject, context: ToolContext) -> ToolResult:
        result = await self._toolbox.run(name, arguments, context)
        return await self.keep(result, context.conversation_id, context.message_id)

    async def keep(self, result: ToolResult, conversation_id: str, message_id: str) -> ToolResult:
        """The result with files in the place of its pictures."""
        if not result.pictures:
            return result
        files = await in_pool(
            keep_tool_pictures, self._user_id, conversation_id, message_id, result.pictures
        )
        await self._open(files)
        return replace(result, pictures=(), attachments=(*result.attachments, *files))

    async def open_earlier(self, messages: Iterable[WithParts]) -> None:
        """Read the pictures of earlier turns, the latest first, as far as they fit."""
        files = [file for message in messages for part in message.parts for file in _files(part)]
        await self._open(files[::-1])

    async def _open(self, files: Sequence[FilePart]) -> None:
        if not files or not self._accepted.images:
            return
        rows = await in_pool(_rows, self._user_id, files)
        for file in files:
            row = rows.get((own_id(file.url) or "").lower())
            found = await in_worker(picture_inline, row, self._accepted) if row else None
            if found is None:
                continue
            if sum(each.size for each in self._opened.values()) + found.size > self._most:
                break
            self._opened[file.url] = found

    @property
    def _most(self) -> int:
        """Half of what a request may have: the other half is for what people attach."""
        return self._accepted.max_total // 2

    def with_pictures(self, messages: Sequence[WithParts]) -> tuple[WithParts, ...]:
        """The same messages with the content of the pictures in them: to be sent, never saved."""
        if not self._opened:
            return tuple(messages)
        return tuple(
            message.model_copy(
                update={"parts": tuple(_with(part, self._opened) for part in message.parts)}
            )
            if any(map(_files, message.parts))
            else message
            for message in messages
        )


class PictureKeepingProvider:
    """A provider that runs its tools itself, whose pictures are kept like those of ours."""

    def __init__(self, provider: ModelProvider, keeper: PictureKeeper, message_id: str) -> None:
        self._provider = provider
        self._keeper = keeper
        self._message_id = message_id

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        async with aclosing(self._provider.stream(request)) as events:
            async for event in events:
                if isinstance(event, ToolOutput) and event.result.pictures:
                    kept = await self._keeper.keep(
                        event.result, request.conversation_id, self._message_id
                    )
                    yield replace(event, result=kept)
                else:
                    yield event


def _rows(user_id: int, files: Sequence[FilePart]) -> dict[str, Attachment]:
    """Through the owner: a part that was imported may name anybody's file."""
    keys = {own_id(file.url) or "" for file in files}
    return {str(row.pk): row for row in Attachment.objects.filter(owner_id=user_id, pk__in=keys)}


def _files(part: Part) -> list[FilePart]:
    if not isinstance(part, ToolPart) or not isinstance(part.state, ToolCompleted):
        return []
    return [file for file in part.state.attachments or () if own_id(file.url)]


def _with(part: Part, opened: Opened) -> Part:
    if not isinstance(part, ToolPart) or not _files(part):
        return part
    assert isinstance(part.state, ToolCompleted)
    files = tuple(
        file.model_copy(update={"mime": found.mime, "url": found.url})
        if (found := opened.get(file.url))
        else file
        for file in part.state.attachments or ()
    )
    state = part.state.model_copy(update={"attachments": files})
    return part.model_copy(update={"state": state})
