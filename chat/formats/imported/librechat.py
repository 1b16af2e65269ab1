"""A conversation of a LibreChat export: `messages` in a row that name their parents, or as a tree
of `children`."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from chat.formats.imported import shapes
from chat.formats.imported.foreign import ForeignChat, OpenCalls
from chat.formats.imported.items import Lookup
from chat.formats.imported.markers import Room, source, without_marks
from chat.formats.imported.trees import Kind, Node
from chat.formats.imported.updates import (
    Called,
    InlineFile,
    Interrupted,
    Prompt,
    Returned,
    Step,
    TurnEnded,
    Update,
    Words,
)
from chat.protocol.citations import Citation
from chat.protocol.frozen import JsonObject

_ROOT = "00000000-0000-0000-0000-000000000000"
_MARK = re.compile(r"turn(\d+)([a-z]+)(\d+)")
# Where what a mark names is listed.
_LISTS = {"search": "organic", "ref": "references", "news": "topStories", "image": "images"}


def is_form(value: JsonObject) -> bool:
    return any(_is_message(each) for each in shapes.objects(_messages(value)))


def _messages(value: JsonObject) -> Any:
    return value.get("messages") or value.get("messagesTree")


def _is_message(value: JsonObject) -> bool:
    return isinstance(value.get("messageId"), str) and "isCreatedByUser" in value


def flattened(value: JsonObject) -> JsonObject:
    """The export with its tree as a row: a long conversation is a deep tree."""
    row: list[Any] = []
    given = _messages(value)
    items = list(given) if isinstance(given, list) else []
    stack = [(message, None) for message in reversed(items)]
    while stack:
        message, parent = stack.pop()
        if not isinstance(message, dict):
            continue
        children = message.get("children")
        own = {key: each for key, each in message.items() if key != "children"}
        if parent is not None:
            own["parentMessageId"] = parent
        row.append(own)
        if isinstance(children, list):
            stack += [(child, message.get("messageId")) for child in reversed(children)]
    rest = {key: each for key, each in value.items() if key not in ("messages", "messagesTree")}
    return {**rest, "messages": row}


def read(value: JsonObject, files: Lookup) -> ForeignChat:
    nodes = []
    for number, message in enumerate(shapes.objects(value.get("messages"))):
        parent = shapes.text(message.get("parentMessageId"))
        key = shapes.text(message.get("messageId")) or f"message {number}"
        nodes.append(Node(key, "" if parent == _ROOT else parent, _kind(message), message))
    times = [at for node in nodes if (at := _at(node.data)) is not None]
    return ForeignChat(
        form="librechat",
        external_id=shapes.text(value.get("conversationId")),
        title=shapes.text(value.get("title")),
        nodes=nodes,
        current=nodes[-1].id if nodes else "",
        question=_question,
        answer=_answer,
        created=min(times, default=None),
        updated=max(times, default=None),
    )


def _kind(message: JsonObject) -> Kind:
    if message.get("isCreatedByUser") is True:
        is_said = bool(shapes.text(message.get("text"))) or bool(message.get("files"))
        return "question" if is_said or shapes.texts(message.get("content")) else "hidden"
    return "answer"


def _at(message: JsonObject) -> int | None:
    return shapes.instant(message.get("createdAt"))


def _question(message: JsonObject) -> Prompt:
    words = shapes.text(message.get("text")) or "\n\n".join(
        text for text in shapes.texts(message.get("content")) if text
    )
    files = tuple(
        InlineFile("", "", shapes.text(each.get("filename")) or shapes.text(each.get("file_id")))
        for each in shapes.objects(message.get("files"))
    )
    return Prompt(words, files, _at(message))


def _answer(messages: Sequence[JsonObject]) -> Iterator[Update]:
    room = Room()
    for number, message in enumerate(messages):
        at, calls = _at(message), OpenCalls()
        yield Step(str(number), shapes.text(message.get("model")), at=at)
        sources = _Sources(message)
        parts = list(shapes.objects(message.get("content")))
        if not parts:
            parts = [{"type": "text", "text": message.get("text")}]
        for place, part in enumerate(parts):
            key = f"{number}:{place}"
            if part.get("type") == "text":
                words, found = without_marks(_value(part.get("text")), sources.of, room)
                if words:
                    yield Words("text", key, words, at=at, citations=found)
            else:
                yield from _part(part, calls, key, at)
    if messages:
        yield from _end(messages[-1])


def _part(part: JsonObject, calls: OpenCalls, key: str, at: int | None) -> Iterator[Update]:
    match part.get("type"):
        case "think":
            if words := _value(part.get("think")):
                yield Words("thinking", key, words, at=at)
        case "tool_call":
            yield from _call(shapes.an_object(part.get("tool_call")), calls, at)


def _value(text: Any) -> str:
    """A text, or an object that holds one."""
    return shapes.text(text) or shapes.text(shapes.an_object(text).get("value"))


def _call(call: JsonObject, calls: OpenCalls, at: int | None) -> Iterator[Update]:
    function = shapes.an_object(call.get("function"))
    name = shapes.text(call.get("name")) or shapes.text(function.get("name")) or "tool"
    given: Any = call.get("args", function.get("arguments"))
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            given = {"arguments": given}
    call_id = calls.begin(name, shapes.text(call.get("id")))
    yield Called(call_id, name, shapes.arguments(given), at=at)
    output = call.get("output", function.get("output"))
    if output is not None:
        yield Returned(call_id, shapes.as_text(output), at=at)


def _end(message: JsonObject) -> Iterator[Update]:
    if message.get("error") is True:
        yield TurnEnded("error", at=_at(message))
    elif message.get("unfinished") is True:
        yield Interrupted(_at(message))
    elif message.get("finish_reason") == "length":
        yield TurnEnded("success", "length", at=_at(message))


class _Sources:
    """What the marks of one message lead to; the lists they name are read once."""

    def __init__(self, message: JsonObject) -> None:
        self._hits: defaultdict[tuple[str, str, int], list[Citation]] = defaultdict(list)
        for given in shapes.objects(message.get("attachments")):
            search = shapes.an_object(given.get("web_search"))
            turn = str(search.get("turn", 0))
            for kind, name in _LISTS.items():
                for number, hit in enumerate(shapes.objects(search.get(name))):
                    url = shapes.text(hit.get("link")) or shapes.text(hit.get("url"))
                    title, quote = shapes.text(hit.get("title")), shapes.text(hit.get("snippet"))
                    if found := source(url, title, quote):
                        self._hits[turn, kind, number].append(found)

    def of(self, mark: str) -> Iterator[Citation]:
        for turn, kind, number in _MARK.findall(mark):
            yield from self._hits.get((turn, kind, int(number)), ())
