"""A conversation of an Open WebUI export: `chat.history.messages`, with thoughts and calls as
`<details>` inside the text."""

import html
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from chat.formats.imported import shapes
from chat.formats.imported.foreign import ForeignChat, OpenCalls
from chat.formats.imported.items import Lookup
from chat.formats.imported.markers import at_the_end
from chat.formats.imported.trees import Kind, Node, in_order_of_children
from chat.formats.imported.updates import (
    Called,
    InlineFile,
    Prompt,
    Returned,
    Step,
    StepUsed,
    TurnEnded,
    Update,
    Words,
)
from chat.protocol.citations import Citation, is_web_address
from chat.protocol.frozen import JsonObject

_OPEN = re.compile(r"<details\b([^<>]*)>")
_CLOSE = "</details>"
_KINDS = ("reasoning", "tool_calls", "code_interpreter")
# Not from within a name: in a long one without a value each of its letters would be tried.
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)=\"([^\"]*)\"")
_FENCE = re.compile(r"\A```([\w+-]*)\n(.*?)\n?```\Z", re.DOTALL)
_QUOTED = re.compile(r"^(?:>|&gt;) ?", re.MULTILINE)


def is_form(value: JsonObject) -> bool:
    return bool(_history(value))


def _chat(value: JsonObject) -> JsonObject:
    """An export has the chat beside its owner; one that was copied is the chat itself."""
    inner = value.get("chat")
    return inner if isinstance(inner, dict) else value


def _history(value: JsonObject) -> JsonObject:
    history = shapes.an_object(_chat(value).get("history"))
    return history if isinstance(history.get("messages"), dict) else {}


def read(value: JsonObject, files: Lookup) -> ForeignChat:
    chat, history = _chat(value), _history(value)
    messages = shapes.an_object(history.get("messages"))
    children: dict[str, list[str]] = {}
    nodes = []
    for key, message in messages.items():
        if isinstance(message, dict):
            children[key] = shapes.strings(message.get("childrenIds"))
            parent = shapes.text(message.get("parentId"))
            nodes.append(Node(key, parent, _kind(message), message))
    return ForeignChat(
        form="open-webui",
        external_id=shapes.text(value.get("id")) or shapes.text(chat.get("id")),
        title=shapes.text(value.get("title")) or shapes.text(chat.get("title")),
        nodes=in_order_of_children(nodes, children),
        current=shapes.text(history.get("currentId")),
        question=_question,
        answer=_answer,
        created=shapes.stamp(value.get("created_at")),
        updated=shapes.stamp(value.get("updated_at")),
        archived=value.get("archived") is True,
        pinned=value.get("pinned") is True,
    )


def _kind(message: JsonObject) -> Kind:
    match message.get("role"):
        case "user":
            is_said = bool(_words(message)) or bool(message.get("files"))
            return "question" if is_said else "hidden"
        case "assistant":
            return "answer"
        case _:
            return "hidden"


def _words(message: JsonObject) -> str:
    return "\n\n".join(text for text in shapes.texts(message.get("content")) if text)


def _at(message: JsonObject) -> int | None:
    return shapes.stamp(message.get("timestamp"))


def _question(message: JsonObject) -> Prompt:
    return Prompt(_words(message), tuple(_files(message)), _at(message))


def _files(message: JsonObject) -> Iterator[InlineFile]:
    for given in shapes.objects(message.get("files")):
        url, name = shapes.text(given.get("url")), shapes.text(given.get("name"))
        if url.startswith("data:") and ";base64," in url:
            yield InlineFile(url[5:].partition(";")[0], url, name)
        else:
            inner = shapes.an_object(given.get("file"))
            known = name or shapes.text(inner.get("filename")) or shapes.text(given.get("id"))
            yield InlineFile("", "", known)


