"""A conversation as a file, in forms that people and other programs read.

A form is a function that yields the text of the file piece by piece, from a conversation that is
read page by page: neither is ever in memory as a whole.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q

from chat.formats.openai_export import to_openai_messages
from chat.formats.parley_json import (
    ChatDetails,
    ExportedFile,
    FolderDetails,
    Place,
    file_pieces,
)
from chat.formats.tool_message_parts import to_tool_messages
from chat.models import Attachment, AuditEntry, Conversation, Message
from chat.protocol.errors import ChatError
from chat.protocol.files import own_id
from chat.protocol.frozen import JsonObject
from chat.protocol.messages import ModelRef, WithParts, is_answer
from chat.protocol.notes import is_nested
from chat.protocol.parts import FilePart, Part, TextPart, ToolPart
from chat.protocol.tool_state import ToolCompleted
from chat.services import statements
from chat.services.access import get_conversation
from chat.services.caller import Caller
from chat.services.conversations.attachments import picture_to_show
from chat.services.conversations.export_markdown import markdown_pieces
from chat.services.conversations.history import with_parts
from chat.services.conversations.queue import read_queue
from chat.services.pool import by_pool
from chat.services.upkeep.audit import audit
from chat.services.upkeep.repair import upgrade

# So many messages are read at once.
PAGE = 50

Names = Mapping[str, str]
# Some messages: their rows, and as they are read.
Page = tuple[Sequence[Message], Sequence[WithParts]]
# A file as an address that holds its content.
Inline = Callable[[Attachment], str | None]


class ChatExport:
    """A conversation that is exported. `beside` says that its files lie beside it, in an
    archive."""

    def __init__(self, row: Conversation, *, beside: bool = False) -> None:
        self.row = row
        self.beside = beside
        self._files: dict[str, Attachment] | None = None

    def shown(self, inline: Inline | None = None) -> Iterator[WithParts]:
        """The messages as the conversation is shown; files in them as `inline` gives them."""
        position = 0
        while page := by_pool(self._shown_page, position):
            rows, messages = page
            yield from self._told(messages, inline)
            position = rows[-1].position + 1

    def every(self) -> Iterator[tuple[WithParts, Place]]:
        """Every message of every version, in the order in which they were written."""
        position = 0
        while page := by_pool(self._page_of_every, position):
            rows, messages = page
            yield from zip(self._told(messages, None), map(_place, rows), strict=True)
            position = rows[-1].position

    def queue(self, inline: Inline | None = None) -> Iterator[WithParts]:
        """What waits to be sent."""
        yield from self._told(by_pool(read_queue, self.row.pk), inline)

    def files(self) -> list[Attachment]:
        return list(self._files_by_id().values())

    def link_to(self, part: FilePart) -> str:
        """Where a file lies beside the conversation, if it does."""
        key = own_id(part.url)
        return path_beside(key, part.filename or "") if self.beside and key else ""

    def details(self) -> ChatDetails:
        return by_pool(self._read_details)

    def _shown_page(self, position: int) -> Page | None:
        rows = statements.first_shown(self.row.pk, position, PAGE)
        return (rows, with_parts(rows)) if rows else None

    def _page_of_every(self, position: int) -> Page | None:
        rows = statements.every_after(self.row.pk, position, PAGE)
        return (rows, with_parts(rows)) if rows else None

    def _files_by_id(self) -> dict[str, Attachment]:
        """Looked up once: a conversation may show thousands."""
        if self._files is None:
            self._files = by_pool(self._read_files)
        return self._files

    def _read_files(self) -> dict[str, Attachment]:
        rows = Attachment.objects.filter(
            Q(message__conversation=self.row) | Q(queued__conversation=self.row)
        )
        return {str(row.pk): row for row in rows.order_by("created", "pk")}

    def _read_details(self) -> ChatDetails:
        row = self.row
        folder = row.folder
        model = None
        if row.model is not None:
            model = ModelRef(provider_id=str(row.model.provider_id), model_id=row.model.model_id)
        return ChatDetails(
            id=str(row.pk),
            title=row.title,
            titled_by_hand=row.titled_by_hand,
            created=row.created,
            updated=row.updated,
            pinned=row.pinned,
            archived=row.archived_at,
            folder=FolderDetails(name=folder.name, instructions=folder.instructions)
            if folder
            else None,
            agent=row.agent.key if row.agent else "",
            model=model,
            effort=row.effort,
            tools_off=tuple(row.tools_off or ()),
            tool_style=row.tool_style,  # type: ignore[arg-type]  # the database allows no other
            prompt_language=row.prompt_language,
        )

    def _told(self, messages: Iterable[WithParts], inline: Inline | None) -> Iterator[WithParts]:
        for message in messages:
            told = _without_words_of_provider(message)
            yield self._with_files(told, inline) if inline else told

    def _with_files(self, message: WithParts, inline: Inline) -> WithParts:
        parts = tuple(self._with_file(part, inline) for part in message.parts)
        return message.model_copy(update={"parts": parts})

    def _with_file(self, part: Part, inline: Inline) -> Part:
        if isinstance(part, FilePart):
            return self._inlined(part, inline)
        if isinstance(part, ToolPart) and isinstance(part.state, ToolCompleted):
            files = tuple(self._inlined(file, inline) for file in part.state.attachments or ())
            state = part.state.model_copy(update={"attachments": files or None})
            return part.model_copy(update={"state": state})
        return part

    def _inlined(self, part: FilePart, inline: Inline) -> FilePart:
        key = own_id(part.url)
        row = self._files_by_id().get(key) if key else None
        url = inline(row) if row else None
        return part if url is None else part.model_copy(update={"url": url})


def open_export(caller: Caller, conversation_id: str | UUID, *, beside: bool = False) -> ChatExport:
    """A conversation of one's own, to be exported. A temporary chat is not: it is kept nowhere,
    and an export would keep it; whoever wants that keeps the chat first."""
    row = get_conversation(caller, conversation_id)
    if row.temporary:
        raise ChatError("error.chat_temporary")
    upgrade(row.pk)
    return ChatExport(row, beside=beside)


def open_export_of(caller: Caller, row: Conversation, *, reason: str = "") -> ChatExport:
    """Somebody else's conversation, for an administrator who has the right; it is written down."""
    if row.temporary:
        raise ChatError("error.chat_temporary")
    audit(caller, AuditEntry.Verb.EXPORT, row, reason=reason)
    upgrade(row.pk)
    return ChatExport(row)


