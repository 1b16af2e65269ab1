"""What the engine is given: a model to ask, tools to run, and the values they exchange."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from chat.protocol.adjustments import Adjustment
from chat.protocol.citations import Citation
from chat.protocol.displays import Display
from chat.protocol.effort import Effort, Thinking
from chat.protocol.frozen import JsonObject
from chat.protocol.parts import FilePart, Tokens
from chat.protocol.reasons import Reason

ToolStyle = Literal["json", "xml"]


# --- what a tool is and gives back ------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model reads of it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class ToolPicture:
    """A picture that a tool has made: the bytes of a PNG, JPEG, WebP or GIF."""

    data: bytes = field(repr=False)
    name: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model reads (`text`) and what the person sees (`display`), kept apart.

    Of a failed call the person sees the `reasons`, in the reader's language, if there are any.
    """

    text: str
    display: Display | None = None
    is_error: bool = False
    reasons: tuple[Reason, ...] = ()
    title: str = ""
    # What it returns besides its text; a run keeps them as files, which are then the attachments.
    pictures: tuple[ToolPicture, ...] = ()
    attachments: tuple[FilePart, ...] = ()

    @classmethod
    def failed(cls, text: str, *reasons: Reason) -> "ToolResult":
        return cls(text, is_error=True, reasons=reasons)


SearchKind = Literal["duckduckgo", "searxng", "brave", "tavily"]


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """Who searches the web for us; without an address, the engine's own."""

    kind: SearchKind = "duckduckgo"
    base_url: str = ""
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Who asks, and where: given to a tool that wants it."""

    conversation_id: str
    message_id: str
    call_id: str
    language: str = "en"
    # What the same tool showed last in this conversation, for tools that keep a state.
    previous: Display | None = None
    search_engine: SearchEngine = field(default_factory=SearchEngine)
    # What was said in the conversation by others than the model: the person, searches and pages.
    told: Callable[[], Iterable[str]] = field(default=tuple, repr=False)


class Toolbox(Protocol):
    """The tools one agent may use."""

    def specs(self) -> Sequence[ToolSpec]: ...

    async def run(self, name: str, arguments: JsonObject, context: ToolContext) -> ToolResult:
        """Run a tool. Never raises for what the tool did: that is a result with `is_error`."""
        ...


# --- what is sent to a model ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextBlock:
    text: str
    # Of a text of the model that is asked: the sources that it named, and what goes back with it.
    citations: tuple[Citation, ...] = ()
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReasoningBlock:
    text: str
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileBlock:
    mime: str
    url: str
    filename: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallBlock:
    call_id: str
    name: str
    input: JsonObject
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolResultBlock:
    call_id: str
    name: str
    text: str
    is_error: bool = False
    files: tuple[FileBlock, ...] = ()


Block = TextBlock | ReasoningBlock | FileBlock | ToolCallBlock | ToolResultBlock


@dataclass(frozen=True, slots=True)
class ModelMessage:
    """One neutral message of a request; a `tool` message holds results only."""

    role: Literal["user", "assistant", "tool"]
    content: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    model: str
    messages: tuple[ModelMessage, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    # What the provider may run itself, as far as its wire knows it: of `server_tools.py`.
    server_tools: tuple[str, ...] = ()
    temperature: float | None = None
    # The limit of the answer that somebody has set, and the longest one that the model can write.
    output_limit: int | None = None
    longest_output: int | None = None
    # How many tokens fit the model, question and answer together.
    window: int | None = None
    # Whether the model thinks before it answers, as far as that is known, how it is asked to, and
    # how hard it shall: one of its own steps, or nothing, which leaves it to the model.
    thinks: bool | None = None
    thinking: Thinking = field(default_factory=Thinking)
    effort: Effort = ""
    # Requests that begin alike have the same one: where a provider's cache is shared out by it.
    cache_key: str = ""
    # The conversation that is answered; none for what is asked beside it, such as a title.
    conversation_id: str = ""


# --- what a model answers: a closed union -----------------------------------------


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str
    metadata: JsonObject | None = None  # what must go back with the text that begins here


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str
    metadata: JsonObject | None = None  # a signature, or what else must go back unchanged


@dataclass(frozen=True, slots=True)
class Cited:
    """A source of what was just written: of `length` characters, which end `before_end`
    characters before the last one."""

    url: str
    title: str = ""
    quote: str = ""
    length: int = 0
    before_end: int = 0
    raw: JsonObject | None = None  # as it came, where it must go back


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    call_id: str
    name: str
    parent_call_id: str = ""  # this and the next as in `ToolCall`
    in_answer: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    call_id: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole call. `fault` tells the model why its arguments cannot be used, if they cannot."""

    call_id: str
    name: str
    arguments: JsonObject
    raw: str = ""
    fault: str = ""
    metadata: JsonObject | None = None
    by_provider: bool = False  # it runs the tool itself; a `ToolOutput` follows
    # It runs it inside its answer, which goes on after that, and is given its own blocks back.
    in_answer: bool = False
    parent_call_id: str = ""  # the call of this step whose sub-agent makes this one
    reasons: tuple[Reason, ...] = ()  # the fault, as a person is told


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The result of a call that the provider ran itself."""

    call_id: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Usage:
    tokens: Tokens
    cost: float | None = None  # only when the provider says it

    @property
    def is_of_begin(self) -> bool:
        """Whether it was told before there was an answer to count."""
        return self.cost is None and self.tokens.output + self.tokens.reasoning < 10


@dataclass(frozen=True, slots=True)
class Retrying:
    """The provider failed before its first word and is asked again, after so many seconds; told
    once more, with none to wait, when it is asked."""

    key: str
    attempt: int
    attempts: int
    wait: float


@dataclass(frozen=True, slots=True)
class Adjusted:
    """The server had refused the request, and answers since it was changed."""

    adjustment: Adjustment
    refusal: str  # its own words


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """All that the server has sent so far was told. Whoever takes the next event later gets more at
    once: what comes meanwhile is joined."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Why the model stopped: stop, length, tool-calls, content-filter, refusal, pause, other."""

    reason: str
    # Of a refusal: what it was about, and why, where the model says so.
    category: str = ""
    explanation: str = ""


ProviderEvent = (
    TextDelta
    | ReasoningDelta
    | Cited
    | ToolCallStart
    | ToolCallDelta
    | ToolCall
    | ToolOutput
    | Usage
    | Retrying
    | CaughtUp
    | Adjusted
    | Finish
)


class ModelProvider(Protocol):
    """Something that answers requests, piece by piece."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Answer. Faults raise `ProviderError`; closing the generator closes the connection."""
        ...
