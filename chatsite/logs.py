"""Logging, with keys removed before a line is written."""

import logging
import re
from typing import Any

_HIDDEN = "[hidden]"
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
]


def scrub(text: str) -> str:
    """The text without anything that looks like a key."""
    for pattern in _SECRETS:
        text = pattern.sub(_HIDDEN, text)
    return text


class ScrubbingFormatter(logging.Formatter):
    """Scrubs the finished line, so that arguments and tracebacks are covered too."""

    def format(self, record: logging.LogRecord) -> str:
        return scrub(super().format(record))


def logging_config(level: str) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": "chatsite.logs.ScrubbingFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            }
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # Django brings its own console handler; one line per event is enough.
            "django": {"handlers": [], "level": level, "propagate": True},
            # Start-up chatter and one line per request address.
            "daphne": {"level": "WARNING"},
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
