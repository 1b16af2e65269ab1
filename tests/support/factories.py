"""Rows for tests, made by plain functions: name what matters, the rest is filled in."""

from datetime import timedelta
from functools import cache
from itertools import count
from typing import Any

from django.contrib.auth.hashers import get_hasher, make_password
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db.models import F
from django.utils import timezone

from chat.models import (
    Agent,
    Attachment,
    BackgroundCall,
    Conversation,
    Feedback,
    Folder,
    Generation,
    LanguageModel,
    Message,
    Part,
    Process,
    Provider,
    QueuedMessage,
    ToolSetting,
    View,
)
from chat.protocol import parts as values
from chat.protocol.ids import new_id, now_ms
from chat.protocol.tool_state import EndedOutput, ToolCompleted, ToolState

PASSWORD = "correct horse"
_numbers = count(1)


@cache
def _hashed(by: str) -> str:
    """Made once: a hasher takes its time for each, and is meant to."""
    return make_password(PASSWORD, hasher=by)


def a_user(name: str = "", **fields: Any) -> User:
    username = name or f"person{next(_numbers)}"
    password = _hashed(get_hasher().algorithm)
    return User.objects.create(username=username, password=password, **fields)


def a_superuser(name: str = "", **fields: Any) -> User:
    return a_user(name or f"admin{next(_numbers)}", is_staff=True, is_superuser=True, **fields)


def a_provider(**fields: Any) -> Provider:
    return Provider.objects.create(**{"name": "A provider", "kind": "demo", **fields})


def a_model(provider: Provider | None = None, **fields: Any) -> LanguageModel:
    fields = {"model_id": f"model-{next(_numbers)}", **fields}
    return LanguageModel.objects.create(provider=provider or a_provider(), **fields)


def an_agent(model: LanguageModel | None = None, **fields: Any) -> Agent:
    return Agent.objects.create(**{"name": "An agent", "model": model or a_model(), **fields})


def a_tool_setting(tool: str = "calculator", **fields: Any) -> ToolSetting:
    return ToolSetting.objects.create(tool=tool, **fields)


def a_conversation(owner: User | None = None, **fields: Any) -> Conversation:
    return Conversation.objects.create(owner=owner or a_user(), **{"title": "A talk", **fields})


def a_folder(owner: User | None = None, name: str = "Work", **fields: Any) -> Folder:
    return Folder.objects.create(owner=owner or a_user(), name=name, **fields)


def a_message(
    conversation: Conversation | None = None, role: str = "user", **fields: Any
) -> Message:
    """A message at the next free position, without parts."""
    conversation = conversation or a_conversation()
    Conversation.objects.filter(pk=conversation.pk).update(last_position=F("last_position") + 1)
    conversation.refresh_from_db(fields=["last_position"])
    return Message.objects.create(
        conversation=conversation, role=role, position=conversation.last_position, **fields
    )


def a_message_with_parts(
    conversation: Conversation | None = None,
    role: str = "user",
    text: str = "Hello",
    tools: tuple[ToolState, ...] = (),
    **fields: Any,
) -> Message:
    """A message that says `text`, after tool calls in the states given."""
    message = a_message(conversation, role, **fields)
    made = [a_tool_part(message, state) for state in tools]
    a_text_part(message, text, position=len(made))
    return message


def a_talk(conversation: Conversation, messages: int) -> None:
    """Questions and answers in turn, each with a text; made in few queries."""
    first = conversation.last_position + 1
    rows = [
        Message(conversation=conversation, position=n, role=("user", "assistant")[(n - first) % 2])
        for n in range(first, first + messages)
    ]
    Message.objects.bulk_create(rows)
    Part.objects.bulk_create(Part.of(_text(row, f"Text {row.position}"), 0) for row in rows)
    conversation.last_position = rows[-1].position
    conversation.save(update_fields=["last_position"])


def _text(message: Message, text: str) -> values.TextPart:
    return values.TextPart(id=new_id(), text=text, **of(message))


def of(message: Message) -> dict[str, Any]:
    """The ids that every part of this message carries."""
    return {"session_id": str(message.conversation_id), "message_id": str(message.pk)}


def a_part(value: values.Part, position: int | None = None) -> Part:
    if position is None:
        position = Part.objects.filter(message_id=value.message_id).count()
    row = Part.of(value, position)
    row.save(force_insert=True)
    return row


def a_text_part(message: Message, text: str = "Hello", position: int | None = None) -> Part:
    return a_part(_text(message, text), position)


def a_tool_part(message: Message, state: ToolState | None = None, tool: str = "calculator") -> Part:
    return a_part(
        values.ToolPart(
            id=new_id(),
            call_id=f"call_{next(_numbers)}",
            tool=tool,
            state=state or a_finished_call(),
            **of(message),
        )
    )


def a_finished_call(output: str = "4", **input: Any) -> ToolCompleted:
    now = now_ms()
    return ToolCompleted(
        input=input or {"expression": "2+2"},
        output=output,
        title="2+2",
        metadata={},
        time=EndedOutput(start=now - 5, end=now),
    )


def an_attachment(
    owner: User | None = None, message: Message | None = None, content: bytes = b"hi", **fields: Any
) -> Attachment:
    fields = {"mime": "text/plain", "filename": "note.txt", "size": len(content), **fields}
    row = Attachment(owner=owner or a_user(), message=message, **fields)
    row.file.save("ignored", ContentFile(content), save=False)
    row.save(force_insert=True)
    return row


def a_queued_message(
    conversation: Conversation | None = None, text: str = "Then this", **fields: Any
) -> QueuedMessage:
    return QueuedMessage.objects.create(
        conversation=conversation or a_conversation(),
        text=text,
        **{"place": next(_numbers), **fields},
    )


def a_feedback(message: Message | None = None, **fields: Any) -> Feedback:
    """Of the owner of the conversation."""
    message = message or a_message(role="assistant")
    fields = {"verdict": "down", "comment": "Too short", **fields}
    return Feedback.objects.create(
        message=message, person_id=message.conversation.owner_id, **fields
    )


def a_background_call(conversation: Conversation, **fields: Any) -> BackgroundCall:
    fields = {"purpose": "title", "model_id": "acme-1", "input_tokens": 30, **fields}
    return BackgroundCall.objects.create(conversation=conversation, **fields)


def a_process(**fields: Any) -> Process:
    lease = timezone.now() + timedelta(seconds=20)
    return Process.objects.create(
        **{"host": "here", "pid": next(_numbers), "lease": lease, **fields}
    )


def a_generation(message: Message | None = None, **fields: Any) -> Generation:
    """A running one, unless `status` says otherwise."""
    message = message or a_message(role="assistant", status="streaming")
    if fields.get("status", "active") != "active":
        fields.setdefault("finished", timezone.now())
    return Generation.objects.create(conversation=message.conversation, message=message, **fields)


def a_view(conversation: Conversation | None = None, **fields: Any) -> View:
    conversation = conversation or a_conversation()
    fields = {"user": conversation.owner, "socket": f"socket-{next(_numbers)}", **fields}
    fields.setdefault("process", None)
    fields["process"] = fields["process"] or a_process()
    return View.objects.create(conversation=conversation, **fields)
