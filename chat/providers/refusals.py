"""What a server does not like about a request, found in the words with which it refuses.

A rule is a pattern of those words and the adjustment that makes the request acceptable. Special
rules come first; the last one knows every way in which servers name a field they do not take.
Words are compared in lower case.
"""

import re
from typing import Final, Literal

from chat.protocol.adjustments import Adjustment
from chat.protocol.files import fingerprint
from chat.protocol.frozen import JsonObject
from chat.protocol.server_tools import SERVER_TOOLS, ServerTool
from chat.providers.body_fields import EVERYWHERE, find_field
from chat.providers.file_blocks import file_at
from chat.providers.refusal_rules import Found, Maker, always, any_of, drop, if_sent
from chat.providers.thinking_refusals import THINKING_RULES

_LIMITS: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens")
# Without these there is no request.
_NEEDED: Final = ("model", "messages", "input", "contents", "type", "role", "content", "text")
# An answer with less room than this is better given room by a shorter conversation.
_LEAST_ANSWER: Final = 1024


def find_adjustment(words: str, body: JsonObject) -> Adjustment | None:
    """What to change about a request that was refused with these words; None if they name
    nothing that can be changed."""
    for pattern, make in _RULES:
        for found in pattern.finditer(words):
            made = make(found, body)
            if made is not None:
                return made
    return None


# --- what to change ---------------------------------------------------------------


def _rename(old: str, new: str) -> Maker:
    return lambda _found, body: Adjustment("rename", old, new) if old in body else None


def _lower_limit(found: Found, body: JsonObject) -> Adjustment | None:
    numbers = [int(number.replace(",", "")) for number in found.groups() if number]
    sent = next((name for name in _LIMITS if name in body), None)
    return Adjustment("limit", sent, min(numbers)) if sent and numbers else None


def _room_left(found: Found, body: JsonObject) -> Adjustment | None:
    """The answer gets what the conversation leaves of the window, as long as that is enough."""
    told, _, window = (int(number.replace(",", "")) for number in found.groups())
    sent = next((name for name in _LIMITS if name in body), None)
    room = window - told
    if sent is None or room < _LEAST_ANSWER:
        return None
    return Adjustment("limit", sent, room, lasts=False)


def _server_tool(found: Found, body: JsonObject) -> Adjustment | None:
    """The tool of the provider's own that is named."""
    told = found[0].replace(" ", "_")
    named = (tool for kind, tool in _server_tools(body) if kind in told or tool in told)
    return next((Adjustment("server_tool", tool) for tool in named), None)


def _some_server_tool(found: Found, body: JsonObject) -> Adjustment | None:
    """The one whose type stands somewhere in the words, else the last that was asked for."""
    asked = _server_tools(body)
    named = [tool for kind, tool in asked if kind in found.string]
    tool = next(iter(named or [tool for _, tool in asked[-1:]]), None)
    return Adjustment("server_tool", tool) if tool else None


def _server_tools(body: JsonObject) -> list[tuple[str, ServerTool]]:
    """Those that are asked for: the type that a wire has for each, and our name."""
    kinds = [str(tool.get("type")) for tool in body.get("tools") or ()]
    return [(kind, tool) for kind in kinds if (tool := _ours(kind)) is not None]


def _ours(kind: str) -> ServerTool | None:
    """A server tool by the type under which a wire asks for it."""
    plain = kind.replace("code_interpreter", "code_execution")
    return next((tool for tool in SERVER_TOOLS if plain.startswith(tool)), None)


def _responses_wire(_found: Found, body: JsonObject) -> Adjustment | None:
    if "messages" not in body:
        return None
    without_thinking = Adjustment("set", "reasoning_effort", "none") if "tools" in body else None
    return Adjustment("wire", value="responses", instead=without_thinking)


def _one_file(kind: Literal["images", "documents"]) -> Maker:
    """The file that the server names by its place, else all of its kind; in this answer only."""

    def make(found: Found, body: JsonObject) -> Adjustment | None:
        place = _PLACE.search(found.string)
        data = file_at(body, *place.groups()) if place else ""
        if data:
            return Adjustment(
                "file", fingerprint(data), lasts=False, instead=Adjustment(kind, lasts=False)
            )
        return Adjustment(kind, lasts=False)

    return make


def _window(found: Found, _body: JsonObject) -> Adjustment | None:
    size = int(next(number for number in found.groups() if number).replace(",", ""))
    return Adjustment("window", value=size) if size >= 256 else None


