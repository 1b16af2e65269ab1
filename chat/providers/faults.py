"""What can go wrong with a provider: one table of keys, and how a failure is recognised.

The keys are translated where people read them. `retryable` holds only before the first
word of an answer; `chat/providers/retry.py` decides when and how often to try again.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from chat.protocol.errors import ProviderError
from chat.protocol.text import clean_text
from chat.providers.retry_after import retry_after

Fault = Literal[
    "connect_failed",
    "tls_failed",
    "wrong_address",
    "auth_failed",
    "forbidden",
    "model_not_found",
    "context_too_long",
    "request_too_large",
    "request_refused",
    "content_filtered",
    "quota_exceeded",
    "region_blocked",
    "not_verified",
    "terms_not_accepted",
    "data_policy",
    "model_not_allowed",
    "model_retired",
    "not_a_chat_model",
    "tool_refused",
    "out_of_memory",
    "malformed_request",
    "rate_limited",
    "overloaded",
    "server_error",
    "bad_response",
    "answer_too_large",
    "stalled",
    "cut_off",
    "cli_missing",
    "cli_crashed",
    "cli_max_turns",
    "cli_max_budget",
]

# Every fault of a provider, and whether asking again may help.
RETRYABLE: Final[dict[Fault, bool]] = {
    "connect_failed": True,
    "tls_failed": False,
    "wrong_address": False,
    "auth_failed": False,
    "forbidden": False,
    "model_not_found": False,
    "context_too_long": False,
    "request_too_large": False,
    "request_refused": False,
    "content_filtered": False,
    "quota_exceeded": False,
    "region_blocked": False,
    "not_verified": False,
    "terms_not_accepted": False,
    "data_policy": False,
    "model_not_allowed": False,
    "model_retired": False,
    "not_a_chat_model": False,
    "tool_refused": False,
    "out_of_memory": False,
    # What we sent breaks the rules of the wire: a fault of ours, which is logged.
    "malformed_request": False,
    "rate_limited": True,
    "overloaded": True,
    "server_error": True,
    "bad_response": False,
    "answer_too_large": False,
    "stalled": False,
    "cut_off": False,
    # Of a program that is run on this machine.
    "cli_missing": False,
    "cli_crashed": False,
    "cli_max_turns": False,
    "cli_max_budget": False,
}

_BY_STATUS: Final[dict[int, Fault]] = {
    401: "auth_failed",
    402: "quota_exceeded",
    403: "forbidden",
    408: "server_error",
    409: "server_error",
    413: "request_too_large",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}

# Words of error codes and messages, in the order of their weight: a 429 about money is not
# a 429 about pace, and a context that is too long comes as 400, 413 or 500.
_BY_WORDS: Final[tuple[tuple[Fault, re.Pattern[str]], ...]] = (
    (
        "quota_exceeded",
        re.compile(
            r"insufficient_quota|spend_limit|spend(ing)? limit|billing|credit balance"
            r"|insufficient (balance|credits|funds)|payment.required|quota exceeded for your plan"
            r"|budget (has been )?exceeded|used all available credits|exceeded your current quota,"
        ),
    ),
    (
        "region_blocked",
        re.compile(
            r"unsupported_country|country, region|location is not supported|not available in your "
            r"(region|country)|region is not supported"
        ),
    ),
    ("not_verified", re.compile(r"organization must be verified|verify (your )?organization")),
    (
        "terms_not_accepted",
        re.compile(r"terms acceptance|accept the (model )?terms|terms_required"),
    ),
    ("data_policy", re.compile(r"data policy|privacy settings|guardrail restrictions")),
    (
        "context_too_long",
        re.compile(
            r"context_length_exceeded|exceed_context_size|context_window_exceeded"
            r"|maximum context|context (length|window|size|limit)|(prompt|input) is too long"
            r"|range of input length|reduce your message size|context the overflows"
        ),
    ),
    ("content_filtered", re.compile(r"content_filter|content_policy|responsibleaipolicy")),
    (
        "model_not_allowed",
        re.compile(
            r"not have access to (the )?model|not (allowed|permitted|authorized) to (access|use) "
            r"(the )?model|not (available|included) (on|in|for) your (plan|account|tier|key)"
            r"|key_model_access_denied|model_access_denied|upgrade your plan"
        ),
    ),
    (
        "model_retired",
        re.compile(
            r"model_retired|model_deprecated|has been (deprecated|retired|sunset|discontinued)"
            r"|no longer (available|supported|served)|was retired|is deprecated and"
        ),
    ),
    (
        "not_a_chat_model",
        re.compile(r"not a (chat|text) model|does not support (chat( completions?)?|generate)\b"),
    ),
    (
        "tool_refused",
        re.compile(
            r"invalid schema for function '(?P<tool>[^']{1,80})'|tools\.(?P<place>\d+)\.[\w.]*"
            r"(?:name|parameters|input_schema)|tools\[(?P<at>\d+)\]\.[\w.]*(?:name|parameters)"
        ),
    ),
    (
        "malformed_request",
        re.compile(
            r"roles must alternate|must alternate between|successive user or assistant messages"
            r"|tool_use`? ids were found without|unexpected `?tool_use_id|without `?tool_use`?"
            r"|tool_call_ids? (did not|\S+ not found)|response to a preceeding message"
            r"|must be followed by tool messages|no tool (output|call) found for"
            r"|not the same number of function calls|expected last role"
            r"|conversation must end with a user message|function (call|response) turn comes"
        ),
    ),
    (
        "auth_failed",
        re.compile(
            r"invalid_api_key|incorrect api key|authentication_error|api key not valid"
            r"|api_key_invalid|invalid x-api-key"
        ),
    ),
    ("rate_limited", re.compile(r"rate_limit|rate limit|too many requests|resource_exhausted")),
    (
        "out_of_memory",
        re.compile(
            r"requires more system memory|out of memory|failed to allocate|insufficient memory"
        ),
    ),
    (
        "model_not_found",
        re.compile(
            r"model_not_found|model .{0,200}(not found|does not exist|not exist)|invalid model\b"
            r"|invalid_model|not a valid model|deploymentnotfound|deployment .{0,60}does not exist"
            r"|no models? (is |are )?loaded|try pulling it|unknown model"
        ),
    ),
    ("overloaded", re.compile(r"overloaded|at capacity|engine_overloaded|unavailable")),
    ("request_too_large", re.compile(r"request_too_large")),
    ("forbidden", re.compile(r"permission_error|permission_denied")),
    ("request_refused", re.compile(r"invalid_request_error|invalid_argument")),
)
# What a 401, 402 or 404 may be about besides what they mostly are.
_SPEAKS_FOR_ITSELF: Final[frozenset[Fault]] = frozenset(
    {
        "region_blocked",
        "not_verified",
        "terms_not_accepted",
        "data_policy",
        "model_not_allowed",
        "model_retired",
        "not_a_chat_model",
        "malformed_request",
    }
)

_MESSAGE_LENGTH = 500
_WORDS_LENGTH = 2000


# Some servers repeat the key they refuse.
_KEY = re.compile(r"\b(?:sk|pk|gsk|xai|key|AIza)[-_]?[A-Za-z0-9_-]{12,}")


def key_of(fault: Fault) -> str:
    return f"error.chat_provider_{fault}"


def failure(
    fault: Fault,
    message: str = "",
    *,
    status: int | None = None,
    after: float | None = None,
    attempts: int | None = None,
    words: str = "",
    quotable: bool = False,
) -> ProviderError:
    """The error of this fault; its message is for logs and details, never a traceback. `words` are
    all that the server said, in lower case."""
    return ProviderError(
        key_of(fault),
        _KEY.sub("…", clean_text(message))[:_MESSAGE_LENGTH],
        retryable=RETRYABLE[fault],
        retry_after=after,
        attempts=attempts,
        status=status,
        words=words[:_WORDS_LENGTH],
        quotable=quotable,
    )


def response_failure(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error for a response that refuses, whatever its body is made of."""
    details = _parse_body(body)
    message, words = _message_and_words(details)
    fault = _by_words(words) if status >= 400 else "bad_response"
    quotable = status >= 400 and is_documented(details)
    match status:
        case 300 | 301 | 302 | 303 | 307 | 308:
            fault, message = "wrong_address", "the provider redirects elsewhere"
        case 401 | 402 | 404 if fault in _SPEAKS_FOR_ITSELF:
            pass
        case 401 | 402:
            fault = _BY_STATUS[status]
        case 404:
            of_model = fault == "model_not_found" or "model" in words
            fault = "model_not_found" if of_model else "wrong_address"
        case _ if fault is None or fault == "request_refused":
            fault = _BY_STATUS.get(status) or _by_class(status)
    after = retry_after(headers)
    return failure(fault, message, status=status, after=after, words=words, quotable=quotable)


