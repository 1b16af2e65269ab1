"""The scripted provider: a real server on loopback, for tests, browsers and the benchmark."""

from tests.support.model_server.connection import Received
from tests.support.model_server.replies import (
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
from tests.support.model_server.server import ScriptedProvider

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