def _named_field(found: Found, body: JsonObject) -> Adjustment | None:
    """The field that the server names is left out, if it can be."""
    name = next(group for group in found.groups() if group)
    path = find_field(body, name)
    if path is None:
        return None
    match path.rpartition(".")[2]:
        case "tools":
            return Adjustment("tools")
        case "cache_control":
            return Adjustment("drop", f"{EVERYWHERE}.cache_control")
        case "stream":
            return Adjustment("set", "stream", False)
        case "max_completion_tokens":
            return Adjustment("rename", path, "max_tokens")
        case "system" | "instructions":
            return Adjustment("system", value="user")
        case last if last in _NEEDED:
            return None
        case "thinking" | "signature" if path != name:
            return None  # of a thought that goes back as it came
    return Adjustment("drop", path)


# --- the words --------------------------------------------------------------------


_RESPONSES: Final = any_of(
    r"function tools with reasoning_effort",
    r"only (?:supported|available) in (?:the )?/?v1/responses",
    r"use /v1/responses",
)
_TOOLS: Final = any_of(
    r"does(?: not|n't) support (?:tools?|tool (?:use|calling|calls)|function calling)\b",
    r"no endpoints found that support tool use",
    r"tools? (?:use|calling)`? is not supported",
    r"tools (?:are|is) not supported",
    r"function calling is not (?:enabled|supported)",
    r"\"auto\" tool choice requires",
    r"tools param requires --jinja",
)
_IMAGES: Final = any_of(
    r"image input is not (?:supported|enabled)",
    r"images? (?:are|is) not supported",
    r"vision is not (?:enabled|supported)",
    r"does not support (?:image|vision|multimodal)",
    r"no endpoints found that support image input",
    r"at most 0 image",
    r"is not a multimodal model",
    r"unsupported content part type",
    r"unknown variant `image_url`",
    r"image_url is only supported by",
    r"not configured with a mmproj",
)
_DOCUMENTS: Final = any_of(
    r"unsupported content part type:? .{0,2}(?:file|input_file|document)",
    r"unknown variant `(?:file|document)`",
    r"(?:pdf|document|file) (?:input|content)s? (?:is|are) not supported",
    r"model .{0,80}does not support (?:pdf|document|file)s?"
    r"(?: (?:files?|content|inputs?|parts?|uploads?)){0,3}(?=\W*$|[\"'.,;!])",
    r"no endpoints found that support (?:file|pdf)",
)
# This may be said of one file: that it is locked, or of a kind that is called PDF and is none.
_DOCUMENT: Final = any_of(
    r"(?:pdf|document|file)s? (?:is|are) not supported",
    r"does not support (?:pdf|document|file)",
    r"pdf specified (?:is|was)",
    r"could not process (?:the )?(?:pdf|document|file)",
    r"(?:maximum of|at most|more than) \d+ pdf pages",
    r"invalid file data",
)
_IMAGE: Final = any_of(
    r"could not process (?:the )?image",
    r"image format .{1,30} not supported",
    r"image does not match the provided media type",
    r"image dimensions exceed",
    r"image exceeds \d",
    r"(?:invalid|unsupported) (?:base64 )?image",
)
# Where a file stands in what was sent, also inside the result of a tool.
_PLACE: Final = re.compile(
    r"\b(messages|input)[.\[]+(\d+)\]?\.(?:content|output)[.\[]+(\d+)\]?"
    r"(?:\.(?:tool_result\.)?content[.\[]+(\d+))?"
)
# Thoughts belong to the conversation as it was, and to the account in which they were thought.
_THOUGHTS: Final = any_of(
    r"invalid `?signature`? in `?thinking`? block",
    r"`?thinking`? (?:or `?redacted_thinking`? )?blocks? .{0,100}cannot be modified",
    r"invalid_encrypted_content",
    r"encrypted content .{0,200}could not be (?:verified|decrypted)",
    r"items are not persisted when `?store`? is set to false",
    r"provided without its required (?:following item|'reasoning' item)",
)
_WITHOUT_THOUGHTS: Final = Adjustment(
    "thoughts",
    value="earlier",
    lasts=False,
    instead=Adjustment("thoughts", value="all", lasts=False),
)
_SYSTEM: Final = any_of(
    r"system role (?:is )?not supported",
    r"role 'system' is not supported",
    r"system messages? (?:is|are) not supported",
    r"developer instruction is not enabled",
    r"unknown variant `(?:system|developer)`",
)
_SERVER_TOOL: Final = any_of(
    r"hosted tool .{0,40}not supported",
    r"input tag .{0,80} does not match any of the expected tags",
    r"unsupported (?:built-?in |hosted |server )?tool type.{0,40}",
    r"tool type .{0,40}not supported",
    r"(?:web.search|web.fetch|code.execution|code.interpreter)\w*\W{0,2} is not "
    r"(?:supported|available|enabled)",
)
# The server takes no tools but functions, or not the code from which tools are called.
_ONLY_FUNCTIONS: Final = any_of(
    r"'type' of tool must be 'function'",
    r"'tools', \d+, '(?:input_schema|function)'\), 'msg': 'field required'",
    r"does not support programmatic tool calling",
)
_LONGEST_ANSWER: Final = any_of(
    r"supports at most (\d[\d,]*) completion tokens",
    r"> (\d[\d,]*), which is the maximum allowed number",
    r"max_(?:completion_)?tokens.{0,60}(?:less than or equal to|at most) ?(\d[\d,]*)",
    r"range of max_tokens is \[\d+, ?(\d[\d,]*)",
)
# In front of `_WINDOW`: the answer that was asked for is too long, not the conversation.
_TOO_MUCH_ANSWER: Final = r"\d+ in the completion|requested [1-9]\d* output tokens"
_TOO_MUCH_TOGETHER: Final = (
    r"`?max_tokens`? exceed context limit: (\d[\d,]*) \+ (\d[\d,]*) > (\d[\d,]*)"
)
_WINDOW: Final = any_of(
    r"maximum context length is (\d[\d,]*)",
    r"available context size \((\d[\d,]*)",
    r"> (\d[\d,]*) maximum",
    r"context length of only (\d[\d,]*)",
    r"range of input length should be \[\d+, ?(\d[\d,]*)\]",
)
_NAME: Final = r"([\w.\[\]]{1,60})"
_REFUSED: Final = r"(?:is|are) (?:not (?:supported|permitted|allowed)|deprecated|unsupported)"
_FIELD: Final = any_of(
    rf"unsupported (?:parameter|value): '?{_NAME}'?",
    rf"unrecognized request arguments? supplied: '?{_NAME}",
    rf"(?:unknown|unexpected|invalid) (?:parameter|field|argument|name)s?:? [`'\"]{_NAME}",
    rf"[`'\"]?{_NAME}[`'\"]?: extra inputs are not permitted",
    r'"loc": ?\["body", ?((?:"\w+"|\w+)(?:, ?(?:"\w+"|\w+)){0,7})\]',
    rf"does ?n[o']t support (?:the )?[`'\"]?{_NAME}[`'\"]? parameter",
    rf"does ?n[o']t support parameters?:? [\[{{]?[`'\"]?{_NAME}",
    rf"don't support {_NAME}=",
    rf"property '{_NAME}' is (?:unsupported|not)",
    rf"[`'\"]{_NAME}[`'\"] {_REFUSED}",
    rf"(?:^|[\s:]){_NAME} {_REFUSED}",
    rf"[`'\"]?{_NAME}[`'\"]? may only be set",
    rf"unexpected keyword argument '{_NAME}'",
    rf"argument not supported(?: on this model)?: {_NAME}",
)

