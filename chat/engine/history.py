"""Parts → the messages of a request: built anew for every request, never stored.

No call goes without its result, results follow their call, and the list of one turn is
the beginning of the next turn's, so that prompt caches hit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from chat.protocol.interfaces import (
    Block,
    FileBlock,
    ModelMessage,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from chat.protocol.messages import ABORTED, AnswerInfo, ModelRef, UserInfo, WithParts
from chat.protocol.notes import is_nested, of_others, part_notes, state_notes
from chat.protocol.parts import (
    FilePart,
    Part,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolPart,
)
from chat.protocol.tool_state import ToolCompleted, ToolError

INTERRUPTED = "[Tool execution was interrupted]"
CLEARED = "[Old tool result content cleared]"
ATTACHED = "Attached media from tool result:"
SUMMED_UP = "[Summary of the earlier conversation]\n\n{text}"
TRUNCATED = "\n[Tool output truncated for compaction: omitted {count} chars]"

# Ended early, but not broken: their text is part of the conversation.
KEPT_ERRORS = frozenset(
    {
        "error.chat_interrupted",
        "error.chat_shutdown",
        "error.chat_max_steps",
        "error.chat_repeated_calls",
        "error.chat_output_limit",
        "error.chat_time_limit",
    }
)
# Their text is in a text part of the same message; a folder has none.
_SAID_AS_TEXT = ("text/plain", "application/x-directory")


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """What the model can take."""

    model: ModelRef | None = None
    media_in_results: bool = False
    strip_media: bool = False
    tool_characters: int | None = None  # at most, of a tool's output


def to_model_messages(
    messages: Sequence[WithParts], options: HistoryOptions | None = None
) -> tuple[ModelMessage, ...]:
    """The conversation as the messages of a request, oldest first."""
    options = options or HistoryOptions()
    recent = _since_summary(messages)
    return tuple(sent for message in recent for sent in _message(message, options))


def _since_summary(messages: Sequence[WithParts]) -> Sequence[WithParts]:
    """A message that sums up what came before it stands for all of that."""
    summed = [n for n, message in enumerate(messages) if _summary(message)]
    return messages[summed[-1] :] if summed else messages


def _summary(message: WithParts) -> str:
    info = message.info
    return (info.summary.body or "") if isinstance(info, UserInfo) and info.summary else ""


def _message(message: WithParts, options: HistoryOptions) -> Iterator[ModelMessage]:
    if not isinstance(message.info, AnswerInfo):
        content = tuple(_question(message.parts, options))
        if summary := _summary(message):
            content = (TextBlock(SUMMED_UP.format(text=summary)), *content)
        if content:
            yield ModelMessage("user", content)
    elif _is_sent(message, message.info):
        own = options.model is None or options.model == ModelRef(
            provider_id=message.info.provider_id, model_id=message.info.model_id
        )
        for is_mark, step in groupby(message.parts, lambda part: isinstance(part, StepStartPart)):
            if not is_mark:
                yield from _step([part for part in step if not is_nested(part)], options, own)


def _is_sent(message: WithParts, info: AnswerInfo) -> bool:
    """A failed answer is not sent; one that was stopped is, if it has any content."""
    error = info.error
    failed = info.status == "error" or (error is not None and error.name != ABORTED)
    if failed and not (error and error.key in KEPT_ERRORS):
        return False
    if failed or error or info.status == "cancelled":
        silent = (StepStartPart, StepFinishPart, ReasoningPart)
        return any(not isinstance(part, silent) for part in message.parts)
    return True


def _question(parts: Sequence[Part], options: HistoryOptions) -> Iterator[Block]:
    for part in parts:
        if isinstance(part, TextPart) and part.text and not part.ignored:
            yield TextBlock(part.text)
        elif isinstance(part, FilePart) and part.mime not in _SAID_AS_TEXT:
            named = f"[Attached {part.mime}: {part.filename or 'file'}]"
            yield TextBlock(named) if options.strip_media else _file(part)


def _step(parts: Sequence[Part], options: HistoryOptions, own: bool) -> Iterator[ModelMessage]:
    """One model call: its reply, then the results of its calls."""
    # What the provider ran itself it is given back as it came, by the blocks beside it.
    parts = [part for part in parts if not (own and part_notes(part).by_provider)]
    content = tuple(_reply(parts, own))
    if content:
        yield ModelMessage("assistant", content)
    tools = [part for part in parts if isinstance(part, ToolPart)]
    if not tools:
        return
    yield ModelMessage("tool", tuple(_result(tool, options) for tool in tools))
    files = tuple(file for tool in tools for file in _files(tool, options))
    if files and not options.media_in_results:
        yield ModelMessage("user", (TextBlock(ATTACHED), *files))


def _reply(parts: Sequence[Part], own: bool) -> Iterator[Block]:
    signed = own and any(isinstance(part, ReasoningPart) and _signed(part) for part in parts)
    for part in parts:
        if isinstance(part, TextPart) and not part.ignored:
            # Signed thoughts are checked by their place, so the empty text must stay there.
            said = part.text or (" " if signed else "")
            if own and part.metadata:
                yield TextBlock(said, part_notes(part).citations, of_others(part.metadata))
            else:
                yield TextBlock(said)
        elif isinstance(part, ReasoningPart):
            yield from _thought(part, own)
        elif isinstance(part, ToolPart):
            metadata = of_others(part.metadata) if own else {}
            yield ToolCallBlock(part.call_id, part.tool, part.state.input, metadata)


def _thought(part: ReasoningPart, own: bool) -> Iterator[Block]:
    """A thought goes back as one only to the model that had it."""
    if part_notes(part).abandoned:
        return
    if own:
        yield ReasoningBlock(part.text, of_others(part.metadata))
    elif part.text.strip():
        yield TextBlock(part.text)


def _signed(part: ReasoningPart) -> bool:
    metadata = of_others(part.metadata)
    vendor = metadata.get("anthropic")
    return "signature" in metadata or (isinstance(vendor, dict) and "signature" in vendor)


def _result(part: ToolPart, options: HistoryOptions) -> ToolResultBlock:
    text, is_error = _outcome(part)
    if options.tool_characters is not None and not is_error and len(text) > options.tool_characters:
        omitted = TRUNCATED.format(count=len(text) - options.tool_characters)
        text = text[: options.tool_characters] + omitted
    files = _files(part, options) if options.media_in_results else ()
    return ToolResultBlock(part.call_id, part.tool, text, is_error, files)


def _outcome(part: ToolPart) -> tuple[str, bool]:
    match part.state:
        case ToolCompleted(time=time, output=output):
            return (CLEARED if time.compacted is not None else output), False
        case ToolError(error=error) as state:
            notes = state_notes(state)
            if not notes.interrupted:
                return error, True
            partial = notes.partial_output
            return (INTERRUPTED, True) if partial is None else (partial, False)
        case _:
            return INTERRUPTED, True


def _files(part: ToolPart, options: HistoryOptions) -> tuple[FileBlock, ...]:
    state = part.state
    if not isinstance(state, ToolCompleted) or state.time.compacted is not None:
        return ()
    if options.strip_media:
        return ()
    return tuple(_file(file) for file in state.attachments or ())


def _file(part: FilePart) -> FileBlock:
    return FileBlock(part.mime, part.url, part.filename or "")
