"""A conversation of a ChatGPT export: a `mapping` of nodes, each with a message or none."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from chat.formats.imported import shapes
from chat.formats.imported.foreign import ForeignChat, OpenCalls
from chat.formats.imported.items import Lookup
from chat.formats.imported.markers import (
    MOST_OF_A_MARK,
    Found,
    Room,
    source,
    without_any_mark,
    without_marks,
)
from chat.formats.imported.trees import Kind, Node, in_order_of_children
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

# What a person, or the program for them, says about themselves; nobody sees it in the chat.
_CONTEXTS = ("user_editable_context", "model_editable_context")
# What stands between the names of a pointer to a file.
_BETWEEN = re.compile(r"://|#")


def is_form(value: JsonObject) -> bool:
    return isinstance(value.get("mapping"), dict)


def read(value: JsonObject, files: Lookup) -> ForeignChat:
    mapping = shapes.an_object(value.get("mapping"))
    children = {
        key: shapes.strings(node.get("children"))
        for key, node in mapping.items()
        if isinstance(node, dict)
    }
    nodes = [_node(key, node) for key, node in mapping.items() if isinstance(node, dict)]
    reader = _Reader(files)
    return ForeignChat(
        form="chatgpt",
        external_id=shapes.text(value.get("conversation_id")) or shapes.text(value.get("id")),
        title=shapes.text(value.get("title")),
        nodes=in_order_of_children(nodes, children),
        current=shapes.text(value.get("current_node")),
        question=reader.question,
        answer=reader.answer,
        created=shapes.stamp(value.get("create_time")),
        updated=shapes.stamp(value.get("update_time")),
        archived=value.get("is_archived") is True,
    )


def _node(key: str, node: JsonObject) -> Node:
    message = shapes.an_object(node.get("message"))
    return Node(key, shapes.text(node.get("parent")), _kind(message), message)


def _kind(message: JsonObject) -> Kind:
    author = shapes.an_object(message.get("author"))
    content = shapes.an_object(message.get("content"))
    role = author.get("role")
    if content.get("content_type") in _CONTEXTS:
        return "hidden"
    if role == "tool":
        # What a tool says is mostly hidden, and stands on its card all the same.
        return "answer"
    if _metadata(message).get("is_visually_hidden_from_conversation") is True:
        return "hidden"
    match role:
        case "user":
            has_files = bool(_metadata(message).get("attachments"))
            is_said = bool(_words(content).strip()) or any(_pictures(content))
            return "question" if is_said or has_files else "hidden"
        case "assistant":
            return "answer"
        case _:
            return "hidden"


class _Reader:
    def __init__(self, files: Lookup) -> None:
        self._files = files

    def question(self, message: JsonObject) -> Prompt:
        content = shapes.an_object(message.get("content"))
        pointers = list(_pictures(content))
        files = [self._picture(pointer) for pointer in pointers]
        shown = {key for pointer in pointers for key in _BETWEEN.split(pointer)}
        for given in shapes.objects(_metadata(message).get("attachments")):
            key, name = shapes.text(given.get("id")), shapes.text(given.get("name"))
            if key and key not in shown:
                files.append(self._file(key, name))
        return Prompt(without_any_mark(_words(content)), tuple(files), _at(message))

    def answer(self, messages: Sequence[JsonObject]) -> Iterator[Update]:
        calls, room = OpenCalls(), Room()
        has_thoughts = any(_type(message) == "thoughts" for message in messages)
        for number, message in enumerate(messages):
            key, at = str(number), _at(message)
            if shapes.an_object(message.get("author")).get("role") == "tool":
                yield from self._result(message, calls, key)
                continue
            yield Step(key, shapes.text(_metadata(message).get("model_slug")), at=at)
            yield from self._said(message, calls, room, key, has_thoughts=has_thoughts)
        if messages:
            yield from _end(messages[-1])

    def _said(
        self, message: JsonObject, calls: OpenCalls, room: Room, key: str, *, has_thoughts: bool
    ) -> Iterator[Update]:
        content, at = shapes.an_object(message.get("content")), _at(message)
        recipient = shapes.text(message.get("recipient")) or "all"
        kind = _type(message)
        if kind in ("thoughts", "reasoning_recap"):
            if words := _thoughts(content, has_thoughts=has_thoughts):
                yield Words("thinking", key, words, at=at)
        elif recipient != "all":
            call_id = calls.begin(recipient, shapes.text(message.get("id")))
            yield Called(call_id, recipient, _arguments(recipient, _words(content)), at=at)
        else:
            words = _words(content)
            if kind == "code":
                words = f"```{_language(content)}\n{words}\n```"
            text, found = without_marks(words, _Sources(message).of, room)
            if text.strip():
                yield Words("text", key, text, at=at, citations=found)
            for pointer in _pictures(content):
                # An answer has no files but those of its tools.
                call_id = calls.begin("image", "")
                yield Called(call_id, "image", {}, at=at)
                yield Returned(call_id, "", files=(self._picture(pointer),), at=at)

    def _result(self, message: JsonObject, calls: OpenCalls, key: str) -> Iterator[Update]:
        author = shapes.an_object(message.get("author"))
        content, at = shapes.an_object(message.get("content")), _at(message)
        name = shapes.text(author.get("name")) or "tool"
        output = _output(message, content)
        pictures = tuple(self._picture(pointer) for pointer in _pictures(content))
        pictures += tuple(self._picture(pointer) for pointer in _drawn(message))
        call_id = calls.answer(name)
        if not call_id:
            if not output.strip() and not pictures:
                return
            call_id = calls.begin(name, shapes.text(message.get("id")))
            calls.answer(name)
            yield Called(call_id, name, {}, at=at)
        is_error = content.get("content_type") == "system_error"
        yield Returned(call_id, output, is_error=is_error, files=pictures, at=at)

    def _picture(self, pointer: str) -> InlineFile:
        return self._file(pointer.rpartition("://")[2].partition("#")[0], "")

    def _file(self, key: str, name: str) -> InlineFile:
        return self._files(key) or InlineFile("", "", name or key)


def _end(message: JsonObject) -> Iterator[Update]:
    details = shapes.an_object(_metadata(message).get("finish_details"))
    match details.get("type"):
        case "interrupted":
            yield Interrupted(_at(message))
        case "max_tokens":
            yield TurnEnded("success", "length", at=_at(message))


# --- what is in a message -------------------------------------------------------------


def _metadata(message: JsonObject) -> JsonObject:
    return shapes.an_object(message.get("metadata"))


def _type(message: JsonObject) -> str:
    return shapes.text(shapes.an_object(message.get("content")).get("content_type"))


def _at(message: JsonObject) -> int | None:
    return shapes.stamp(message.get("create_time"))


def _words(content: JsonObject) -> str:
    """The words of a content: one text, or those of its parts."""
    if isinstance(content.get("text"), str):
        return str(content["text"])
    parts = content.get("parts")
    # What was spoken has its words in an object.
    found = [
        shapes.text(part) or shapes.text(shapes.an_object(part).get("text"))
        for part in (parts if isinstance(parts, list) else ())
    ]
    return "\n\n".join(part for part in found if part)


def _language(content: JsonObject) -> str:
    language = shapes.text(content.get("language"))
    return language if language.isalnum() and language != "unknown" else ""


def _pictures(content: JsonObject) -> Iterator[str]:
    for part in shapes.objects(content.get("parts")):
        pointer = shapes.text(part.get("asset_pointer"))
        if part.get("content_type") == "image_asset_pointer" and pointer:
            yield pointer


def _drawn(message: JsonObject) -> Iterator[str]:
    """Pictures that a program has drawn."""
    result = shapes.an_object(_metadata(message).get("aggregate_result"))
    for each in shapes.objects(result.get("messages")):
        pointer = shapes.text(each.get("image_url"))
        if each.get("message_type") == "image" and "://" in pointer:
            yield pointer


def _thoughts(content: JsonObject, *, has_thoughts: bool) -> str:
    """What was thought; how long it took is said only where nothing else is."""
    recap = shapes.text(content.get("content"))
    if recap:
        return "" if has_thoughts else recap
    found = []
    for thought in shapes.objects(content.get("thoughts")):
        summary, words = shapes.text(thought.get("summary")), shapes.text(thought.get("content"))
        heading = f"**{summary}**" if summary and not words.startswith("**") else ""
        found.append("\n\n".join(piece for piece in (heading, words) if piece))
    return "\n\n".join(piece for piece in found if piece)


def _arguments(name: str, words: str) -> JsonObject:
    try:
        value = json.loads(words)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    return {"code" if name.startswith("python") else "input": words} if words else {}


def _output(message: JsonObject, content: JsonObject) -> str:
    title, url = shapes.text(content.get("title")), shapes.text(content.get("url"))
    heading = " – ".join(piece for piece in (title, url) if piece)
    words = (
        _words(content)
        or shapes.text(content.get("result"))
        or shapes.text(content.get("output_str"))
    )
    text = without_any_mark(words)
    found = "\n".join(_hits(message))
    return "\n\n".join(piece for piece in (heading, text, found) if piece)


def _hits(message: JsonObject) -> Iterator[str]:
    """What a search has found, one line each."""
    for group in shapes.objects(_metadata(message).get("search_result_groups")):
        for hit in shapes.objects(group.get("entries")):
            pieces = (shapes.text(hit.get(name)) for name in ("title", "url", "snippet"))
            yield " – ".join(piece for piece in pieces if piece)


class _Sources:
    """What the marks of one message lead to; what they name is looked for once."""

    def __init__(self, message: JsonObject) -> None:
        metadata = _metadata(message)
        self._references: dict[str, JsonObject] = {}
        for reference in shapes.objects(metadata.get("content_references")):
            self._references.setdefault(shapes.text(reference.get("matched_text")), reference)
        self._cited: dict[str, JsonObject] = {}
        for citation in shapes.objects(metadata.get("citations")):
            found = shapes.an_object(citation.get("metadata"))
            number = shapes.an_object(found.get("extra")).get("cited_message_idx")
            self._cited.setdefault(f"【{number}", found)
        self._found: dict[str, Found] = {}

    def of(self, mark: str) -> Found:
        if mark not in self._found:
            self._found[mark] = tuple(islice(self._named(mark), MOST_OF_A_MARK))
        return self._found[mark]

    def _named(self, mark: str) -> Iterator[Citation]:
        reference = self._references.get(mark)
        if reference is not None:
            items = list(shapes.objects(reference.get("items"))) or [reference]
        else:
            cited = self._cited.get(mark.partition("†")[0])
            items = [cited] if cited is not None else []
        for item in items:
            words = (shapes.text(item.get(name)) for name in ("url", "title", "snippet"))
            if found := source(*words):
                yield found
