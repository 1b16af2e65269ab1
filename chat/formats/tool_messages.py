"""ToolMessage2: results in messages of their own (`role: "tool"`), paired with their calls.

The list on the wire is folded into one where every call holds its own result. Live and
reloaded views agree because a reload feeds the same fold, message by message.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from chat.protocol.frozen import JsonObject

NO_CALL = "no_matching_tool_use"


@dataclass(frozen=True, slots=True)
class PairingFault:
    """A result that answers no open call: it is reported, and kept."""

    code: str
    call_id: str
    part: JsonObject
    # How many messages of the view it came after.
    after: int = 0

    def as_json(self) -> JsonObject:
        return {"code": self.code, "toolCallId": self.call_id}


@dataclass(slots=True)
class PairedMessages:
    """The view of a conversation that grows with every message of the wire."""

    messages: list[JsonObject] = field(default_factory=list)
    faults: list[PairingFault] = field(default_factory=list)

    def feed(self, message: JsonObject) -> None:
        if message.get("role") == "tool":
            for part in _blocks(message):
                self._answer(part)
        elif message.get("role") == "assistant" and isinstance(message.get("content"), list):
            self.messages.append(
                {**message, "content": [_as_tool(part) for part in _blocks(message)]}
            )
        else:
            self.messages.append(dict(message))

    def _answer(self, part: JsonObject) -> None:
        call_id = str(part.get("toolCallId", ""))
        place = self._open_call(call_id)
        if place is None:
            self.faults.append(PairingFault(NO_CALL, call_id, part, len(self.messages)))
            return
        content, index = place
        # An approval may have changed what was run, so the result knows better than the call.
        content[index] = {
            **content[index],
            "name": part.get("toolName") or content[index].get("name"),
            "input": part["input"] if "input" in part else content[index].get("input", {}),
            "state": "tool_result",
            "result": part.get("result"),
        }

    def _open_call(self, call_id: str) -> tuple[list[JsonObject], int] | None:
        """The newest message with an unanswered call of that id."""
        for message in reversed(self.messages):
            if message.get("role") != "assistant":
                continue
            content = _blocks(message)
            for index, part in enumerate(content):
                if part.get("id") == call_id and part.get("state") == "tool_use":
                    return content, index
        return None


def pair(messages: Iterable[JsonObject]) -> PairedMessages:
    """All messages of a conversation at once, as after a reload."""
    paired = PairedMessages()
    for message in messages:
        paired.feed(message)
    return paired


def split_pending(
    messages: Sequence[JsonObject],
) -> tuple[Sequence[JsonObject], Sequence[JsonObject]]:
    """The messages before the last one with an open call, and those from it on."""
    answered = {
        part.get("toolCallId")
        for message in messages
        if message.get("role") == "tool"
        for part in _blocks(message)
    }
    for index in range(len(messages) - 1, -1, -1):
        calls = [part for part in _blocks(messages[index]) if part.get("type") == "tool_use"]
        if any(call.get("id") not in answered for call in calls):
            return messages[:index], messages[index:]
    return messages, ()


def _as_tool(part: JsonObject) -> JsonObject:
    if part.get("type") != "tool_use":
        return part
    return {**part, "type": "tool", "state": "tool_use"}


def _blocks(message: JsonObject) -> list[JsonObject]:
    content: Any = message.get("content")
    return content if isinstance(content, list) else []