def note_export(person: User, count: int) -> None:
    """Write down that whoever runs this server exports all conversations of somebody, who sees
    it."""
    details: JsonObject = {"conversations": count}
    audit(Caller(0), AuditEntry.Verb.EXPORT, person, owner=person, details=details)


def own_chats(caller: Caller) -> list[str]:
    """The ids of all conversations of a person, archived ones too, the latest first."""
    rows = Conversation.objects.kept_by(caller.user_id).order_by("-updated", "-pk")
    return [str(key) for key in rows.values_list("pk", flat=True)]


def message_source(caller: Caller, conversation_id: str | UUID, message_id: str | UUID) -> str:
    """One message as it was written, Markdown, to be copied; without thinking and tools."""
    conversation = get_conversation(caller, conversation_id)
    message = Message.objects.filter(conversation=conversation, pk=message_id).first()
    if message is None:
        raise ChatError("error.chat_message_not_found")
    [value] = with_parts([message])
    own = (part for part in value.parts if not is_nested(part))
    texts = (part.text for part in own if isinstance(part, TextPart) and not part.ignored)
    return "\n\n".join(text.strip() for text in texts if text.strip())


# --- the forms --------------------------------------------------------------------


def as_json(chat: ChatExport, agents: Names) -> Iterator[str]:
    """Everything, as it is kept; importing it gives the same conversation."""
    files = (_exported_file(row, beside=chat.beside) for row in chat.files())
    yield from file_pieces(chat.details(), files, chat.every(), chat.queue())


def as_tool_messages(chat: ChatExport, agents: Names) -> Iterator[str]:
    """The wire form with `role: "tool"` messages (ToolMessage2)."""
    return _json_list(_chained(to_tool_messages([each]) for each in chat.shown(inline_picture)))


def as_openai(chat: ChatExport, agents: Names) -> Iterator[str]:
    """Messages as OpenAI's API takes them: `tool_calls`, and `role: "tool"`."""
    head = {"id": str(chat.row.pk), "title": chat.row.title}
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "messages": '
    messages = (form for each in chat.shown(inline_file) for form in to_openai_messages(each))
    yield from _json_list(messages)
    yield "}\n"


