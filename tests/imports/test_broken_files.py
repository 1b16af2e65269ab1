"""A file that is cut off or damaged: what can be read of it is imported, and where it breaks is
told."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chat.formats.imported.chats import read_chats
from chat.formats.imported.elements import elements
from chat.formats.imported.items import Item, Known, Skipped
from chat.models import Conversation, Message
from chat.protocol.factories import create_answer, create_text_part, create_user_message
from chat.protocol.messages import ModelRef, WithParts, message_to_json
from tests.imports.exports import CHATGPT, CLAUDE_AI
from tests.imports.test_imports import imported
from tests.imports.transcripts import TRANSCRIPT
from tests.support.measuring import ratio
from tests.support.site import Site

Json = dict[str, Any]
SESSION = "0d7c6f7e-2f5d-4d0a-9b5c-9a1f0c1d2e3f"


def ours(number: int) -> Json:
    asked = create_user_message(SESSION, f"word-{number}")
    if number % 2 == 0:
        return message_to_json(asked)
    text = create_text_part(SESSION, asked.info.id, f"word-{number}")
    model = ModelRef(provider_id="p", model_id="m")
    return message_to_json(create_answer(SESSION, asked.info.id, model=model, parts=(text,)))


OPENAI_MESSAGES: list[Json] = [
    {"role": "user", "content": "word-0, {\"role\": \"user\"}, [1]"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "function": {"name": "word-1", "arguments": "{\"n\": [1, {}]}"}},
        {"id": "b", "function": {"name": "read", "arguments": "{}"}},
    ]},
    {"role": "tool", "tool_call_id": "a", "content": "word-2"},
    {"role": "assistant", "content": "word-3"},
    {"role": "user", "content": "word-4"},
]  # fmt: skip
TOOL_MESSAGES: list[Json] = [
    {"role": "user", "uuid": "u1", "content": "word-0"},
    {"role": "assistant", "content": [
        {"type": "text", "text": "word-1"},
        {"type": "tool_use", "id": "k", "name": "read", "input": {"a": [1, {"b": 2}, {"c": 3}]}},
    ]},
    {"role": "tool", "content": [
        {"type": "tool-result", "toolCallId": "k", "result": {"llmContent": "word-2"}}]},
    {"role": "assistant", "content": [{"type": "text", "text": "word-3"}]},
    {"role": "user", "content": "word-4"},
]  # fmt: skip
OUR_MESSAGES = [ours(number) for number in range(5)]

FORMS = [
    ("[", OPENAI_MESSAGES, "]"),
    ('{"id": "c1", "title": "A", "messages": [', OPENAI_MESSAGES, '], "more": {}}'),
    ("[", TOOL_MESSAGES, "]"),
    ('{"format": "parley.v1", "id": "c1", "title": "A", "messages": [', OUR_MESSAGES, "]}"),
]


def words_of(items: list[Item]) -> str:
    return "".join(item.model_dump_json() for item in items if isinstance(item, WithParts))


def left_out(items: list[Item]) -> list[tuple[str, str]]:
    return [(item.reason, item.where) for item in items if isinstance(item, Skipped)]


@pytest.mark.parametrize("form", FORMS, ids=["list", "object", "tool-messages", "parley"])
def test_what_comes_before_a_cut_is_there(form: tuple[str, list[Json], str]) -> None:
    start, messages, end = form
    ends = []
    text = start
    for message in messages:
        text += (", " if ends else "") + json.dumps(message)
        ends.append(len(text))
    text += end
    for cut in range(10, len(text), 10):
        items = list(read_chats([text[:cut]], "…"))
        whole = sum(at <= cut for at in ends)
        for number in range(5):
            assert (f"word-{number}" in words_of(items)) == (number < whole), (cut, number)
        if whole:
            assert left_out(items)[-1] == ("file_cut_off", str(whole))
        else:
            ((reason, where),) = left_out(items)
            assert (reason, where[:2]) in [("file_not_json", "1:"), ("file_cut_off", "0")]


@pytest.mark.parametrize("form", FORMS, ids=["list", "object", "tool-messages", "parley"])
def test_one_that_is_damaged_costs_no_other(form: tuple[str, list[Json], str]) -> None:
    """A quotation mark that is lost, a bracket too many, a line end in the midst of a text."""
    start, messages, end = form
    for number in range(len(messages)):
        for wrong in damaged(json.dumps(messages[number])):
            pieces = [json.dumps(each) for each in messages]
            pieces[number] = wrong
            items = list(read_chats([start + ", ".join(pieces) + end], "…"))
            for other in range(len(messages)):
                assert (f"word-{other}" in words_of(items)) == (other != number), (wrong, other)
            told = ("message_not_understood", str(number + 1))
            cut = ("file_cut_off", str(number))
            assert told in left_out(items) or (number == 4 and cut in left_out(items)), wrong


def damaged(message: str) -> Iterator[str]:
    yield message.replace('"word', "word", 1).replace("text", "te\nxt", 1)
    yield message[:-1] + "]"
    yield message.replace("word", "wo\nrd", 1)


async def test_a_mended_file_brings_what_was_missing(site: Site) -> None:
    start, messages, end = FORMS[1]
    text = start + ", ".join(map(json.dumps, messages)) + end
    first = await imported(site, text[: text.index("word-3")].encode())
    assert [each.reason for each in first.skipped] == ["file_cut_off"]
    second = await imported(site, text.encode())
    assert second.skipped == []
    assert second.chats[0].id == first.chats[0].id
    assert await Conversation.objects.exclude(external_session_id="").acount() == 1
    assert await Message.objects.filter(conversation_id=first.chats[0].id).acount() == 3
    shown = (await site.alice.page(second.chats[0].id)).text_of("t")
    assert all(f"word-{number}" in shown for number in (0, 2, 3, 4))


def test_one_with_a_gap_is_not_taken_for_the_whole() -> None:
    """What is missing in it could not be put in its place later."""
    start, messages, end = FORMS[1]
    pieces = [*map(json.dumps, messages[:2]), '{"role"', *map(json.dumps, messages[2:])]
    keys = [
        next(item.external_id for item in read_chats([text], "…") if isinstance(item, Known))
        for text in (start + ", ".join(pieces) + end, start + json.dumps(messages)[1:-1] + end)
    ]
    assert keys[0] != keys[1] == "c1"


@pytest.mark.parametrize("lost", [1, 2, 5])
@pytest.mark.parametrize("size", [40, 100_000])
def test_lines_that_are_broken_at_the_beginning_cost_no_other(lost: int, size: int) -> None:
    lines = TRANSCRIPT.decode().splitlines(keepends=True)
    text = "".join('{"type": "user", "mess\n' for _ in range(lost)) + "".join(lines)
    items = list(read_chats([text[at : at + size] for at in range(0, len(text), size)], "…"))
    assert "Mend the greeting" in words_of(items)
    assert "It says **Hello** now." in words_of(items)
    assert left_out(items) == [("line_not_json", str(each + 1)) for each in range(lost)]


@pytest.mark.parametrize("broken", [0, 1, 2, 3])
def test_a_broken_conversation_of_an_export_costs_no_other(broken: int) -> None:
    chats = [{**CHATGPT, "title": f"title-{n}", "conversation_id": f"c{n}"} for n in range(3)]
    pieces = [json.dumps(each) for each in chats]
    pieces.insert(broken, json.dumps(CLAUDE_AI).replace('"', "", 1))
    items = list(read_chats(["[", ",\n".join(pieces), "]"], "…"))
    known = [item.external_id for item in items if isinstance(item, Known)]
    assert known == ["c0", "c1", "c2"]
    reason = "list_broken" if broken == 3 else "conversation_not_understood"
    assert left_out(items) == [(reason, str(broken + 1))]


def test_a_message_that_is_too_deep_costs_no_other() -> None:
    for levels in (150, 5000):
        deep = '{"role": "user", "content": ' + "[" * levels + "]" * levels + "}"
        text = (
            '[{"role": "user", "content": "word-0"}, '
            + deep
            + ', {"role": "user", "content": "word-1"}]'
        )
        items = list(read_chats([text], "…"))
        assert "word-0" in words_of(items)
        assert "word-1" in words_of(items)
        assert left_out(items)[0] == ("message_not_understood", "2")


@pytest.mark.parametrize("form", FORMS, ids=["list", "object", "tool-messages", "parley"])
def test_a_file_that_is_damaged_anywhere_never_raises(form: tuple[str, list[Json], str]) -> None:
    chance = random.Random(5)
    start, messages, end = form
    whole = start + ", ".join(map(json.dumps, messages)) + end
    for _ in range(100):
        text = list(whole)
        for _ in range(chance.randrange(1, 5)):
            text[chance.randrange(len(text))] = chance.choice(
                ["", '"', "{", "]", ",", "\\", "\n", "9"]
            )
        list(read_chats(["".join(text)], "…"))


@pytest.mark.parametrize(
    "piece",
    [',{"a":1}', ',{"a" 1}', ',{"a":"', ',{"a":[1', ",    ", ',{"a":' + "9" * 5000 + "}"],
)
def test_to_look_for_what_is_whole_is_linear(piece: str) -> None:
    """Pieces that are whole but not wanted, or broken, cut off, too deep, too long."""

    def look(size: int) -> Callable[[], object]:
        text = "[{broken" + piece * (size // len(piece))
        return lambda: list(elements([text], lambda value: "wanted" in value))

    assert ratio(look(400_000), look(200_000), 3) <= 3