_RULES: Final[tuple[tuple[re.Pattern[str], Maker], ...]] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"use '?max_completion_tokens", _rename("max_tokens", "max_completion_tokens")),
        (_RESPONSES, _responses_wire),
        (
            r"verified to stream this model|streaming is not supported",
            if_sent(Adjustment("set", "stream", False), "stream"),
        ),
        (r"encrypted content is not supported", drop("include")),
        (_SERVER_TOOL, _server_tool),
        (_ONLY_FUNCTIONS, _some_server_tool),
        *THINKING_RULES,
        (_LONGEST_ANSWER, _lower_limit),
        (_TOO_MUCH_TOGETHER, _room_left),
        (_TOO_MUCH_ANSWER, drop("max_completion_tokens", "max_tokens")),
        (_WINDOW, _window),
        (_SYSTEM, always(Adjustment("system", value="user"))),
        (
            r"`?(reasoning_content|reasoning)`? in the thinking mode must be passed back",
            lambda found, _body: Adjustment("echo", value=found[1]),
        ),
        (r"missing an? `?thought_signature", always(Adjustment("signature"))),
        (r"`?temperature`? and `?top_p`? cannot both", drop("temperature", "top_p")),
        (_TOOLS, always(Adjustment("tools"))),
        (_THOUGHTS, always(_WITHOUT_THOUGHTS)),
        (_DOCUMENTS, always(Adjustment("documents"))),
        (_DOCUMENT, _one_file("documents")),
        (_IMAGE, _one_file("images")),
        (_IMAGES, always(Adjustment("images"))),
        (_FIELD, _named_field),
    )
)
