"""A conversation as a file, in forms that people and other programs read."""

import json
from collections.abc import Callable, Mapping

from django.utils.translation import gettext as _

from chat.formats.tool_message_parts import to_tool_messages
from chat.models import Conversation
from chat.protocol.messages import WithParts, is_answer, message_to_json
from chat.protocol.parts import FilePart, Part, ReasoningPart, TextPart, ToolPart
from chat.protocol.tool_state import ToolCompleted, ToolError
from chat.services.reading import read_history

ALL = 2**31 - 1

Messages = tuple[WithParts, ...]
Names = Mapping[str, str]


def export_conversation(row: Conversation, form: str, agents: Names) -> tuple[str, str, str]:
    """The text of the file, its type, and the ending of its name; agents are called as given."""
    write, kind, ending = FORMATS[form]
    return write(row, read_history(row.pk, before=ALL), agents), kind, ending


def as_json(row: Conversation, messages: Messages, agents: Names) -> str:
    """Everything, as it is kept."""
    content = {
        "format": "parley.v1",
        "id": str(row.pk),
        "title": row.title,
        "created": row.created.isoformat(),
        "messages": [message_to_json(message) for message in messages],
    }
    return json.dumps(content, ensure_ascii=False, indent=2)


def as_tool_messages(row: Conversation, messages: Messages, agents: Names) -> str:
    """The wire form with `role: "tool"` messages (ToolMessage2)."""
    return json.dumps(to_tool_messages(messages), ensure_ascii=False, indent=2)


def as_markdown(row: Conversation, messages: Messages, agents: Names) -> str:
    """What was said, to be read; tools and thinking folded to a line each."""
    blocks = [f"# {row.title}"] if row.title else []
    for message in messages:
        blocks.append(f"## {_speaker(message, agents)}")
        blocks += [text for part in message.parts if (text := _markdown(part))]
    return "\n\n".join(blocks) + "\n"


def _speaker(message: WithParts, agents: Names) -> str:
    if not is_answer(message.info):
        return _("You")
    return agents.get(message.info.agent, message.info.agent) or _("Answer")


def _markdown(part: Part) -> str:
    match part:
        case TextPart():
            return part.text.strip()
        case ReasoningPart():
            return "\n".join(f"> {line}" for line in part.text.strip().splitlines())
        case ToolPart(state=ToolCompleted(output=result) | ToolError(error=result)):
            arguments = json.dumps(part.state.input, ensure_ascii=False)
            return f"`{part.tool}` {arguments}\n\n{_fenced(result)}"
        case FilePart():
            return f"[{part.filename or part.mime}]"
        case _:
            return ""


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
