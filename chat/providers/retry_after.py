"""How long a provider asks us to wait: `retry-after-ms`, seconds, or a date."""

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """The seconds to wait, if the headers say so in a way that can be read."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    hint = headers.get("retry-after")
    seconds = _number(hint)
    if seconds is not None or hint is None:
        return seconds
    try:
        date = parsedate_to_datetime(hint).timestamp()
    except (ValueError, OverflowError):
        return None
    left = date - (time.time() if now is None else now)
    return left if left > 0 else None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
