"""The queue: messages that wait between the transcript and the composer."""

from collections.abc import Sequence
from typing import Literal

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from chat.protocol.messages import WithParts
from chat.protocol.parts import FilePart
from chat.rendering.page import dom
from chat.rendering.reader import Reader

QueueState = Literal["", "next", "held"]


def queue_state(waiting: bool, held: bool) -> QueueState:
    """What stands above the queue: nothing, that it goes on by itself, or that it does not."""
    if not waiting:
        return ""
    return "held" if held else "next"


def queue_html(queue: Sequence[WithParts], held: bool, editing: str, reader: Reader) -> SafeString:
    """All of it; there is a place for it also while nothing waits."""
    with reader.speaking():
        values = {
            "head": queue_head_html(queue_state(bool(queue), held), reader),
            "list_id": dom.QUEUE,
            "messages": [
                queued_html(message, reader, editing=message.info.id == editing)
                for message in queue
            ],
        }
        return SafeString(render_to_string("chat/queue.html", values).strip())


def queue_head_html(state: QueueState, reader: Reader) -> SafeString:
    with reader.speaking():
        values = {"id": dom.QUEUE_HEAD, "state": state}
        return SafeString(render_to_string("chat/queue_head.html", values).strip())


def queued_html(message: WithParts, reader: Reader, *, editing: bool = False) -> SafeString:
    """One message that waits."""
    with reader.speaking():
        values = {
            "element": dom.queued_id(message.info.id),
            "info": message.info,
            "text": message.text,
            "files": [
                part.filename or part.mime for part in message.parts if isinstance(part, FilePart)
            ],
            "editing": editing,
        }
        return SafeString(render_to_string("chat/queue_item.html", values).strip())
