"""What the program prints → the events of an answer: its words, its calls and what they cost."""

import json
from base64 import b64decode
from collections.abc import Iterator
from typing import Final, assert_never

from chat.formats.claude_stream import ClaudeReader
from chat.formats.imported import displays
from chat.formats.imported.plans import Plans
from chat.formats.imported.updates import (
    Called,
    InlineFile,
    Interrupted,
    LeftOut,
    Prompt,
    Returned,
    SessionSeen,
    Step,
    StepUsed,
    Titled,
    TurnEnded,
    TurnStarted,
    Update,
    Words,
)
from chat.protocol.errors import ProviderError
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import new_id
from chat.protocol.interfaces import (
    Finish,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallStart,
    ToolOutput,
    ToolPicture,
    ToolResult,
    Usage,
)
from chat.protocol.parts import CacheTokens, Tokens
from chat.providers.claude_code.faults import is_final, retry_failure, turn_failure
from chat.providers.claude_code.prompt import MARK

UNKNOWN_TOOL: Final = "Tool"
_FINISHED: Final = {"max_tokens": "length", "refusal": "refusal"}


class ClaudeCodeAnswer:
    """Reads the lines of one turn. What sub-agents say is theirs: only their calls are shown."""

    def __init__(self) -> None:
        self._reader = ClaudeReader()
        self._session = ""
        self._used = Tokens()
        # The text that is being written, to be told apart from the next one.
        self._text_block = ""
        # Calls that were told as whole, and those of them without a result.
        self._calls: dict[str, Called] = {}
        self._open: set[str] = set()
        self._plans = Plans()
        # How its turn ended, which a task in the background may make it go on with.
        self._end: TurnEnded | None = None
        self.has_said = False
        self.is_done = False

    @property
    def runs_tools(self) -> bool:
        """Whether a tool runs, which may take long without a word."""
        return bool(self._open)

    def read(self, line: JsonObject) -> Iterator[ProviderEvent]:
        """What a line adds; a failed turn raises its error."""
        if line.get("type") == "system" and line.get("subtype") == "api_retry" and is_final(line):
            # It would ask again and again for what cannot be helped by that.
            raise retry_failure(line)
        for update in self._reader.read(line):
            for event in self._events(update):
                self.has_said = self.has_said or not isinstance(event, Usage)
                yield event

    def _events(self, update: Update) -> Iterator[ProviderEvent]:
        match update:
            case SessionSeen():
                self._session = update.session_id
            case Step() | StepUsed():
                yield from self._counted(update)
            case Words():
                yield from self._words(update)
            case Called():
                yield from self._called(update)
            case Returned():
                yield from self._returned(update)
            case TurnEnded():
                yield from self._ended(update)
            case TurnStarted() | Titled() | Prompt() | Interrupted() | LeftOut():
                return
            case _:
                assert_never(update)

    def _counted(self, step: Step | StepUsed) -> Iterator[ProviderEvent]:
        if isinstance(step, StepUsed):
            self._used = _most(self._used, step.tokens)
            yield Usage(self._used)
        elif not step.parent:
            self._used = Tokens()

    def _words(self, words: Words) -> Iterator[ProviderEvent]:
        if not words.delta or words.parent:
            return
        if words.kind == "thinking":
            self._text_block = ""
            yield ReasoningDelta(words.delta)
            return
        # Two texts in a row would run into each other.
        between = "\n\n" if self._text_block not in ("", words.block) else ""
        self._text_block = words.block
        yield TextDelta(between + words.delta)

    def _called(self, call: Called) -> Iterator[ProviderEvent]:
        if call.call_id in self._calls:
            return
        self._text_block = ""
        if call.is_pending:
            yield ToolCallStart(call.call_id, call.name, call.parent)
            return
        self._calls[call.call_id] = call
        self._open.add(call.call_id)
        yield ToolCall(
            call.call_id,
            call.name,
            call.input,
            raw=json.dumps(call.input, ensure_ascii=False),
            by_provider=True,
            parent_call_id=call.parent,
        )

    def _returned(self, result: Returned) -> Iterator[ProviderEvent]:
        call_id = result.call_id or f"call_{new_id()}"
        if call_id not in self._calls:
            # A result whose call nobody saw has a card of its own.
            yield from self._called(Called(call_id, UNKNOWN_TOOL, {}))
        if call_id not in self._open:
            return
        self._open.discard(call_id)
        call = self._calls[call_id]
        display = displays.of_returned(call, result, self._plans)
        pictures = tuple(found for image in result.files if (found := _picture(image)))
        yield ToolOutput(
            call_id,
            ToolResult(result.output, display=display, is_error=result.is_error, pictures=pictures),
        )

    def close(self) -> Iterator[ProviderEvent]:
        """There is nothing more to be read: its turn is over if it has ended."""
        if self._end is not None and not self.is_done:
            yield from self._finish(self._end)

    def _ended(self, end: TurnEnded) -> Iterator[ProviderEvent]:
        if end.may_go_on:
            self._end = end
        else:
            yield from self._finish(end)

    def _finish(self, end: TurnEnded) -> Iterator[ProviderEvent]:
        """The whole turn was paid for by its last step; the others cost nothing of their own."""
        yield Usage(self._used, end.cost)
        if end.status == "error":
            raise turn_failure(end)
        self.is_done = True
        if self._session:
            yield ReasoningDelta("", {MARK: self._session})
        yield Finish(_FINISHED.get(end.finish, "stop"))


def is_lost_session(error: ProviderError) -> bool:
    """Whether there is no session any more that could be gone on with."""
    return "no conversation found" in error.message.lower()


def _most(known: Tokens, new: Tokens) -> Tokens:
    """Each report knows some of the numbers; none of them goes down."""
    return Tokens(
        input=max(known.input, new.input),
        output=max(known.output, new.output),
        cache=CacheTokens(
            read=max(known.cache.read, new.cache.read),
            write=max(known.cache.write, new.cache.write),
        ),
    )


def _picture(image: InlineFile) -> ToolPicture | None:
    try:
        return ToolPicture(b64decode(image.url.partition(",")[2], validate=True))
    except ValueError:
        return None
