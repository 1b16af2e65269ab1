"""Logging: whose work a line is about, and neither keys nor what people write in it."""

import json
import logging
import re
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final

from chat.protocol.trail import trail

HIDDEN: Final = "[hidden]"
_SECRETS = [
    # sk-…, sk-ant-…, xai-…, gsk_…, AIza…: the shapes of provider keys.
    re.compile(r"\b(?:sk|pk|rk|xai|gsk|hf|r8|or)[-_][A-Za-z0-9_-]{16,}"),
    re.compile(r"\bAIza[A-Za-z0-9_-]{30,}"),
    re.compile(r"(?<=\bBearer )[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE),
    re.compile(
        r"""(?<![\w-])(?:authorization|x-api-key|api[-_]key|cookie|sesame)["']?\s*[:=]\s*b?["']?"""
        r"""(?!Bearer\b)[^\s"',}&]{4,}""",
        re.IGNORECASE,
    ),
    # Addresses that open something by themselves: shares, invitations, links to a password.
    re.compile(r"(?<=/s/)[\w-]{32,}"),
    re.compile(r"(?<=/accounts/invitation/)[\w-]{32,}"),
    re.compile(r"(?<=/accounts/reset/)[\w-]+/[\w-]{32,}"),
]


def scrub(text: str) -> str:
    """The text without anything that looks like a key."""
    for pattern in _SECRETS:
        text = pattern.sub(HIDDEN, text)
    return text


# What faults quote of the values that they were found in: a row of PostgreSQL, a field of pydantic.
_QUOTED = [
    re.compile(r"(?<=^DETAIL:  ).*", re.MULTILINE),
    re.compile(r"(?<=^CONTEXT:  ).*", re.MULTILINE),
    re.compile(r"(?<=input_value=).*(?=, input_type=)", re.DOTALL),
]
_MOST_WORDS: Final = 300
# Tools are other people's code, and given what people write: their faults quote it as they like.
_OF_TOOLS: Final = ("chat.tools", "chat.engine")

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class ScrubbingFormatter(logging.Formatter):
    """Scrubs the finished line, so that arguments and tracebacks are covered too, and says by which
    ids it is found again."""

    def format(self, record: logging.LogRecord) -> str:
        # Whoever formatted the record before knew nothing of what must not be told.
        record.exc_text = _fault(record)
        return scrub(super().format(record)) + _ids_in_brackets()


class JsonFormatter(logging.Formatter):
    """One object in one line for each record."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        line = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": scrub(record.getMessage()),
            **_ids(),
        }
        if fault := _fault(record):
            line["exception"] = scrub(fault)
        return json.dumps(line, ensure_ascii=False)


def _ids() -> dict[str, str]:
    ids = trail.get()
    named = {"request": ids.request, "conversation": ids.conversation, "run": ids.run}
    return {name: value for name, value in named.items() if value}


def _ids_in_brackets() -> str:
    ids = " ".join(f"{name}={value}" for name, value in _ids().items())
    return f" [{ids}]" if ids else ""


def _fault(record: logging.LogRecord) -> str | None:
    """The traceback, with as much of the words of its exceptions as may be told."""
    if not record.exc_info or record.exc_info[1] is None:
        return None
    wordless = record.name.startswith(_OF_TOOLS)
    return "\n".join(_told(record.exc_info[1], wordless=wordless))


def _told(error: BaseException, *, wordless: bool) -> Iterator[str]:
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier is not None:
        yield from _told(earlier, wordless=wordless)
        yield "which led to:"
    yield "Traceback (most recent call last):"
    yield "".join(traceback.format_tb(error.__traceback__)).rstrip("\n")
    kind = type(error)
    room = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    name = f"{room}{kind.__qualname__}"
    words = "" if wordless else _without_quotes(str(error))
    yield f"{name}: {words}" if words else name


def _without_quotes(words: str) -> str:
    for pattern in _QUOTED:
        words = pattern.sub(HIDDEN, words)
    return words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…"


class WithoutStrangeFrames(logging.Filter):
    """Anybody may send a socket what is no text, and is hung up on: that is no fault of ours, and a
    traceback for each time would be a way to fill a disk."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith("Invalid UTF-8 sequence")


def logging_config(level: str, form: str = "text") -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": "chatsite.logs.ScrubbingFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            },
            "json": {"()": "chatsite.logs.JsonFormatter"},
        },
        "filters": {"strange frames": {"()": "chatsite.logs.WithoutStrangeFrames"}},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "json" if form == "json" else "line",
            }
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # Django brings its own console handler; one line per event is enough.
            "django": {"handlers": [], "level": level, "propagate": True},
            # Start-up chatter and one line per request address.
            "daphne": {"level": "WARNING"},
            "uvicorn.error": {"filters": ["strange frames"]},
            # Robots ask for foreign hosts and missing pages all day long.
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            "httpx": {"level": "WARNING"},
            # Pages without text and files with faults are other people's; their readers say so.
            "trafilatura": {"level": "CRITICAL"},
            "htmldate": {"level": "CRITICAL"},
            "pypdf": {"level": "CRITICAL"},
        },
    }
