"""The tools that a provider runs itself on the Responses wire: one item for call and result."""

import json
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from chat.protocol.displays import SearchDisplay, SearchHit, TextDisplay
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolPicture, ToolResult
from chat.providers.file_blocks import base64_of
from chat.providers.json_fields import text_in

# How each is asked for; there is no tool for a single page, which the search opens by itself.
_TYPES: Final[dict[str, JsonObject]] = {
    "web_search": {"type": "web_search"},
    "code_execution": {"type": "code_interpreter", "container": {"type": "auto"}},
}
# What must be asked for to be told.
_INCLUDED: Final[dict[str, str]] = {
    "web_search": "web_search_call.action.sources",
    "code_execution": "code_interpreter_call.outputs",
}
_NAMES: Final[dict[str, str]] = {
    "web_search_call": "web_search",
    "code_interpreter_call": "code_interpreter",
    "file_search_call": "file_search",
    "image_generation_call": "image_generation",
    "mcp_call": "mcp",
}


def server_tools(asked: tuple[str, ...]) -> list[JsonObject]:
    return [dict(_TYPES[tool]) for tool in asked if tool in _TYPES]


def included(asked: tuple[str, ...]) -> Iterator[str]:
    return (_INCLUDED[tool] for tool in asked if tool in _INCLUDED)


def name_of(item: dict[str, Any]) -> str:
    """The name of the tool; nothing where the item is no call of the provider's own."""
    known = _NAMES.get(str(item.get("type")), "")
    return (text_in(item, "name") or known) if known == "mcp" else known


def arguments_of(item: dict[str, Any]) -> JsonObject:
    match item:
        case {"type": "web_search_call", "action": dict(action)}:
            kept = ("query", "url", "pattern")
            return {name: action[name] for name in kept if isinstance(action.get(name), str)}
        case {"type": "code_interpreter_call", "code": str(code)}:
            return {"code": code}
        case {"type": "file_search_call", "queries": list(queries)}:
            return {"query": ", ".join(str(query) for query in queries)}
        case {"type": "mcp_call", "arguments": str(arguments)}:
            return _parsed(arguments)
        case _:
            return {}


def result_of(item: dict[str, Any]) -> ToolResult:
    if item.get("status") == "failed" or item.get("error"):
        return ToolResult.failed(_error(item.get("error")))
    match item:
        case {"type": "web_search_call", "action": dict(action)}:
            return _found(action)
        case {"type": "code_interpreter_call"}:
            return _executed(item.get("outputs"))
        case {"type": "image_generation_call", "result": str(data)}:
            picture, prompt = _picture(data), text_in(item, "revised_prompt")
            return ToolResult(prompt, title=prompt, pictures=(picture,) if picture else ())
        case {"type": "file_search_call"}:
            results = item.get("results")
            names = (text_in(each, "filename") for each in results or () if isinstance(each, dict))
            return _said("\n".join(name for name in names if name))
        case _:
            return _said(text_in(item, "output"))


def _found(action: dict[str, Any]) -> ToolResult:
    sources = action.get("sources")
    urls = [text_in(each, "url") for each in sources or () if isinstance(each, dict)]
    hits = tuple(SearchHit(title=url, url=url) for url in dict.fromkeys(urls) if url)
    if not hits:
        return _said(text_in(action, "url"))
    display = SearchDisplay(query=text_in(action, "query"), hits=hits)
    return ToolResult("\n".join(hit.url for hit in hits), display=display)


def _executed(outputs: object) -> ToolResult:
    """What code has written, and the pictures it has drawn; one that is kept elsewhere is named."""
    texts: list[str] = []
    pictures: list[ToolPicture] = []
    for each in outputs if isinstance(outputs, list) else ():
        if not isinstance(each, dict):
            continue
        url = text_in(each, "url")
        if picture := _picture(base64_of(url) or ""):
            pictures.append(picture)
        elif not url.startswith("data:"):
            texts.append(text_in(each, "logs") or url)
    return replace(_said("\n".join(filter(None, texts))), pictures=tuple(pictures))


def _picture(data: str) -> ToolPicture | None:
    try:
        drawn = b64decode(data, validate=True)
    except ValueError:
        return None
    return ToolPicture(drawn) if drawn else None


def _said(text: str) -> ToolResult:
    return ToolResult(text, display=TextDisplay(text=text) if text else None)


def _error(error: object) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""


def _parsed(arguments: str) -> JsonObject:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {"arguments": arguments}
    return value if isinstance(value, dict) else {"arguments": value}
