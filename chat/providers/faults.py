"""What can go wrong with a provider: one table of keys, and how a failure is recognised.

The keys are translated where people read them. `retryable` holds only before the first
word of an answer; `chat/providers/retry.py` decides when and how often to try again.
"""

import json
import re
from collections.abc import Mapping
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
    "rate_limited",
    "overloaded",
    "server_error",
    "bad_response",
    "answer_too_large",
    "stalled",
    "cut_off",
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
    "rate_limited": True,
    "overloaded": True,
    "server_error": True,
    "bad_response": False,
    "answer_too_large": False,
    "stalled": False,
    "cut_off": False,
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
        ),
    ),
    (
        "context_too_long",
        re.compile(
            r"context_length_exceeded|exceed_context_size|context_window_exceeded"
            r"|maximum context|context (length|window|size)|(prompt|input) is too long"
            r"|range of input length"
        ),
    ),
    ("content_filtered", re.compile(r"content_filter|content_policy|responsibleaipolicy")),
    ("auth_failed", re.compile(r"invalid_api_key|incorrect api key|authentication_error")),
    ("rate_limited", re.compile(r"rate_limit|rate limit|too many requests|resource_exhausted")),
    ("overloaded", re.compile(r"overloaded|at capacity|engine_overloaded|unavailable")),
    (
        "model_not_found",
        re.compile(r"model_not_found|model .{0,200}(not found|does not exist|not exist)"),
    ),
    ("request_too_large", re.compile(r"request_too_large")),
    ("forbidden", re.compile(r"permission_error|permission_denied")),
    ("request_refused", re.compile(r"invalid_request_error|invalid_argument")),
)

_MESSAGE_LENGTH = 500


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
) -> ProviderError:
    """The error of this fault; its message is for logs and details, never a traceback."""
    return ProviderError(
        key_of(fault),
        _KEY.sub("…", clean_text(message))[:_MESSAGE_LENGTH],
        retryable=RETRYABLE[fault],
        retry_after=after,
        status=status,
    )


def response_failure(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error for a response that refuses, whatever its body is made of."""
    details = _parse_body(body)
    message, words = _message_and_words(details)
    fault = _by_words(words) if status >= 400 else "bad_response"
    match status:
        case 300 | 301 | 302 | 303 | 307 | 308:
            fault, message = "wrong_address", "the provider redirects elsewhere"
        case 401 | 402:
            fault = _BY_STATUS[status]
        case 404:
            fault = "model_not_found" if "model" in words else "wrong_address"
        case _ if fault is None or fault == "request_refused":
            fault = _BY_STATUS.get(status) or _by_class(status)
    return failure(fault, message, status=status, after=retry_after(headers))


def error_failure(error: object, headers: Mapping[str, str] | None = None) -> ProviderError:
    """The error for an error object that came inside a stream."""
    message, words = _message_and_words(error)
    status = _status(error)
    fault = _by_words(words)
    if fault is None and status is not None:
        fault = _BY_STATUS.get(status) or _by_class(status)
    after = retry_after(headers or {})
    return failure(fault or "server_error", message, status=status, after=after)


def _by_class(status: int) -> Fault:
    if status >= 500:
        return "server_error"
    return "request_refused" if status >= 400 else "bad_response"


def _by_words(words: str) -> Fault | None:
    return next((fault for fault, pattern in _BY_WORDS if pattern.search(words)), None)


def _parse_body(body: bytes) -> object:
    text = body.decode("utf-8", "replace").strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # A proxy's HTML page says nothing that a person could use.
        return "" if text[:1] == "<" else text


def _message_and_words(error: object) -> tuple[str, str]:
    """The message, and all words that may say what kind of error it is, in lower case."""
    while isinstance(error, list) and error:  # Gemini wraps the object in a list
        error = error[0]
    inner: Any = error.get("error", error) if isinstance(error, dict) else error
    if not isinstance(inner, dict):
        return (inner, inner.lower()) if isinstance(inner, str) else ("", "")
    message = inner.get("message") or inner.get("detail") or ""
    message = message if isinstance(message, str) else json.dumps(message)
    metadata = inner.get("metadata")
    raw = metadata.get("raw", "") if isinstance(metadata, dict) else ""  # OpenRouter's upstream
    names = (inner.get(name) for name in ("code", "type", "status", "param"))
    return message, " ".join(str(word) for word in (*names, message, raw) if word).lower()


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
