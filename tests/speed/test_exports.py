"""A conversation of fifty thousand parts as a file: four times its quarter, and no more memory."""

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chat.models import Conversation, Message, Part
from chat.protocol.ids import uuid7
from chat.services.caller import Caller
from chat.services.conversations.export import (
    ChatExport,
    as_json,
    open_export,
)
from tests.support import factories as make
from tests.support.many import CALL, WORDS
from tests.support.measuring import cost, ratio

PARTS = 50_000
OF_A_MESSAGE = 50
Form = Callable[[ChatExport, dict[str, str]], Iterator[str]]


def a_talk(parts: int) -> Conversation:
    """Each answer is fifty parts long, half of them calls."""
    number = 2 * parts // OF_A_MESSAGE
    talk = make.a_conversation(last_position=number)
    roles = ("user", "assistant")
    messages = [
        Message(conversation=talk, position=at + 1, role=roles[at % 2], status="success")
        for at in range(number)
    ]
    Message.objects.bulk_create(messages)
    parts = (
        Part(pk=uuid7(), conversation=talk, message=answer, position=at, **_values(at))
        for answer in messages[1::2]
        for at in range(OF_A_MESSAGE)
    )
    Part.objects.bulk_create(parts, batch_size=1_000)
    return talk


def _values(at: int) -> dict[str, Any]:
    return {"type": "text", "text": WORDS} if at % 2 else {**CALL, "call_id": f"call_{at}"}


def written(talk: Conversation, form: Form) -> int:
    return sum(map(len, form(open_export(Caller(talk.owner_id), talk.pk), {})))


def most_memory(talk: Conversation, form: Form) -> int:
    tracemalloc.start()
    try:
        written(talk, form)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_an_export_grows_with_what_it_holds_and_not_in_memory() -> None:
    """In the form that holds everything."""
    quarter, whole = a_talk(PARTS // 4), a_talk(PARTS)
    size = written(whole, as_json)
    assert size > PARTS * 50
    memory = most_memory(quarter, as_json), most_memory(whole, as_json)
    times = ratio(lambda: written(whole, as_json), lambda: written(quarter, as_json), 5)
    seconds = cost(lambda: written(whole, as_json))
    print(
        f"\n{PARTS} parts, {size / 1e6:.1f} MB in {seconds:.1f} s of CPU, {times:.1f} times a "
        f"quarter; {memory[1] / 1e6:.1f} MB of memory at most, a quarter {memory[0] / 1e6:.1f} MB"
    )
    assert times < 5
    assert memory[1] < 1.2 * memory[0]
