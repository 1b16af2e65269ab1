"""Parley's own settings, and clocks that are off by what the file says, whenever they are read."""

import os
import time
from datetime import datetime, timedelta
from pathlib import Path

from django.utils import timezone

from chatsite.settings import *  # noqa: F403 - whatever there is

_FILE = Path(os.environ["CLOCK"])
_time, _time_ns, _now = time.time, time.time_ns, timezone.now


def _shift() -> float:
    try:
        return float(_FILE.read_text() or 0)
    except OSError:
        return 0.0


def _wrong_time() -> float:
    return _time() + _shift()


def _wrong_time_ns() -> int:
    return _time_ns() + int(_shift() * 1_000_000_000)


def _wrong_now() -> datetime:
    return _now() + timedelta(seconds=_shift())


time.time, time.time_ns, timezone.now = _wrong_time, _wrong_time_ns, _wrong_now