def as_markdown(chat: ChatExport, agents: Names) -> Iterator[str]:
    """The conversation to be read, as Markdown; thinking is quoted, tools are short blocks."""
    return markdown_pieces(chat.row.title, chat.shown(), chat.queue(), agents, chat.link_to)


Write = Callable[[ChatExport, Names], Iterator[str]]


@dataclass(frozen=True, slots=True)
class ExportForm:
    """How a conversation is written: by whom, as which type, and with which ending."""

    write: Write
    mime: str
    ending: str
    # Whether an archive has the files of its conversations beside them.
    has_files: bool = False


FORMATS: dict[str, ExportForm] = {
    "markdown": ExportForm(as_markdown, "text/markdown; charset=utf-8", "md", has_files=True),
    "json": ExportForm(as_json, "application/json", "json", has_files=True),
    "openai": ExportForm(as_openai, "application/json", "json"),
    "tool-messages": ExportForm(as_tool_messages, "application/json", "json"),
}


# Draws a file that is looked at: its title, the messages, and those that wait.
Draw = Callable[[str, Iterator[WithParts], Iterator[WithParts]], Iterator[str]]


def html_form(draw: Draw) -> ExportForm:
    """One HTML file with all pictures in it; the doors know how it is drawn."""

    def write(chat: ChatExport, agents: Names) -> Iterator[str]:
        return draw(chat.row.title, chat.shown(inline_shown), chat.queue(inline_shown))

    return ExportForm(write, "text/html; charset=utf-8", "html")


# --- files ------------------------------------------------------------------------


def path_beside(key: str, name: str) -> str:
    """Where a file lies in an archive: under a name that every system takes."""
    kept = re.sub(r"[^\w.-]+", "_", name)[-80:].strip("._") or "file"
    return f"files/{key}-{kept}"


def inline_file(row: Attachment) -> str | None:
    """A file as an address that holds its content; nothing if it is not there any more."""
    data = read_stored(row)
    return None if data is None else f"data:{row.mime};base64,{b64encode(data).decode()}"


def inline_picture(row: Attachment) -> str | None:
    return inline_file(row) if row.mime.startswith("image/") else None


def inline_shown(row: Attachment) -> str:
    """A picture as it is looked at; of other files only the name is shown."""
    picture = picture_to_show(row)
    if picture is None:
        return ""
    return f"data:{picture.mime};base64,{b64encode(picture.data).decode()}"


def read_stored(row: Attachment) -> bytes | None:
    try:
        with row.file.open("rb") as file:
            data: bytes = file.read()
    except OSError:
        return None
    return data


def _exported_file(row: Attachment, *, beside: bool) -> ExportedFile:
    key = str(row.pk)
    file = ExportedFile(id=key, mime=row.mime, filename=row.filename, size=row.size)
    if beside:
        return file.model_copy(update={"path": path_beside(key, row.filename)})
    data = read_stored(row)
    return file.model_copy(update={"data": None if data is None else b64encode(data).decode()})


# --- small things -----------------------------------------------------------------


def _without_words_of_provider(message: WithParts) -> WithParts:
    """An answer that failed says why in a sentence. What the provider said itself may name the
    account that pays it, and is for administrators."""
    info = message.info
    if not is_answer(info) or info.error is None or "error" not in info.error.data:
        return message
    data = {key: value for key, value in info.error.data.items() if key != "error"}
    error = info.error.model_copy(update={"data": data})
    return message.model_copy(update={"info": info.model_copy(update={"error": error})})


def _place(row: Message) -> Place:
    return Place(
        parent=str(row.parent_id or ""),
        copy_of=str(row.copy_of_id or ""),
        created=row.created,
        updated=row.updated,
        completed=row.completed_at,
        archived=row.archived_at,
    )


def _chained(groups: Iterable[list[JsonObject]]) -> Iterator[JsonObject]:
    """Messages of the wire, which name the one before, however they were written."""
    parent = None
    for group in groups:
        for form in group:
            chained = {**form, "parentUuid": form["parentUuid"] or parent}
            parent = chained["uuid"]
            yield chained


def _json_list(values: Iterable[JsonObject]) -> Iterator[str]:
    between = "[\n"
    for value in values:
        yield between + json.dumps(value, ensure_ascii=False)
        between = ",\n"
    yield "[]\n" if between == "[\n" else "\n]\n"