def _answer(messages: Sequence[JsonObject]) -> Iterator[Update]:
    for number, message in enumerate(messages):
        at = _at(message)
        yield Step(str(number), shapes.text(message.get("model")), at=at)
        used = shapes.an_object(message.get("usage"))
        counted = {
            "input_tokens": used.get("prompt_tokens", used.get("input_tokens")),
            "output_tokens": used.get("completion_tokens", used.get("output_tokens")),
        }
        yield StepUsed(shapes.tokens(counted))
        calls = OpenCalls()
        sources = tuple(_sources(message))
        for place, (kind, value, attributes) in enumerate(_blocks(_words(message))):
            key = f"{number}:{place}"
            if kind == "text":
                yield Words("text", key, value, at=at, citations=at_the_end(value, sources))
                sources = ()
            elif kind == "reasoning":
                took = shapes.seconds(attributes.get("duration"))
                yield Words("thinking", key, "", at=at)
                yield Words("thinking", key, value, at=at + took if at else None)
            else:
                yield from _called(kind, value, attributes, calls, at)
        pictures = tuple(_files(message))
        if pictures:
            call_id = calls.begin("image", "")
            yield Called(call_id, "image", {}, at=at)
            yield Returned(call_id, "", files=pictures, at=at)
    yield from _failed(messages)


def _failed(messages: Sequence[JsonObject]) -> Iterator[Update]:
    error = messages[-1].get("error") if messages else None
    if error:
        detail = shapes.an_object(error).get("content")
        yield TurnEnded("error", message=shapes.as_text(detail) if detail else "")


def _blocks(text: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The pieces of a text: words, thoughts, calls. A piece that is not closed is words."""
    at = since = 0
    while block := _OPEN.search(text, since):
        since = block.end()
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(block[1])}
        kind = attributes.get("type", "")
        if kind not in _KINDS:
            continue
        end = text.find(_CLOSE, since)
        if end < 0:
            break
        if words := text[at : block.start()].strip("\n"):
            yield "text", words, {}
        inside = _without_summary(text[since:end].strip())
        if kind == "reasoning":
            inside = html.unescape(_QUOTED.sub("", inside))
        if inside or kind != "reasoning":
            yield kind, inside, attributes
        at = since = end + len(_CLOSE)
    if words := text[at:].strip("\n"):
        yield "text", words, {}


def _without_summary(inside: str) -> str:
    end = inside.find("</summary>") if inside.startswith("<summary>") else -1
    return inside if end < 0 else inside[end + len("</summary>") :].strip()


def _called(
    kind: str, inside: str, attributes: dict[str, str], calls: OpenCalls, at: int | None
) -> Iterator[Update]:
    if kind == "code_interpreter":
        code = _FENCE.match(inside)
        call_id = calls.begin("code_interpreter", "")
        given = {"code": code[2] if code else inside}
        yield Called(call_id, "code_interpreter", given, at=at)
        output, is_error = _printed(_value(attributes.get("output", "")))
        if attributes.get("done") != "false":
            yield Returned(call_id, output, is_error=is_error, at=at)
        return
    name = attributes.get("name") or "tool"
    call_id = calls.begin(name, attributes.get("id", ""))
    given = _value(attributes.get("arguments", ""))
    yield Called(call_id, name, shapes.arguments(given or None), at=at)
    if attributes.get("done") != "false":
        yield Returned(call_id, shapes.as_text(_value(attributes.get("result", ""))), at=at)


def _printed(output: Any) -> tuple[str, bool]:
    """What a program wrote, and whether that was how it failed."""
    if not isinstance(output, dict):
        return shapes.as_text(output), False
    written = [shapes.as_text(output.get(name)) for name in ("stdout", "result", "stderr")]
    return "\n".join(piece for piece in written if piece), bool(written[2] and not any(written[:2]))


def _value(text: str) -> Any:
    """An attribute holds JSON, and often JSON in a string of JSON."""
    value: Any = text
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            break
    return value


def _sources(message: JsonObject) -> Iterator[Citation]:
    for source in shapes.objects(message.get("sources") or message.get("citations")):
        about = shapes.an_object(source.get("source"))
        listed = list(shapes.objects(source.get("metadata"))) or [{}]
        for each in listed:
            places = (each.get("source"), about.get("url"), each.get("url"))
            url = next((place for place in map(shapes.text, places) if is_web_address(place)), "")
            names = (each.get("title"), each.get("name"), about.get("name"))
            title = next((name for name in map(shapes.text, names) if name), "")
            if url or title:
                yield Citation(url=url, title=title)
