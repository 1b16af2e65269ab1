"""The scripted provider: a real server on loopback, for tests, browsers and the benchmark."""

from tests.provider.connection import Received
from tests.provider.replies import (
    Call,
    Drop,
    Gate,
    Raw,
    Reply,
    Say,
    Tally,
    Think,
    Wait,
    raw,
    refuse,
    reply,
)
from tests.provider.server import ScriptedProvider

__all__ = [
    "Call",
    "Drop",
    "Gate",
    "Raw",
    "Received",
    "Reply",
    "Say",
    "ScriptedProvider",
    "Tally",
    "Think",
    "Wait",
    "raw",
    "refuse",
    "reply",
]
