"""Events, protocol v1: what happened in a conversation, as data that says where it belongs.

Every event carries `conversation_id rev tab_id request_id seq message_id ts`. `seq` counts
from 1 within a request; events of the conversation itself have no request (`seq` 0) and are
placed by `rev`. Deltas also say `part_id`, `position` and `offset`, so that whoever misses
one can see it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from chat.protocol.ids import now_ms

EventName = Literal[
    "chat:start",
    "chat:chunk",
    "chat:thinking",
    "chat:tool",
    "chat:step",
    "chat:retry",
    "chat:complete",
    "chat:stopped",
    "chat:error",
    "chat:user-message",
    "chat:edited",
    "chat:title",
    "chat:choice",
    "chat:deleted",
]

TERMINAL: frozenset[str] = frozenset({"chat:complete", "chat:stopped", "chat:error"})
DELTAS: frozenset[str] = frozenset({"chat:chunk", "chat:thinking"})


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its header, and a body whose keys depend on its name.

    chat:start     user_message_id position
    chat:chunk     part_id position offset delta done?
    chat:thinking  part_id position offset delta done?
    chat:tool      type(call|state|result) part_id position tool_call_id tool_name
                   args_json result_json part
    chat:step      type(start|finish) part_id position part
    chat:retry     error_key attempt attempts wait
    chat:complete  status finish_reason usage
    chat:stopped   status by lengths
    chat:error     status error_key error_data
    chat:title     title
    chat:choice    agent model
    """

    name: EventName
    conversation_id: str
    rev: int = 0
    tab_id: str = ""
    request_id: str = ""
    seq: int = 0
    message_id: str = ""
    ts: int = field(default_factory=now_ms)
    body: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The flat form that goes over sockets and channel layers."""
        return {
            "name": self.name,
            "conversation_id": self.conversation_id,
            "rev": self.rev,
            "tab_id": self.tab_id,
            "request_id": self.request_id,
            "seq": self.seq,
            "message_id": self.message_id,
            "ts": self.ts,
            **self.body,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Event":
        body = {key: value for key, value in data.items() if key not in _HEADER}
        return cls(body=body, **{key: data[key] for key in _HEADER if key in data})


_HEADER = ("name", "conversation_id", "rev", "tab_id", "request_id", "seq", "message_id", "ts")
