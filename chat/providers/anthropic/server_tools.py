"""The tools that Anthropic runs itself: how they are asked for, and what came of them."""

import re
from collections.abc import Iterator
from typing import Any, Final

from chat.protocol.displays import PageDisplay, SearchDisplay, SearchHit, TextDisplay
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ModelRequest, ToolResult
from chat.providers.anthropic.thinking import is_adaptive
from chat.providers.json_fields import text_in

# Of each tool the newest version, and the one that models before the generation of 4.6 know.
_TYPES: Final[dict[str, tuple[str, str]]] = {
    "web_search": ("web_search_20260318", "web_search_20250305"),
    "web_fetch": ("web_fetch_20260318", "web_fetch_20250910"),
    "code_execution": ("code_execution_20260521", "code_execution_20250825"),
}
_RESULT: Final = re.compile(r"\w+_tool_result$")
# So much of a page is shown.
_EXCERPT: Final = 600


def server_tools(request: ModelRequest) -> Iterator[JsonObject]:
    newest = is_adaptive(request)
    for tool in request.server_tools:
        asked: JsonObject = {"type": _TYPES[tool][0 if newest else 1], "name": tool}
        if newest and tool != "code_execution" and "code_execution" not in request.server_tools:
            # Otherwise the model would call it from code, which it must be allowed to run.
            asked["allowed_callers"] = ["direct"]
        if tool == "web_fetch":
            asked["citations"] = {"enabled": True}
        yield asked


def is_result(block: dict[str, Any]) -> bool:
    kind, id_ = block.get("type"), block.get("tool_use_id")
    return isinstance(kind, str) and isinstance(id_, str) and bool(_RESULT.match(kind))


def without_lost_calls(turns: list[JsonObject]) -> None:
    """A call of the provider's own that never got its result is refused, unless it is still at it:
    then it stands in the last turn."""
    for turn in turns[:-1]:
        if turn["role"] == "assistant":
            answered = {block["tool_use_id"] for block in turn["content"] if is_result(block)}
            turn["content"] = [
                block
                for block in turn["content"]
                if block["type"] != "server_tool_use" or block.get("id") in answered
            ]


def result_of(block: dict[str, Any]) -> ToolResult:
    """What came of a call, as a person and another model can read it."""
    match block.get("content"):
        case list(found):
            return _found(found)
        case {"type": str(kind), "error_code": str(code)} if kind.endswith("error"):
            return ToolResult.failed(code.replace("_", " "))
        case {"type": "web_fetch_result", "url": str(url), **page}:
            return _page(url, page.get("content"))
        case dict(content):
            return _executed(content)
        case _:
            return ToolResult("")


def _found(found: list[Any]) -> ToolResult:
    hits = tuple(
        SearchHit(
            title=text_in(each, "title"), url=text_in(each, "url"), text=text_in(each, "page_age")
        )
        for each in found
        if isinstance(each, dict) and each.get("type") == "web_search_result"
    )
    lines = [f"{number}. {hit.title} – {hit.url}" for number, hit in enumerate(hits, start=1)]
    display = SearchDisplay(query="", hits=hits)
    return ToolResult("\n".join(lines) or "Nothing was found.", display=display)


def _page(url: str, document: object) -> ToolResult:
    fields = document if isinstance(document, dict) else {}
    source = fields.get("source")
    data = text_in(source, "data") if isinstance(source, dict) else ""
    # A PDF is not for reading here.
    text = data if isinstance(source, dict) and source.get("type") == "text" else ""
    title = text_in(fields, "title") or url
    display = PageDisplay(
        title=title, url=url, excerpt=text[:_EXCERPT], last=len(text), total=len(text)
    )
    return ToolResult(f"{title} – {url}\n\n{text}".strip(), display=display)


def _executed(content: dict[str, Any]) -> ToolResult:
    """The output of code or of a command, or what an edit of a file says."""
    pieces = [text_in(content, name) for name in ("stdout", "stderr", "content")]
    lines = content.get("lines")
    if isinstance(lines, list):
        pieces += [str(line) for line in lines]
    text = "\n".join(piece for piece in pieces if piece.strip())
    failed = content.get("return_code") not in (None, 0)
    return ToolResult(text, display=TextDisplay(text=text) if text else None, is_error=failed)
