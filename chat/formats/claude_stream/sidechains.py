"""Which call a sub-agent of a transcript works for: older transcripts say only that it is one."""

from chat.formats.imported import shapes
from chat.formats.imported.updates import Called
from chat.protocol.frozen import JsonObject

_TASKS = ("Task", "Agent")


class Sidechains:
    """A chain begins with the prompt of a call, and each of its lines names the one before."""

    def __init__(self) -> None:
        # Calls of sub-agents whose chain has not begun, by their prompt.
        self._waiting: dict[str, list[str]] = {}
        # By the id of a line: the call that its chain works for.
        self._calls: dict[str, str] = {}

    def called(self, call: Called) -> None:
        prompt = shapes.text(call.input.get("prompt"))
        if call.name in _TASKS and prompt:
            waiting = self._waiting.setdefault(prompt, [])
            if call.call_id not in waiting:
                waiting.append(call.call_id)

    def began(self, line: JsonObject, prompt: str) -> bool:
        """Whether this line, a prompt, begins or goes on with the chain of a known call."""
        if line.get("isSidechain") is not True:
            return False
        waiting = self._waiting.get(prompt)
        if waiting:
            self._calls[shapes.text(line.get("uuid"))] = waiting.pop(0)
            return True
        return bool(self.parent_of(line))

    def parent_of(self, line: JsonObject) -> str:
        """The call that a line's sub-agent works for; empty for the main conversation."""
        if line.get("isSidechain") is not True:
            return ""
        call_id = self._calls.get(shapes.text(line.get("parentUuid")), "")
        if call_id:
            self._calls[shapes.text(line.get("uuid"))] = call_id
        return call_id
