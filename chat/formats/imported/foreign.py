"""A conversation of another chat: its messages as a tree, and how its questions and answers are
read. What is common to all of them is done here: versions, places, keys."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from chat.formats.imported.answer import Answer
from chat.formats.imported.conversation import ImportedConversation, question_message
from chat.formats.imported.fold import left_out
from chat.formats.imported.items import Began, Ended, Form, Item, Known, PlacedMessage, Skipped
from chat.formats.imported.trees import Node, Turn, arrange
from chat.formats.imported.updates import LeftOut, Prompt, Update
from chat.formats.parley_json import ChatDetails, Place
from chat.formats.title import cut_title, title_from
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import new_id, now_ms
from chat.protocol.messages import AnswerInfo, WithParts

# Among how many calls without a result the one that a result belongs to is looked for.
MOST_WAITING = 200


@dataclass(frozen=True, slots=True)
class ForeignChat:
    form: Form
    external_id: str
    title: str
    nodes: Sequence[Node]
    # The message that was looked at last, or the last of all.
    current: str
    question: Callable[[JsonObject], Prompt]
    answer: Callable[[Sequence[JsonObject]], Iterable[Update]]
    # In milliseconds, where it is known.
    created: int | None = None
    updated: int | None = None
    archived: bool = False
    pinned: bool = False


@dataclass(slots=True)
class OpenCalls:
    """Calls of one answer that wait for their results: many exports do not say which is whose."""

    # Their names by their ids, in their order.
    _open: dict[str, str] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def begin(self, name: str, call_id: str) -> str:
        """A call; its id is made where it has none, or one that was used already."""
        if not call_id or call_id in self._known:
            call_id = f"call_{new_id()}"
        self._known.add(call_id)
        self._open[call_id] = name
        return call_id

    def answer(self, name: str, call_id: str = "") -> str:
        """Whose result this is: by id, by name, else of the call that waits longest; or none."""
        found = call_id if call_id in self._open else ""
        if not found:
            waiting = list(islice(self._open.items(), MOST_WAITING))
            alike = [key for key, own in waiting if own == name or own.startswith(f"{name}.")]
            oldest = [key for key, _name in waiting[:1] if not call_id]
            found = next(iter(alike or oldest), "")
        if found:
            del self._open[found]
        return found


def read_foreign(chat: ForeignChat, missing_prompt: str) -> Iterator[Item]:
    """Its messages in the order in which they can be written."""
    arranged = arrange(chat.nodes, chat.current)
    reading = _Reading(chat, missing_prompt)
    yield Began(reading.id, chat.form)
    for fault in arranged.faults:
        yield Skipped(fault.code, fault.where)
    if arranged.turns:
        yield Known(chat.external_id, reading.details(arranged.turns))
    for turn in arranged.turns:
        yield from reading.turn(turn)
    yield from left_out(reading.left_out)
    yield Ended(chat.external_id, chat.title)


class _Reading:
    def __init__(self, chat: ForeignChat, missing_prompt: str) -> None:
        self.id = new_id()
        self.left_out: Counter[LeftOut] = Counter()
        self._chat = chat
        self._missing_prompt = missing_prompt
        # What is not shown was put away at one time.
        self._now = datetime.now(UTC)
        # The messages by the keys of their turns.
        self._ids: dict[str, str] = {}

    def details(self, turns: Sequence[Turn]) -> ChatDetails:
        """What is known of the conversation; its first question is its title, if it has none."""
        chat = self._chat
        asked = (
            turn.nodes[0]
            for turn in turns
            if turn.role == "question" and turn.nodes and turn.is_shown
        )
        first = next(asked, None)
        updated = moment_of(chat.updated)
        return ChatDetails(
            id=chat.external_id,
            title=cut_title(" ".join(chat.title.split()))
            or (title_from(chat.question(first.data).text) if first else ""),
            created=moment_of(chat.created),
            updated=updated,
            archived=(updated or self._now) if chat.archived else None,
            pinned=chat.pinned,
        )

    def turn(self, turn: Turn) -> Iterator[Item]:
        if turn.role == "question":
            prompt = Prompt(self._missing_prompt)
            if turn.nodes:
                prompt = self._chat.question(turn.nodes[0].data)
            message = question_message(self.id, prompt)
        else:
            message, faults = self._answer(turn)
            yield from faults
        self._ids[turn.key] = message.info.id
        info = message.info.model_copy(update={"version": turn.version})
        place = Place(
            parent=self._ids.get(turn.parent, ""),
            copy_of=self._ids.get(turn.copy_of, ""),
            archived=None if turn.is_shown else self._now,
        )
        yield PlacedMessage(WithParts(info=info, parts=message.parts), place)

    def _answer(self, turn: Turn) -> tuple[WithParts, list[Skipped]]:
        folding = ImportedConversation(self.id)
        found = []
        for update in self._chat.answer([node.data for node in turn.nodes]):
            found += list(folding.apply(update))
        found += list(folding.close())
        answers = [
            each
            for each in found
            if isinstance(each, WithParts) and isinstance(each.info, AnswerInfo)
        ]
        parent = self._ids[turn.parent]
        faults = [Skipped(fault.code, fault.call_id) for fault in folding.faults]
        self.left_out += folding.left_out
        if not answers:
            # Nothing was answered, or nothing that can be read.
            return Answer(self.id, now_ms).finished(parent, "", None, interrupted=True), faults
        info = answers[0].info.model_copy(update={"parent_id": parent})
        return WithParts(info=info, parts=answers[0].parts), faults


def moment_of(ms: int | None) -> datetime | None:
    """A time, unless it is beyond the calendar."""
    try:
        return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
