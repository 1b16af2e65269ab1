"""What of a file is here already: a session may be imported while it goes on, or turn by turn."""

from django.db.models import F, Q

from chat.models import Conversation, Feedback, Message, Part
from chat.protocol.messages import WithParts
from chat.protocol.notes import was_interrupted
from chat.protocol.parts import TextPart, ToolPart

PREFIX = "import-"
# And of messages that were still waiting to be sent.
WAITING_PREFIX = "waiting-"


def was_gone_on_with(conversation: Conversation) -> bool:
    """Whether somebody has asked something here, or continued an answer, which keeps its name."""
    written = conversation.messages.exclude(client_id__startswith=PREFIX)
    return written.exists() or conversation.generations.exists()


def has_words_of_here(conversation: Conversation) -> bool:
    """Whether something waits here or was thought of an answer here: such a verdict is younger than
    its answer, and one that came with it is not."""
    given = Feedback.objects.filter(message__conversation=conversation)
    waiting = conversation.queued.exclude(client_id__startswith=WAITING_PREFIX)
    return given.exclude(updated=F("message__created")).exists() or waiting.exists()


def number_of(row: Message) -> int:
    """Which message of its file a row is."""
    return int(row.client_id.removeprefix(PREFIX))


def imported_as(conversation: Conversation, number: int) -> Message | None:
    named = Message.objects.filter(conversation=conversation, client_id=f"{PREFIX}{number}")
    # The index has those with a name alone: databases want to be told.
    return named.exclude(client_id="").first()


def last_imported(conversation: Conversation) -> Message | None:
    """The last message of the file that is here."""
    rows = Message.objects.filter(conversation=conversation, client_id__startswith=PREFIX)
    last = rows.order_by("position").last()
    if last is not None and last.copy_of_id is not None:
        # Another text of a message lies behind what came later; they change places.
        same = rows.filter(Q(pk=last.copy_of_id) | Q(copy_of=last.copy_of_id))
        last = max(same, key=number_of)
    return last


def where_it_is(row: Message) -> Message:
    """A message that a repair has made part of an answer is that answer."""
    whole = row.copy_of
    return whole if whole is not None and whole.role != Message.Role.USER else row


def begins_with(conversation: Conversation, question: WithParts) -> bool:
    first = imported_as(conversation, 0)
    texts = first.parts.filter(type=Part.Type.TEXT).order_by("position") if first else ()
    return question.text == "".join(part.text for part in texts)


def differs(conversation: Conversation, message: WithParts, number: int) -> bool:
    """Whether another message is here under its number: somebody has asked or answered anew. What
    a repair has taken the words of is none."""
    row = imported_as(conversation, number)
    if row is None:
        return False
    is_answer = row.role == Message.Role.ASSISTANT
    if is_answer != (message.info.role == "assistant"):
        return True
    parts = list(row.parts.order_by("position"))
    text = "".join(part.text for part in parts if part.type == Part.Type.TEXT)
    if not is_answer:
        return bool(text) and text != message.text
    calls = [part.call_id for part in parts if part.type == Part.Type.TOOL]
    if bool(calls) != bool(message.tools):
        return not _begin_alike(row, message)
    told = [tool.call_id for tool in message.tools]
    # Either may be further than the other.
    common = min(len(calls), len(told))
    return calls[:common] != told[:common] or not _goes_on(text, message.text)


def number_here(conversation: Conversation, answer: WithParts, number: int, here: int) -> int:
    """As which message the first answer of a file, its message `number`, is here, or will be.

    What the command line prints of a session that was gone on with begins with the new turn.
    """
    there = imported_as(conversation, number)
    if there is None or _begin_alike(there, answer):
        return number
    found = _with_same_beginning(conversation, answer)
    return here + number if found is None else number_of(found)


def has_grown(conversation: Conversation, answer: WithParts, number: int) -> bool:
    """Whether an answer that is here was imported before it was whole."""
    row = imported_as(conversation, number)
    if row is None or not _begin_alike(row, answer):
        return False
    stored = list(row.parts.all())
    if len(stored) != len(answer.parts):
        return len(stored) < len(answer.parts)
    left = sum(_was_left(part) for part in stored)
    return left > sum(was_interrupted(tool.state) for tool in answer.tools)


def _was_left(row: Part) -> bool:
    state = row.data.get("state") if row.type == Part.Type.TOOL else None
    metadata = state.get("metadata") if state else None
    return bool(metadata and metadata.get("interrupted"))


def _begin_alike(row: Message, answer: WithParts) -> bool:
    """Whether they are one answer, of which one may be further than the other."""
    if row.role != Message.Role.ASSISTANT:
        return False
    parts = row.parts.order_by("position")
    call = parts.filter(type=Part.Type.TOOL).first()
    if call is not None and answer.tools:
        return call.call_id == answer.tools[0].call_id
    text = parts.filter(type=Part.Type.TEXT).first()
    said = _first_text(answer)
    if text is None or not said:
        return True
    return _goes_on(text.text, said)


def _goes_on(one: str, other: str) -> bool:
    return one.startswith(other.rstrip()) or other.startswith(one.rstrip())


def _with_same_beginning(conversation: Conversation, answer: WithParts) -> Message | None:
    answers = Message.objects.filter(
        conversation=conversation, role=Message.Role.ASSISTANT, client_id__startswith=PREFIX
    )
    first: ToolPart | None = next(iter(answer.tools), None)
    if first is not None:
        return answers.filter(parts__call_id=first.call_id).first()
    said = _first_text(answer)
    return answers.filter(parts__type=Part.Type.TEXT, parts__text=said).first() if said else None


def _first_text(answer: WithParts) -> str:
    texts = (part.text for part in answer.parts if isinstance(part, TextPart) and part.text)
    return next(texts, "")
