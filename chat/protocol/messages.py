"""A message with its parts: what pages, engines and exports are given (BR-11 … BR-14)."""

from decimal import Decimal
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import Field

from chat.protocol.errors import PartValidationError
from chat.protocol.feedback import Feedback
from chat.protocol.frozen import Frozen, FrozenObject, JsonObject
from chat.protocol.parts import Part, StepFinishPart, TextPart, Tokens, ToolPart, Uuid

Status = Literal["pending", "streaming", "success", "error", "cancelled"]
ABORTED = "MessageAbortedError"  # the wire's name of the error of a cancelled answer


class ModelRef(Frozen):
    provider_id: str = Field(alias="providerID")
    model_id: str = Field(alias="modelID")


class Summary(Frozen):
    """What stands for the earlier messages once the context was compacted (BR-11)."""

    title: str | None = None
    body: str | None = None
    diffs: tuple[FrozenObject, ...] | None = None


class MessageError(Frozen):
    """Why an answer ended early; `name` is the wire's, `key` the translated reason."""

    name: str
    key: str = ""
    data: FrozenObject = Field(default_factory=dict)


class Path(Frozen):
    cwd: str = ""
    root: str = ""


class UserTime(Frozen):
    created: int


class AnswerTime(Frozen):
    created: int
    completed: int | None = None
    # Between an early end and being continued, each from and to.
    pauses: tuple[tuple[int, int], ...] | None = None

    def worked_until(self, moment: int) -> int:
        """How long it was worked on until then, in milliseconds: pauses do not count."""
        rested = sum(max(min(end, moment) - start, 0) for start, end in self.pauses or ())
        return moment - self.created - rested


class InfoBase(Frozen):
    id: Uuid
    session_id: Uuid = Field(alias="sessionID")
    position: int = 0
    agent: str = ""
    # Which of how many versions this is, and how often it was changed by hand.
    version: int = 1
    versions: int = 1
    revision: int = 0

    @property
    def mark(self) -> str:
        """Two pages that show a message with the same mark show the same of it."""
        return f"{self.version}.{self.versions}.{self.revision}"


class UserInfo(InfoBase):
    role: Literal["user"] = "user"
    time: UserTime
    model: ModelRef | None = None
    summary: Summary | None = None
    system: str | None = None
    tools: dict[str, bool] | None = None
    variant: str | None = None


class AnswerInfo(InfoBase):
    role: Literal["assistant"] = "assistant"
    time: AnswerTime
    status: Status = "success"
    parent_id: Uuid | None = Field(None, alias="parentID")
    provider_id: str = Field("", alias="providerID")
    model_id: str = Field("", alias="modelID")
    cost: float = Field(0, ge=0)
    tokens: Tokens = Tokens()
    path: Path = Path()
    finish: str | None = None
    error: MessageError | None = None
    # What its reader thinks of it.
    feedback: Feedback | None = None


Info = Annotated[UserInfo | AnswerInfo, Field(discriminator="role")]


class WithParts(Frozen):
    """One message: what is known of it, and its parts in their order."""

    info: Info
    parts: tuple[Part, ...] = ()

    def model_post_init(self, _context: Any) -> None:
        ids = [part.id for part in self.parts]
        if len(set(ids)) < len(ids):
            raise PartValidationError("id", "is used twice in a message", "BR-02")
        for part in self.parts:
            if part.message_id != self.info.id:
                raise PartValidationError("messageID", "is that of another message", "BR-01")
            if part.session_id != self.info.session_id:
                raise PartValidationError("sessionID", "is that of another session", "BR-01")

    @property
    def text(self) -> str:
        """The text, without thinking, tools, and texts that are not for the model."""
        return "".join(
            part.text for part in self.parts if isinstance(part, TextPart) and not part.ignored
        )

    @property
    def tools(self) -> tuple[ToolPart, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolPart))


def is_answer(info: Info) -> TypeGuard[AnswerInfo]:
    return isinstance(info, AnswerInfo)


def finish_answer(
    answer: WithParts,
    now: int,
    *,
    status: Literal["success", "error", "cancelled"],
    finish: str = "",
    error: MessageError | None = None,
) -> WithParts:
    """The answer as it ended: its time, the last step's tokens, the cost of all (BR-12 … BR-14)."""
    info = answer.info
    if not isinstance(info, AnswerInfo):
        raise PartValidationError("role", "only an answer can be finished", "BR-14")
    steps = [part for part in answer.parts if isinstance(part, StepFinishPart)]
    if status == "cancelled":
        error = MessageError(name=ABORTED)
    changes = {
        "status": status,
        "finish": finish or (steps[-1].reason if steps else None),
        "error": error,
        "cost": float(sum((Decimal(str(step.cost)) for step in steps), Decimal(0))),
        "tokens": steps[-1].tokens if steps else info.tokens,
        "time": info.time.model_copy(update={"completed": now}),
    }
    return WithParts(info=info.model_copy(update=changes), parts=answer.parts)


def message_to_json(message: WithParts) -> JsonObject:
    return message.model_dump(mode="json", by_alias=True, exclude_none=True)


def message_from_json(data: JsonObject) -> WithParts:
    return WithParts.model_validate(data, strict=False)
