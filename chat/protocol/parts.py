"""Parts: what a message is made of, as frozen typed values (BR-01 … BR-04).

The JSON names are those of the wire (`sessionID`, `messageID`, `callID`); in Python they
are `session_id`, `message_id`, `call_id`. The order of parts in their list is their order.
"""

from typing import Annotated, Any, Literal, TypeGuard

from pydantic import AfterValidator, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from chat.protocol.frozen import Frozen, FrozenObject
from chat.protocol.ids import is_uuid
from chat.protocol.tool_state import ToolCompleted, ToolState


def _uuid(value: str) -> str:
    if not is_uuid(value):
        raise PydanticCustomError("not_a_uuid", "is not a UUID")
    return value


Uuid = Annotated[str, AfterValidator(_uuid)]


class CacheTokens(Frozen):
    read: int = Field(0, ge=0)
    write: int = Field(0, ge=0)


class Tokens(Frozen):
    """Tokens of one model call; the four kinds do not overlap (BR-13)."""

    input: int = Field(0, ge=0)
    output: int = Field(0, ge=0)
    reasoning: int = Field(0, ge=0)
    cache: CacheTokens = CacheTokens()

    @model_validator(mode="before")
    @classmethod
    def _require_every_kind(cls, data: Any, info: ValidationInfo) -> Any:
        # In Python a kind may be left out; on the wire its absence is a fault, not a zero.
        if info.mode == "json" and isinstance(data, dict):
            absent = [name for name in cls.model_fields if name not in data]
            if absent:
                raise PydanticCustomError("missing", "{absent} required", {"absent": absent[0]})
        return data

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            input=self.input + other.input,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            cache=CacheTokens(
                read=self.cache.read + other.cache.read, write=self.cache.write + other.cache.write
            ),
        )

    @property
    def total(self) -> int:
        """All of them: read, written and thought, cached or not."""
        return self.input + self.output + self.reasoning + self.cache.read + self.cache.write


class OpenSpan(Frozen):
    start: int | None = None
    end: int | None = None


class Span(Frozen):
    start: int
    end: int | None = None


class PartBase(Frozen):
    id: str = Field(min_length=1)
    session_id: Uuid = Field(alias="sessionID")
    message_id: Uuid = Field(alias="messageID")


class TextPart(PartBase):
    type: Literal["text"] = "text"
    text: str
    synthetic: bool | None = None
    ignored: bool | None = None
    time: OpenSpan | None = None
    metadata: FrozenObject | None = None


class ReasoningPart(PartBase):
    type: Literal["reasoning"] = "reasoning"
    text: str
    metadata: FrozenObject | None = None
    time: Span


class ToolPart(PartBase):
    type: Literal["tool"] = "tool"
    call_id: str = Field(alias="callID", min_length=1)
    tool: str = Field(min_length=1)
    state: ToolState
    metadata: FrozenObject | None = None


class StepStartPart(PartBase):
    type: Literal["step-start"] = "step-start"
    snapshot: str | None = None


class StepFinishPart(PartBase):
    type: Literal["step-finish"] = "step-finish"
    reason: str
    snapshot: str | None = None
    cost: float = Field(ge=0)
    tokens: Tokens


class Excerpt(Frozen):
    value: str
    start: int
    end: int


class FileSource(Frozen):
    type: Literal["file"] = "file"
    path: str
    text: Excerpt


class SymbolSource(Frozen):
    type: Literal["symbol"] = "symbol"
    path: str
    name: str
    kind: int
    range: FrozenObject
    text: Excerpt


class ResourceSource(Frozen):
    type: Literal["resource"] = "resource"
    uri: str
    client_name: str = Field(alias="clientName")
    text: Excerpt


FilePartSource = Annotated[FileSource | SymbolSource | ResourceSource, Field(discriminator="type")]


class FilePart(PartBase):
    type: Literal["file"] = "file"
    mime: str = Field(min_length=1)
    filename: str | None = None
    url: str
    source: FilePartSource | None = None
    size: int | None = Field(None, ge=0)  # in bytes, where it is known


Part = Annotated[
    TextPart | ReasoningPart | ToolPart | StepStartPart | StepFinishPart | FilePart,
    Field(discriminator="type"),
]

ToolCompleted.model_rebuild(_types_namespace={"FilePart": FilePart})
ToolPart.model_rebuild(force=True)


def is_text(part: Part) -> TypeGuard[TextPart]:
    return isinstance(part, TextPart)


def is_reasoning(part: Part) -> TypeGuard[ReasoningPart]:
    return isinstance(part, ReasoningPart)


def is_tool(part: Part) -> TypeGuard[ToolPart]:
    return isinstance(part, ToolPart)


def is_step_start(part: Part) -> TypeGuard[StepStartPart]:
    return isinstance(part, StepStartPart)


def is_step_finish(part: Part) -> TypeGuard[StepFinishPart]:
    return isinstance(part, StepFinishPart)


def is_file(part: Part) -> TypeGuard[FilePart]:
    return isinstance(part, FilePart)
