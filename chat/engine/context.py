"""Making a conversation fit a model's window: old tool outputs go first, then older turns.

Sizes are estimates in tokens: about four characters of Latin text each, one and a half of Chinese.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from chat.engine.history import HistoryOptions, to_model_messages
from chat.engine.refused import without_thoughts
from chat.protocol import tool_state
from chat.protocol.effort import NONE
from chat.protocol.interfaces import (
    Block,
    FileBlock,
    ModelMessage,
    ModelRequest,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from chat.protocol.messages import UserInfo, WithParts
from chat.protocol.parts import Part, ReasoningPart, TextPart, Tokens, ToolPart
from chat.protocol.tool_state import ToolCompleted

# The tool outputs of the latest turns are still needed: they stay.
RECENT_TURNS = 2
# A picture costs about this much, whatever its size in bytes.
FILE_TOKENS = 1000
SUMMARY_TOKENS = 1000
# What it may take in all: of a model that cannot be kept from thinking its thoughts count, too.
THOUGHTFUL_SUMMARY_TOKENS = 4000
# What is kept free for the answer of a model: of one that nothing is known of, and at most.
ANSWER_TOKENS = 4096
LONG_ANSWER_TOKENS = 32_000

SUMMARISE = (
    "Summarise the conversation so far for somebody who must carry it on without having read it: "
    "what was asked, what was found out and decided, names, numbers and open points. "
    "Write plain text in the language of the conversation, at most 400 words."
)


def room(window: int, output_limit: int | None, longest: int | None = None) -> int:
    """How many tokens a request may have so that the answer still fits the window. Where no limit
    is set, room is kept for a long answer, not for the longest that the model could write."""
    kept = output_limit or min(longest or ANSWER_TOKENS, LONG_ANSWER_TOKENS, window // 4)
    return max(window - kept, window // 4)


def tokens_in(text: str) -> int:
    wide = sum(character > "\u2e7f" for character in text)
    return (len(text) - wide) // 4 + wide * 2 // 3 + 1


def estimate(request: ModelRequest) -> int:
    tools = sum(tokens_in(f"{tool.description}{tool.parameters}") for tool in request.tools)
    return tokens_in(request.system) + tools + _total(request.messages)


def used_so_far(request: ModelRequest, written: Sequence[Part]) -> Tokens:
    """About how many tokens a request and the parts of its answer have."""
    said = sum(tokens_in(part.text) for part in written if isinstance(part, TextPart))
    thought = sum(tokens_in(part.text) for part in written if isinstance(part, ReasoningPart))
    called = sum(tokens_in(str(p.state.input)) for p in written if isinstance(p, ToolPart))
    return Tokens(input=estimate(request), output=said + called, reasoning=thought)


def _size(block: Block) -> int:
    match block:
        case TextBlock() | ReasoningBlock():
            return tokens_in(block.text)
        case ToolCallBlock():
            return tokens_in(str(block.input))
        case ToolResultBlock():
            return tokens_in(block.text) + FILE_TOKENS * len(block.files)
        case FileBlock():
            return FILE_TOKENS


def old_outputs(messages: Sequence[WithParts], excess: int) -> list[str]:
    """The ids of the oldest tool outputs that together have as many tokens as are too many."""
    turns = [n for n, message in enumerate(messages) if isinstance(message.info, UserInfo)]
    recent = turns[-RECENT_TURNS] if len(turns) >= RECENT_TURNS else 0
    ids: list[str] = []
    for part in _outputs(messages[:recent]):
        if excess <= 0:
            break
        assert isinstance(part.state, ToolCompleted)
        excess -= tokens_in(part.state.output)
        ids.append(part.id)
    return ids


def _outputs(messages: Sequence[WithParts]) -> Iterator[ToolPart]:
    for message in messages:
        for part in message.tools:
            if isinstance(part.state, ToolCompleted) and not part.state.time.compacted:
                yield part


def compacted(
    messages: Sequence[WithParts], ids: Collection[str], now: int
) -> tuple[WithParts, ...]:
    """The same messages, with these outputs marked as no longer sent."""
    return tuple(
        message.model_copy(update={"parts": tuple(_compact(p, ids, now) for p in message.parts)})
        for message in messages
    )


def _compact(part: Part, ids: Collection[str], now: int) -> Part:
    if isinstance(part, ToolPart) and part.id in ids:
        return part.model_copy(update={"state": tool_state.compact(part.state, now)})
    return part


def kept_from(messages: Sequence[WithParts], budget: int) -> int:
    """The index from which the turns fit the budget; the last turn is always among them."""
    turns = [n for n, message in enumerate(messages) if isinstance(message.info, UserInfo)]
    kept = turns[-1] if turns else 0
    for start in reversed(turns[:-1]):
        if _total(to_model_messages(messages[start:])) > budget:
            break
        kept = start
    return kept


def summary_request(request: ModelRequest, older: Sequence[WithParts], limit: int) -> ModelRequest:
    """A request for a summary of the older turns; the oldest are left out where they do not fit."""
    options = HistoryOptions(strip_media=True, tool_characters=2000)
    # Its thoughts belong to the conversation as it is, and this is another one.
    messages = list(without_thoughts(to_model_messages(older, options), earlier=False))
    while len(messages) > 1 and _total(messages) > limit - SUMMARY_TOKENS:
        del messages[0]
    while messages and messages[0].role == "tool":
        del messages[0]
    ask = ModelMessage("user", (TextBlock(SUMMARISE),))
    room = THOUGHTFUL_SUMMARY_TOKENS if request.window is None else request.window // 4
    return replace(
        request,
        messages=(*messages, ask),
        tools=(),
        server_tools=(),
        output_limit=max(SUMMARY_TOKENS, min(room, THOUGHTFUL_SUMMARY_TOKENS)),
        # However hard the model thinks about its answers: what it thinks is no summary.
        effort=request.thinking.nearest(NONE),
        temperature=None,
        # It begins unlike any other request: what it wrote to a cache nobody would read.
        cache_key="",
    )


def _total(messages: Sequence[ModelMessage]) -> int:
    return sum(_size(block) for message in messages for block in message.content)
