"""A conversation to be read, as Markdown."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote

from django.utils.translation import gettext as _

from chat.protocol.citations import sources_of
from chat.protocol.mcp_names import plain_name
from chat.protocol.messages import WithParts, is_answer
from chat.protocol.notes import NEWER_MESSAGE, is_nested, part_notes
from chat.protocol.parts import FilePart, Part, ReasoningPart, TextPart, ToolPart
from chat.protocol.tool_state import ToolCompleted, ToolError

# Where a file lies beside the text, if it does.
Link = Callable[[FilePart], str]


def markdown_pieces(
    title: str,
    messages: Iterable[WithParts],
    queue: Iterable[WithParts],
    agents: Mapping[str, str],
    link: Link,
) -> Iterator[str]:
    """Each message under its speaker; thinking is quoted, tools are short blocks."""
    between = ""
    if title:
        yield f"# {title}"
        between = "\n\n"
    for speaker, message in _spoken(messages, queue, agents):
        blocks = [f"## {speaker}"]
        blocks += [text for part in message.parts if (text := _markdown(part, link))]
        yield between + "\n\n".join(blocks)
        between = "\n\n"
    yield "\n"


def _spoken(
    messages: Iterable[WithParts], queue: Iterable[WithParts], agents: Mapping[str, str]
) -> Iterator[tuple[str, WithParts]]:
    for message in messages:
        yield _speaker(message, agents), message
    for message in queue:
        yield _("You (not sent yet)"), message


def _speaker(message: WithParts, agents: Mapping[str, str]) -> str:
    if not is_answer(message.info):
        return _("You")
    return agents.get(message.info.agent, message.info.agent) or _("Answer")


def _markdown(part: Part, link: Link) -> str:
    if unreadable := part_notes(part).unreadable:
        is_newer = unreadable.type == NEWER_MESSAGE
        newer = _("A newer version of Parley has written this")
        return f"*{newer if is_newer else _('This part cannot be shown')}*"
    match part:
        case TextPart() if is_nested(part):
            # The words of a sub-agent are not those of the answer.
            return _quoted(part.text)
        case TextPart():
            return "\n\n".join(filter(None, (part.text.strip(), _sources(part))))
        case ReasoningPart():
            return _quoted(part.text)
        case ToolPart(state=ToolCompleted(output=result) | ToolError(error=result)):
            arguments = json.dumps(part.state.input, ensure_ascii=False)
            return f"`{plain_name(part.tool)}` {arguments}\n\n{_fenced(result)}"
        case FilePart():
            return _file(part, link(part))
        case _:
            return ""


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.strip().splitlines())


def _file(part: FilePart, address: str) -> str:
    name = _escaped(part.filename or part.mime)
    mark = "!" if address and part.mime.startswith("image/") else ""
    return f"{mark}[{name}](<{address}>)" if address else f"[{name}]"


def _sources(part: TextPart) -> str:
    """The sources that the model named, numbered, as links."""
    lines = []
    for number, source in enumerate(sources_of(part_notes(part).citations), start=1):
        title = _escaped(source.title)
        address = quote(source.url, safe="/:?#[]@!$&'*+,;=%~")
        lines.append(f"{number}. [{title}](<{address}>)" if address else f"{number}. {title}")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return re.sub(r"([\\\[\]<>])", r"\\\1", text)


def _fenced(text: str) -> str:
    """In a fence longer than any inside it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
