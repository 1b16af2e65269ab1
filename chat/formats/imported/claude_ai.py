"""A conversation of a Claude.ai export: `chat_messages`, each with blocks of content."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Any

from chat.formats.imported import shapes
from chat.formats.imported.foreign import ForeignChat, OpenCalls
from chat.formats.imported.items import Lookup
from chat.formats.imported.trees import Kind, Node
from chat.formats.imported.updates import Called, InlineFile, Prompt, Returned, Step, Update, Words
from chat.protocol.citations import Citation
from chat.protocol.frozen import JsonObject

# The parent of the first message, where messages have one.
_ROOT = "00000000-0000-4000-8000-000000000000"


def is_form(value: JsonObject) -> bool:
    return isinstance(value.get("chat_messages"), list)


def read(value: JsonObject, files: Lookup) -> ForeignChat:
    messages = list(shapes.objects(value.get("chat_messages")))
    nodes = list(_nodes(messages))
    reader = _Reader(files)
    return ForeignChat(
        form="claude-ai",
        external_id=shapes.text(value.get("uuid")),
        title=shapes.text(value.get("name")),
        nodes=nodes,
        current=shapes.text(value.get("current_leaf_message_uuid"))
        or (nodes[-1].id if nodes else ""),
        question=reader.question,
        answer=reader.answer,
        created=shapes.instant(value.get("created_at")),
        updated=shapes.instant(value.get("updated_at")),
    )


def _nodes(messages: Sequence[JsonObject]) -> Iterator[Node]:
    """Messages without parents follow each other."""
    has_parents = any(shapes.text(each.get("parent_message_uuid")) for each in messages)
    last = ""
    for number, message in enumerate(messages):
        key = shapes.text(message.get("uuid")) or f"message {number}"
        parent = last
        if has_parents:
            parent = shapes.text(message.get("parent_message_uuid"))
            parent = "" if parent == _ROOT else parent
        yield Node(key, parent, _kind(message), message)
        last = key


def _kind(message: JsonObject) -> Kind:
    match message.get("sender"):
        case "human":
            given = (message.get("attachments"), message.get("files"))
            return "question" if _words(message) or any(given) else "hidden"
        case "assistant":
            return "answer"
        case _:
            return "hidden"


class _Reader:
    def __init__(self, files: Lookup) -> None:
        self._files = files

    def question(self, message: JsonObject) -> Prompt:
        files = [_attachment(each) for each in shapes.objects(message.get("attachments"))]
        for each in shapes.objects(message.get("files")):
            name = shapes.text(each.get("file_name"))
            key = shapes.text(each.get("file_uuid"))
            found = self._files(key or name) if key or name else None
            files.append(found or InlineFile("", "", name or key))
        return Prompt(_words(message), tuple(files), _at(message))

    def answer(self, messages: Sequence[JsonObject]) -> Iterator[Update]:
        calls = OpenCalls()
        for number, message in enumerate(messages):
            at = _at(message)
            yield Step(str(number), shapes.text(message.get("model")), at=at)
            blocks = list(shapes.objects(message.get("content")))
            if not blocks and (words := shapes.text(message.get("text"))):
                yield Words("text", f"{number}", words, at=at)
            for place, block in enumerate(blocks):
                yield from _block(block, calls, f"{number}:{place}", at)


def _block(block: JsonObject, calls: OpenCalls, key: str, at: int | None) -> Iterator[Update]:
    start = shapes.instant(block.get("start_timestamp")) or at
    stop = shapes.instant(block.get("stop_timestamp")) or start
    name = shapes.text(block.get("name")) or "tool"
    match block.get("type"):
        case "text":
            if words := shapes.text(block.get("text")):
                found = tuple(_citations(block, len(words)))
                yield Words("text", key, words, at=stop, citations=found)
        case "thinking":
            if words := shapes.text(block.get("thinking")):
                yield Words("thinking", key, "", at=start)
                yield Words("thinking", key, words, at=stop)
        case "tool_use" | "server_tool_use":
            call_id = calls.begin(name, shapes.text(block.get("id")))
            yield Called(call_id, name, shapes.arguments(block.get("input")), at=start)
        case "tool_result":
            call_id = calls.answer(name, shapes.text(block.get("tool_use_id")))
            output = shapes.output(block.get("content"))
            files = shapes.files(block.get("content"))
            is_error = block.get("is_error") is True
            yield Returned(call_id, output, is_error=is_error, files=files, at=stop)


def _citations(block: JsonObject, length: int) -> Iterator[Citation]:
    for each in shapes.objects(block.get("citations")):
        details = shapes.an_object(each.get("details"))
        url = shapes.text(details.get("url")) or shapes.text(each.get("url"))
        title = shapes.text(each.get("title")) or shapes.text(details.get("title"))
        if url or title:
            end = _place(each.get("end_index"), length)
            start = min(_place(each.get("start_index"), length), end)
            yield Citation(url=url, title=title, start=start, end=end)


def _place(value: Any, length: int) -> int:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= length else length


def _attachment(given: JsonObject) -> InlineFile:
    """A file whose text is kept is a text; of others the name is all there is."""
    name = shapes.text(given.get("file_name")) or "attachment.txt"
    words = shapes.text(given.get("extracted_content"))
    if not words:
        return InlineFile("", "", name)
    data = b64encode(words.encode(errors="replace")).decode()
    return InlineFile("text/plain", f"data:text/plain;base64,{data}", name)


def _words(message: JsonObject) -> str:
    found = "\n\n".join(text for text in shapes.texts(message.get("content")) if text)
    return found or shapes.text(message.get("text"))


def _at(message: JsonObject) -> int | None:
    return shapes.instant(message.get("created_at"))