def error_failure(error: object, headers: Mapping[str, str] | None = None) -> ProviderError:
    """The error for an error object that came inside a stream."""
    message, words = _message_and_words(error)
    status = _status(error)
    fault = _by_words(words)
    if fault is None and status is not None:
        fault = _BY_STATUS.get(status) or _by_class(status)
    return failure(
        fault or "server_error",
        message,
        status=status,
        after=retry_after(headers or {}),
        words=words,
        quotable=is_documented(error),
    )


def _by_class(status: int) -> Fault:
    if status >= 500:
        return "server_error"
    return "request_refused" if status >= 400 else "bad_response"


def _by_words(words: str) -> Fault | None:
    return next((fault for fault, pattern in _BY_WORDS if pattern.search(words)), None)


def refused_tool(words: str, names: Sequence[str]) -> str:
    """The tool that a refusal is about: by its name, or by its place among those that were sent."""
    pattern = dict(_BY_WORDS)["tool_refused"]
    found = pattern.search(words)
    if found is None:
        return ""
    if named := found["tool"]:
        return next((name for name in names if name.lower() == named), named)
    place = int(found["place"] or found["at"])
    return names[place] if place < len(names) else ""


def _parse_body(body: bytes) -> object:
    text = body.decode("utf-8", "replace").strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # A proxy's HTML page says nothing that a person could use.
        return "" if text[:1] == "<" else text


