"""Updates → messages with parts, handed on as soon as they are whole.

Of a conversation of any length only the answer that is being read is kept, and the calls that
wait for a result: it may come in a later message.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from chat.formats.imported.answer import Answer, file_part
from chat.formats.imported.updates import (
    Called,
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
from chat.protocol.displays import TodoItem
from chat.protocol.factories import create_user_message
from chat.protocol.ids import now_ms
from chat.protocol.messages import UserTime, WithParts
from chat.protocol.parts import Part, ToolPart

LONGEST_KIND = 40

FaultCode = Literal["duplicate_tool_result", "no_matching_tool_use"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that does not fit, and which call it is about."""

    code: FaultCode
    call_id: str


@dataclass(frozen=True, slots=True)
class Branch:
    """A question with which somebody went back: it follows the message of this number, counted
    from zero (-1: none), and what had followed that is an earlier version."""

    question: WithParts
    after: int


@dataclass(frozen=True, slots=True)
class LateResult:
    """A call of a message that was handed on already, with the result that came later."""

    part: ToolPart


def question_message(session_id: str, prompt: Prompt) -> WithParts:
    """What a person typed, with its files."""
    made = create_user_message(session_id, prompt.text)
    info = made.info
    if prompt.at is not None:
        info = info.model_copy(update={"time": UserTime(created=prompt.at)})
    files = tuple(file_part(session_id, info.id, file) for file in prompt.files)
    return WithParts(info=info, parts=(*made.parts, *files))


def _short(update: LeftOut) -> LeftOut:
    """Kinds are told, and come from the file."""
    return replace(update, kind=" ".join(update.kind[:LONGEST_KIND].split()) or "?")


class ImportedConversation:
    """The conversation of one session; `missing_prompt` stands where nobody's words are kept."""

    def __init__(
        self, session_id: str, missing_prompt: str = "…", clock: Callable[[], int] = now_ms
    ) -> None:
        self.external_id = ""
        self.title = ""
        self.model = ""
        self.ended: TurnEnded | None = None
        self.faults: list[Fault] = []
        # Of what nothing is kept, and how many there were of it.
        self.left_out: Counter[LeftOut] = Counter()
        self._session_id = session_id
        self._missing_prompt = missing_prompt
        self._clock = clock
        self._answer: Answer | None = None
        # The end of the answer that is being read, if it has one and may yet go on.
        self._end: TurnEnded | None = None
        self._last: WithParts | None = None
        # Calls without a result, in messages that were handed on.
        self._open: dict[str, ToolPart] = {}
        self._answered: set[str] = set()
        self._plan: tuple[TodoItem, ...] = ()
        # How many messages there were, and which plan, before each prompt.
        self._number = 0
        self._before: list[tuple[int, tuple[TodoItem, ...]]] = []

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the answer that is being read."""
        return self._answer.parts() if self._answer else ()

    def apply(self, update: Update) -> Iterator[WithParts | Branch | LateResult]:
        """Take an update in; what became whole by it is handed on."""
        match update:
            case SessionSeen() | Titled() | LeftOut():
                self._note(update)
            case TurnStarted():
                yield from self._hand_on()
            case Prompt():
                yield from self._hand_on()
                yield self._prompt(update)
            case Returned():
                yield from self._result(update)
            case Interrupted():
                yield from self._hand_on(interrupted=True)
            case TurnEnded():
                self.ended = self._end = update
                if not update.may_go_on:
                    yield from self._hand_on()
            case Step() | StepUsed() | Words() | Called():
                self._in_answer(update)
            case _:
                assert_never(update)

    def close(self) -> Iterator[WithParts | LateResult]:
        """The last answer; calls that were never answered are over."""
        yield from self._hand_on()

    def _note(self, update: SessionSeen | Titled | LeftOut) -> None:
        match update:
            case SessionSeen():
                self.external_id = self.external_id or update.session_id
                self.model = update.model or self.model
            case Titled():
                self.title = update.title
            case LeftOut():
                self.left_out[_short(update)] += 1
            case _:
                assert_never(update)

    # --- the answer that is being read --------------------------------------------

    def _in_answer(self, update: Step | StepUsed | Words | Called) -> None:
        if isinstance(update, Called) and self._is_known(update.call_id):
            return
        answer = self._begin()
        match update:
            case Step():
                self.model = update.model or self.model
                answer.step(update)
            case StepUsed():
                answer.used(update)
            case Words():
                answer.say(update)
            case Called():
                answer.call(update)
            case _:
                assert_never(update)

    def _is_known(self, call_id: str) -> bool:
        return call_id in self._answered or call_id in self._open

    def _begin(self) -> Answer:
        if self._answer is None:
            self._answer = Answer(self._session_id, self._clock, self._plan)
        return self._answer

    def _result(self, result: Returned) -> Iterator[LateResult]:
        if result.call_id in self._answered:
            self.faults.append(Fault("duplicate_tool_result", result.call_id))
        elif self._answer is not None and self._answer.waits_for(result.call_id):
            self._answered.add(result.call_id)
            self._answer.result(result)
        elif result.call_id in self._open:
            self._answered.add(result.call_id)
            late = self._open.pop(result.call_id)
            yield LateResult(self._begin().with_result(late, result))
        else:
            self.faults.append(Fault("no_matching_tool_use", result.call_id))
            self._begin().unpaired(result)

    # --- handing on ---------------------------------------------------------------

    def _prompt(self, prompt: Prompt) -> WithParts | Branch:
        self._before.append((self._number, self._plan))
        question = self._question(prompt)
        if prompt.after is None or prompt.after >= len(self._before) - 1:
            return question
        number, self._plan = self._before[prompt.after]
        return Branch(question, number - 1)

    def _question(self, prompt: Prompt) -> WithParts:
        self._number += 1
        self._last = question_message(self._session_id, prompt)
        return self._last

    def _hand_on(self, *, interrupted: bool = False) -> Iterator[WithParts]:
        answer, self._answer = self._answer, None
        end, self._end = self._end, None
        failed = end is not None and end.status == "error"
        if answer is None and failed:
            answer = Answer(self._session_id, self._clock)
        if answer is None or (answer.is_empty and not failed):
            return
        self._open |= answer.open_calls()
        self._plan = answer.plan
        if self._last is None or self._last.info.role != "user":
            yield self._question(Prompt(self._missing_prompt, at=answer.created))
        assert self._last is not None
        self._number += 1
        self._last = answer.finished(self._last.info.id, self.model, end, interrupted=interrupted)
        yield self._last
