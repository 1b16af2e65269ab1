"""Calls and results as text: a history in the XML style, made for sending only (C2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from chat.formats.xml_values import format_value
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import (
    Block,
    FileBlock,
    ModelMessage,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
)

Schemas = Mapping[str, JsonObject]  # of each tool, by its name


def schemas_of(tools: Iterable[ToolSpec]) -> Schemas:
    return {tool.name: tool.parameters for tool in tools}


def call_as_xml(name: str, arguments: JsonObject, schema: JsonObject | None = None) -> str:
    """A call as a model in this style writes it."""
    properties = (schema or {}).get("properties") or {}
    values = {
        key: format_value(key, value, properties.get(key) or {}) for key, value in arguments.items()
    }
    inside = "\n".join(f"<{key}>\n{value}\n</{key}>" for key, value in values.items())
    return f"<{name}>\n{inside}\n</{name}>"


def result_as_text(name: str, text: str) -> str:
    """A result as a model in this style reads it."""
    return f"[{name} Result]\n\n{text}"


def messages_in_xml(messages: Sequence[ModelMessage], schemas: Schemas) -> tuple[ModelMessage, ...]:
    """The same messages without native calls and results, one for one."""
    return tuple(_message(message, schemas) for message in messages)


def _message(message: ModelMessage, schemas: Schemas) -> ModelMessage:
    match message.role:
        case "user":
            return message
        case "tool":
            return ModelMessage("user", tuple(_results(message.content)))
        case "assistant":
            return ModelMessage("assistant", tuple(_answer(message.content, schemas)))
        case _:
            assert_never(message.role)


def _results(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, ToolResultBlock):
            yield TextBlock(result_as_text(block.name, block.text))
            yield from block.files
        else:
            yield block


def _answer(blocks: Iterable[Block], schemas: Schemas) -> Iterator[Block]:
    """Texts and calls that follow each other are one text, a line break between them."""
    texts: list[str] = []
    for block in blocks:
        match block:
            case TextBlock(text):
                texts.append(text)
            case ToolCallBlock(name=name, input=arguments):
                texts.append(call_as_xml(name, arguments, schemas.get(name)))
            case ReasoningBlock() | FileBlock() | ToolResultBlock():
                yield from _joined(texts)
                texts.clear()
                yield block
            case _:
                assert_never(block)
    yield from _joined(texts)


def _joined(texts: list[str]) -> Iterator[TextBlock]:
    # A lone empty text stays: signed reasoning must be followed by a text.
    if len(texts) == 1:
        yield TextBlock(texts[0])
    elif texts:
        yield TextBlock("\n".join(text for text in texts if text.strip()))
