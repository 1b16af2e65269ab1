"""What a server does not like about a request, found in the words with which it refuses.

A rule is a pattern of those words and the adjustment that makes the request acceptable. Special
rules come first; the last one knows every way in which servers name a field they do not take.
Words are compared in lower case.
"""

import re
from collections.abc import Callable
from typing import Final

from chat.protocol.adjustments import Adjustment
from chat.protocol.frozen import JsonObject
from chat.providers.body_fields import EVERYWHERE, find_field, value_at

Found = re.Match[str]
Maker = Callable[[Found, JsonObject], Adjustment | None]

_LIMITS: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_EFFORTS: Final = ("reasoning_effort", "reasoning.effort", "output_config.effort", "think")
# Without these there is no request.
_NEEDED: Final = ("model", "messages", "input", "contents", "type", "role", "content", "text")


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


def _always(adjustment: Adjustment) -> Maker:
    return lambda _found, _body: adjustment


def _if_sent(adjustment: Adjustment, *names: str) -> Maker:
    """Only where one of these fields was sent."""
    return lambda _found, body: adjustment if any(name in body for name in names) else None


def _drop(*names: str) -> Maker:
    """The first of these fields that was sent is left out."""

    def make(_found: Found, body: JsonObject) -> Adjustment | None:
        sent = (name for name in names if value_at(body, name) is not None)
        return next((Adjustment("drop", name) for name in sent), None)

    return make


def _rename(old: str, new: str) -> Maker:
    return lambda _found, body: Adjustment("rename", old, new) if old in body else None


def _lower_limit(found: Found, body: JsonObject) -> Adjustment | None:
    numbers = [int(number.replace(",", "")) for number in found.groups() if number]
    sent = next((name for name in _LIMITS if name in body), None)
    return Adjustment("limit", sent, min(numbers)) if sent and numbers else None


def _choices(found: Found, body: JsonObject) -> Adjustment | None:
    offered = tuple(re.findall(r"['\"`](\w+)['\"`]", found[1]))
    sent = next((name for name in _EFFORTS if value_at(body, name) is not None), None)
    if sent is None or not offered:
        return None
    # One that is refused and offered at once is meant in some other way.
    return Adjustment("choices", sent, offered) if value_at(body, sent) not in offered else None


def _responses_wire(_found: Found, body: JsonObject) -> Adjustment | None:
    if "messages" not in body:
        return None
    without_thinking = Adjustment("set", "reasoning_effort", "none") if "tools" in body else None
    return Adjustment("wire", value="responses", instead=without_thinking)


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
    return Adjustment("drop", path)


# --- the words --------------------------------------------------------------------


def _any(*patterns: str) -> str:
    return "|".join(patterns)


_RESPONSES: Final = _any(
    r"function tools with reasoning_effort",
    r"only (?:supported|available) in (?:the )?/?v1/responses",
    r"use /v1/responses",
)
_TOOLS: Final = _any(
    r"does(?: not|n't) support (?:tools?|tool (?:use|calling|calls)|function calling)\b",
    r"no endpoints found that support tool use",
    r"tools? (?:use|calling)`? is not supported",
    r"tools (?:are|is) not supported",
    r"function calling is not (?:enabled|supported)",
    r"\"auto\" tool choice requires",
    r"tools param requires --jinja",
)
_IMAGES: Final = _any(
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
_DOCUMENTS: Final = _any(
    r"unsupported content part type:? .{0,2}(?:file|input_file|document)",
    r"unknown variant `(?:file|document)`",
    r"(?:pdf|document|file)s?(?: input| content)? (?:is|are) not supported",
    r"does not support (?:pdf|document|file)",
    r"no endpoints found that support (?:file|pdf)",
)
_SYSTEM: Final = _any(
    r"system role (?:is )?not supported",
    r"role 'system' is not supported",
    r"system messages? (?:is|are) not supported",
    r"developer instruction is not enabled",
    r"unknown variant `(?:system|developer)`",
)
_ADAPTIVE: Final = _any(
    r"thinking\.type\.enabled\W* is not supported",
    r"use \W*thinking\.type\.adaptive",
)
_NOT_ADAPTIVE: Final = _any(
    r"adaptive thinking is not supported",
    r"thinking\.type:? .{0,60}adaptive",
    r"thinking\.adaptive\W* is not supported",
    r"tag 'adaptive'",
)
_CHOICES: Final = (
    r"(?:supported|allowed|valid) values (?:are|for .{0,60} are)?:? ?"
    r"((?:['\"`]\w+['\"`](?:, |,| |and|or)*)+)"
)
_LONGEST_ANSWER: Final = _any(
    r"supports at most (\d[\d,]*) completion tokens",
    r"> (\d[\d,]*), which is the maximum allowed number",
    r"max_(?:completion_)?tokens.{0,60}(?:less than or equal to|at most) ?(\d[\d,]*)",
    r"range of max_tokens is \[\d+, ?(\d[\d,]*)",
)
# In front of `_WINDOW`: the answer that was asked for is too long, not the conversation.
_TOO_MUCH_ANSWER: Final = r"\d+ in the completion"
_WINDOW: Final = _any(
    r"maximum context length is (\d[\d,]*)",
    r"available context size \((\d[\d,]*)",
    r"> (\d[\d,]*) maximum",
    r"context length of only (\d[\d,]*)",
    r"range of input length should be \[\d+, ?(\d[\d,]*)\]",
)
_NAME: Final = r"([\w.\[\]]{1,60})"
_REFUSED: Final = r"(?:is|are) (?:not (?:supported|permitted|allowed)|deprecated|unsupported)"
_FIELD: Final = _any(
    rf"unsupported (?:parameter|value): '?{_NAME}'?",
    rf"unrecognized request arguments? supplied: '?{_NAME}",
    rf"(?:unknown|unexpected|invalid) (?:parameter|field|argument|name)s?:? [`'\"]{_NAME}",
    rf"[`'\"]?{_NAME}[`'\"]?: extra inputs are not permitted",
    r'"loc": ?\["body", ?((?:"\w+"|\w+)(?:, ?(?:"\w+"|\w+)){0,7})\]',
    rf"does ?n[o']t support (?:the )?{_NAME} parameter",
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
            _if_sent(Adjustment("set", "stream", False), "stream"),
        ),
        (r"verified to generate reasoning summaries", _drop("reasoning.summary")),
        (r"encrypted content is not supported", _drop("include")),
        (_ADAPTIVE, _if_sent(Adjustment("thinking", value="adaptive"), "thinking")),
        (_NOT_ADAPTIVE, _if_sent(Adjustment("thinking", value="enabled"), "thinking")),
        (
            r"does not support (?:extended )?thinking|thinking is not (?:supported|enabled)",
            _drop("think", "thinking", "reasoning_effort", "reasoning"),
        ),
        (r"think value .{0,20} is not supported", _drop("think")),
        (r"thinking\.type\.disabled\W* is not supported", _drop("thinking")),
        (_CHOICES, _choices),
        (_LONGEST_ANSWER, _lower_limit),
        (_TOO_MUCH_ANSWER, _drop("max_completion_tokens", "max_tokens")),
        (_WINDOW, _window),
        (_SYSTEM, _always(Adjustment("system", value="user"))),
        (
            r"`?(reasoning_content|reasoning)`? in the thinking mode must be passed back",
            lambda found, _body: Adjustment("echo", value=found[1]),
        ),
        (_TOOLS, _always(Adjustment("tools"))),
        (_DOCUMENTS, _always(Adjustment("documents"))),
        (_IMAGES, _always(Adjustment("images"))),
        (_FIELD, _named_field),
    )
)
