"""A conversation as a file, in forms that people and other programs read."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

from django.utils.translation import gettext as _

from chat.formats.tool_message_parts import to_tool_messages
from chat.models import Conversation, Message
from chat.protocol.citations import sources_of
from chat.protocol.errors import ChatError
from chat.protocol.messages import WithParts, is_answer, message_to_json
from chat.protocol.notes import part_notes
from chat.protocol.parts import FilePart, Part, ReasoningPart, TextPart, ToolPart
from chat.protocol.tool_state import ToolCompleted, ToolError
from chat.services.access import get_conversation
from chat.services.caller import Caller
from chat.services.conversations.history import read_history
from chat.services.conversations.queue import read_queue

ALL = 2**31 - 1

Messages = tuple[WithParts, ...]
Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Exported:
    """A file: its text, its type, the ending of its name, and what the conversation is called."""

    text: str
    mime: str
    ending: str
    title: str = ""


def export_conversation(
    caller: Caller, conversation_id: str | UUID, form: str, agents: Names
) -> Exported:
    """A conversation in one of the `FORMATS`; agents are called as given."""
    row = get_conversation(caller, conversation_id)
    if row.temporary:
        raise ChatError("error.chat_temporary")
    write, mime, ending = FORMATS[form]
    text = write(row, read_history(row.pk, before=ALL), agents)
    return Exported(text, mime, ending, row.title)


def message_source(caller: Caller, conversation_id: str | UUID, message_id: str | UUID) -> str:
    """One message as it was written, Markdown, to be copied; without thinking and tools."""
    conversation = get_conversation(caller, conversation_id)
    message = Message.objects.filter(conversation=conversation, pk=message_id).first()
    if message is None:
        raise ChatError("error.chat_message_not_found")
    parts = (row.value() for row in message.parts.order_by("position"))
    texts = (part.text for part in parts if isinstance(part, TextPart) and not part.ignored)
    return "\n\n".join(text.strip() for text in texts if text.strip())


def as_json(row: Conversation, messages: Messages, agents: Names) -> str:
    """Everything, as it is kept."""
    content = {
        "format": "parley.v1",
        "id": str(row.pk),
        "title": row.title,
        "created": row.created.isoformat(),
        "messages": [message_to_json(message) for message in messages],
        "queue": [message_to_json(message) for message in read_queue(row.pk)],
    }
    return json.dumps(content, ensure_ascii=False, indent=2)


def as_tool_messages(row: Conversation, messages: Messages, agents: Names) -> str:
    """The wire form with `role: "tool"` messages (ToolMessage2)."""
    return json.dumps(to_tool_messages(messages), ensure_ascii=False, indent=2)


def as_markdown(row: Conversation, messages: Messages, agents: Names) -> str:
    """The conversation to be read, as Markdown; thinking is quoted, tools are short blocks."""
    blocks = [f"# {row.title}"] if row.title else []
    for message in messages:
        blocks.append(f"## {_speaker(message, agents)}")
        blocks += [text for part in message.parts if (text := _markdown(part))]
    waiting = _("You (not sent yet)")
    for message in read_queue(row.pk):
        blocks.append(f"## {waiting}")
        blocks += [text for part in message.parts if (text := _markdown(part))]
    return "\n\n".join(blocks) + "\n"


def _speaker(message: WithParts, agents: Names) -> str:
    if not is_answer(message.info):
        return _("You")
    return agents.get(message.info.agent, message.info.agent) or _("Answer")


def _markdown(part: Part) -> str:
    if part_notes(part).unreadable:
        return f"*{_('This part cannot be shown')}*"
    match part:
        case TextPart():
            return "\n\n".join(filter(None, (part.text.strip(), _sources(part))))
        case ReasoningPart():
            return "\n".join(f"> {line}" for line in part.text.strip().splitlines())
        case ToolPart(state=ToolCompleted(output=result) | ToolError(error=result)):
            arguments = json.dumps(part.state.input, ensure_ascii=False)
            return f"`{part.tool}` {arguments}\n\n{_fenced(result)}"
        case FilePart():
            return f"[{part.filename or part.mime}]"
        case _:
            return ""


def _sources(part: TextPart) -> str:
    """The sources that the model named, numbered, as links."""
    lines = []
    for number, source in enumerate(sources_of(part_notes(part).citations), start=1):
        title = re.sub(r"([\\\[\]<>])", r"\\\1", source.title)
        address = quote(source.url, safe="/:?#[]@!$&'*+,;=%~")
        lines.append(f"{number}. [{title}](<{address}>)" if address else f"{number}. {title}")
    return "\n".join(lines)


def _fenced(text: str) -> str:
    """In a fence longer than any inside it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


Write = Callable[[Conversation, Messages, Names], str]

FORMATS: dict[str, tuple[Write, str, str]] = {
    "json": (as_json, "application/json", "json"),
    "tool-messages": (as_tool_messages, "application/json", "json"),
    "markdown": (as_markdown, "text/markdown; charset=utf-8", "md"),
}