def is_documented(error: object) -> bool:
    """Whether this is an error as the wires document it: `{"error": {"message": …, "type": …}}`
    with a type, a code or a status, or Ollama's `{"error": …}` and nothing else. Other servers
    answer otherwise, and what they say is not for whoever can only enter an address."""
    match _unwrapped(error):
        case {"error": {"message": str(), **others}}:
            return bool(others.keys() & {"type", "code", "status"})
        case {"error": str(), **others}:
            return not others
        case _:
            return False


def _unwrapped(error: object) -> object:
    while isinstance(error, list) and error:  # Gemini wraps the object in a list
        error = error[0]
    return error


def _message_and_words(error: object) -> tuple[str, str]:
    """The message, and all words that may say what kind of error it is, in lower case."""
    error = _unwrapped(error)
    inner: Any = error.get("error", error) if isinstance(error, dict) else error
    if not isinstance(inner, dict):
        return (inner, inner.lower()) if isinstance(inner, str) else ("", "")
    message = inner.get("message") or inner.get("detail") or ""
    message = message if isinstance(message, str) else json.dumps(message)
    metadata = inner.get("metadata")
    raw = metadata.get("raw", "") if isinstance(metadata, dict) else ""  # OpenRouter's upstream
    names = (inner.get(name) for name in ("code", "type", "status", "param"))
    # Gateways put what their provider said into a field of their own.
    told = (*names, message, raw, inner.get("cause"))
    return message, " ".join(str(word) for word in told if word).lower()


def _status(error: object) -> int | None:
    inner: Any = error.get("error", error) if isinstance(error, dict) else None
    code = inner.get("code") if isinstance(inner, dict) else None
    match code:
        case bool():
            return None
        case int() if 400 <= code <= 599:
            return code
        case str() if re.fullmatch(r"[45]\d\d", code):
            return int(code)
        case _:
            return None
