"""What was asked in a conversation, from its first question on, to jump to."""

from uuid import UUID

from django.db.models.functions import Substr

from chat.formats.plain_markdown import plain_text
from chat.models import Message, Part
from chat.protocol.transcript import Question
from chat.services.access import get_conversation
from chat.services.caller import Caller

# Of very long conversations the latest ones; nobody looks through more than that.
MOST = 1000
# So much of a message is read, and shown.
READ = 500
LONGEST = 120


def list_questions(caller: Caller, conversation_id: str | UUID) -> tuple[Question, ...]:
    """Every question that is shown: its place and its first line, or the name of its file."""
    conversation = get_conversation(caller, conversation_id)
    parts = Part.objects.filter(
        conversation=conversation,
        type__in=(Part.Type.TEXT, Part.Type.FILE),
        synthetic=False,
        message__role=Message.Role.USER,
        message__archived_at=None,
    )
    rows = parts.annotate(beginning=Substr("text", 1, READ)).values_list(
        "message__position", "beginning", "data__filename"
    )
    lines: dict[int, str] = {}
    for position, text, name in rows.order_by("-message__position", "position"):
        if position not in lines and len(lines) == MOST:
            break
        line = first_line(text or "")
        lines[position] = lines.get(position) or line or str(name or "")
    return tuple(Question(position, line) for position, line in sorted(lines.items()))


def first_line(text: str) -> str:
    """The first line of Markdown that says something, cut to a length."""
    lines = (" ".join(line.split()) for line in plain_text(text).split("\n"))
    line = next((line for line in lines if line), "")
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"
