"""The outline of a conversation: its questions, below which the page puts the headings of long
answers."""

from collections.abc import Sequence

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from chat.protocol.transcript import Question
from chat.rendering.page import dom
from chat.rendering.reader import Reader


def outline_html(conversation_id: str, questions: Sequence[Question], reader: Reader) -> SafeString:
    """The entries of the list, which is filled when it is opened."""
    entries = [(question, dom.message_id(question.position)) for question in questions]
    values = {"conversation_id": conversation_id, "entries": entries}
    with reader.speaking():
        return SafeString(render_to_string("chat/outline_entries.html", values).strip())
