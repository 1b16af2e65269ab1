"""Messages as strangers may read them: what was said, and nothing about whose it is.

Made by taking over what is wanted, not by taking away what is not: a field that is added one day
is private until it is named here. Ids are numbers of the place; tokens, costs, names, agents,
providers, signatures and reasons of failures stay behind.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypedDict
from uuid import UUID

from chat.protocol import tool_state
from chat.protocol.citations import Citation
from chat.protocol.files import own_id
from chat.protocol.frozen import JsonObject
from chat.protocol.messages import (
    AnswerInfo,
    AnswerTime,
    MessageError,
    Status,
    UserInfo,
    UserTime,
    WithParts,
)
from chat.protocol.notes import (
    PartNotes,
    StateNotes,
    part_notes,
    state_notes,
    with_part_notes,
    with_state_notes,
)
from chat.protocol.parts import FilePart, Part, ReasoningPart, TextPart, ToolPart
from chat.protocol.tool_state import ToolCompleted, ToolError, ToolPending, ToolRunning, ToolState

SESSION = str(UUID(int=0))
# Reasons that quote the provider or its model, and what is said instead.
_WITHOUT_WORDS: Final = {
    "error.chat_imported_failure": "error.chat_generation_failed",
    "error.chat_model_refused_because": "error.chat_model_refused",
}

# What a model is called, by the ids of its provider and of itself.
ModelName = Callable[[str, str], str]


class _Ids(TypedDict):
    id: str
    session_id: str
    message_id: str


class Sharing:
    """How much of the messages is shown."""

    def __init__(self, *, thinking: bool, tools: bool, model_name: ModelName) -> None:
        self._thinking = thinking
        self._tools = tools
        self._model_name = model_name

    def messages(self, messages: Iterable[WithParts], first: int = 1) -> tuple[WithParts, ...]:
        return tuple(
            self._message(message, number) for number, message in enumerate(messages, start=first)
        )

    def _message(self, message: WithParts, number: int) -> WithParts:
        key = str(UUID(int=number))
        parts = tuple(self._parts(message.parts, key))
        info = message.info
        if isinstance(info, UserInfo):
            time = UserTime(created=info.time.created)
            made: UserInfo | AnswerInfo = UserInfo(
                id=key, session_id=SESSION, position=number, time=time
            )
        else:
            made = AnswerInfo(
                id=key,
                session_id=SESSION,
                position=number,
                time=AnswerTime(
                    created=info.time.created,
                    completed=info.time.completed,
                    pauses=info.time.pauses,
                ),
                status=info.status,
                model_id=self._model_name(info.provider_id, info.model_id),
                finish=info.finish,
                error=_error(info.error),
            )
        return WithParts(info=made, parts=parts)

    def _parts(self, parts: Iterable[Part], message_id: str) -> Iterator[Part]:
        calls: dict[str, str] = {}
        for place, part in enumerate(parts):
            if isinstance(part, ToolPart):
                calls[part.call_id] = f"call-{place}"
        for place, part in enumerate(parts):
            if not part_notes(part).unreadable and (made := self._part(part, calls)):
                ids = {"id": f"{message_id}-{place}", "message_id": message_id}
                yield made.model_copy(update=ids)

    def _part(self, part: Part, calls: dict[str, str]) -> Part | None:
        notes = part_notes(part)
        above = calls.get(notes.parent_call_id, "")
        ids = _Ids(id=part.id, session_id=SESSION, message_id=SESSION)
        match part:
            case TextPart():
                if above and not self._tools:
                    return None
                cited = tuple(_cited(each) for each in notes.citations)
                own = with_part_notes(None, PartNotes(parent_call_id=above, citations=cited))
                return TextPart(
                    **ids,
                    text=part.text,
                    synthetic=part.synthetic,
                    # Its owner sees it too; whoever goes on with a copy must not send it either.
                    ignored=part.ignored,
                    time=part.time,
                    metadata=own,
                )
            case ReasoningPart() if self._thinking and (self._tools or not above):
                own = with_part_notes(None, PartNotes(parent_call_id=above))
                return ReasoningPart(**ids, text=part.text, time=part.time, metadata=own)
            case ToolPart() if self._tools:
                own = with_part_notes(
                    None, PartNotes(parent_call_id=above, unpaired=notes.unpaired)
                )
                return ToolPart(
                    **ids,
                    call_id=calls[part.call_id],
                    tool=part.tool,
                    state=_state(part.state),
                    metadata=own,
                )
            case FilePart():
                return _file(part)
            case _:
                return None


def _cited(citation: Citation) -> Citation:
    return citation.without_raw()


def _error(error: MessageError | None) -> MessageError | None:
    """Which kind of failure it was; what the provider said about it is not told."""
    if error is None:
        return None
    return MessageError(name=error.name, key=_WITHOUT_WORDS.get(error.key, error.key))


def _file(part: FilePart) -> FilePart | None:
    """A file of ours; addresses elsewhere are asked by nobody."""
    if own_id(part.url) is None:
        return None
    return FilePart(
        id=part.id,
        session_id=SESSION,
        message_id=SESSION,
        mime=part.mime,
        url=part.url,
        filename=part.filename,
        size=part.size,
    )


def _state(state: ToolState) -> ToolState:
    known = state_notes(state)
    notes = with_state_notes(
        None,
        StateNotes(
            display=known.display,
            reasons=known.reasons,
            interrupted=known.interrupted,
            partial_output=known.partial_output,
            raw_arguments=known.raw_arguments,
        ),
    )
    match state:
        case ToolCompleted():
            files = tuple(made for file in state.attachments or () if (made := _file(file)))
            changes: dict[str, Any] = {"metadata": notes or {}, "attachments": files or None}
            return state.model_copy(update=changes)
        case ToolError() | ToolRunning():
            return state.model_copy(update={"metadata": notes})
        case ToolPending():
            return state


def ended(message: WithParts, now: int) -> WithParts:
    """The message as it stands, should more of it be written just now: nothing of it runs."""
    info = message.info
    if not isinstance(info, AnswerInfo) or info.status not in ("pending", "streaming"):
        return message
    status: Status = "cancelled"
    stopped = info.model_copy(update={"status": status, "error": None})
    parts = tuple(
        part.model_copy(update={"state": tool_state.abort(part.state, now)})
        if isinstance(part, ToolPart) and isinstance(part.state, ToolPending | ToolRunning)
        else part
        for part in message.parts
    )
    return WithParts(info=stopped, parts=parts)


def files_of(messages: Iterable[WithParts]) -> Iterator[FilePart]:
    """All files that are shown, those of tools among them."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, FilePart):
                yield part
            elif isinstance(part, ToolPart) and isinstance(part.state, ToolCompleted):
                yield from part.state.attachments or ()


def file_urls(messages: Iterable[JsonObject]) -> Iterator[str]:
    """The addresses of the same files, of messages as they are kept: the rest is not read."""
    for message in messages:
        for part in message["parts"]:
            match part:
                case {"type": "file", "url": str(url)}:
                    yield url
                case {"type": "tool", "state": {"status": "completed", "attachments": [*files]}}:
                    yield from (file["url"] for file in files)


def with_files_at(
    messages: Iterable[WithParts], address: Callable[[str], str]
) -> tuple[WithParts, ...]:
    """The messages with another address for each of our files, by its id."""

    def moved(file: FilePart) -> FilePart:
        return file.model_copy(update={"url": address(own_id(file.url) or "")})

    def part_of(part: Part) -> Part:
        match part:
            case FilePart():
                return moved(part)
            case ToolPart(state=ToolCompleted(attachments=files)) if files:
                changes = {"attachments": tuple(map(moved, files))}
                return part.model_copy(update={"state": part.state.model_copy(update=changes)})
            case _:
                return part

    return tuple(
        WithParts(info=message.info, parts=tuple(map(part_of, message.parts)))
        for message in messages
    )
