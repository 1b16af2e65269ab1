"""A conversation as it was read at one moment, and what a tab says it shows of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chat.protocol.effort import Effort
from chat.protocol.events import Retry
from chat.protocol.messages import WithParts


class Chosen(NamedTuple):
    """Who answers next: an agent and a model, each empty until somebody chooses; the tools that
    are not to be used; and how hard the model shall think, empty until somebody chooses."""

    agent: str = ""
    model: str = ""
    tools_off: tuple[str, ...] = ()
    effort: Effort = ""


class Question(NamedTuple):
    """A question in the outline of a conversation: its place, and how it begins."""

    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """The messages are at least as new as `rev` and `seq` say, never older."""

    conversation_id: str
    rev: int
    title: str
    messages: tuple[WithParts, ...]
    request_id: str = ""
    seq: int = 0
    # Whether there are messages before the first of these.
    older: bool = False
    # Whether there are messages after the last of these: it was not the end that was read.
    newer: bool = False
    chosen: Chosen = field(default_factory=Chosen)
    # Messages that wait, in the order in which they will be sent, and whether for a person.
    queue: tuple[WithParts, ...] = ()
    held: bool = False
    # The provider failed, and the running answer waits to ask it again.
    retry: Retry | None = None
    # Kept nowhere, and gone with its last tab.
    temporary: bool = False

    @property
    def running(self) -> bool:
        return bool(self.request_id)


# A page keeps about three hundred messages. One that says it shows far more is emptied and given
# the latest: to compare all of it would take the server too long, and to remember it too much.
MOST_MESSAGES = 2_000
# Of all its answers that are being written together.
MOST_PARTS = 5_000


@dataclass(frozen=True, slots=True)
class Shown:
    """What a tab has on its page."""

    title: str = ""
    # Nothing on a page that has no place for it.
    chosen: Chosen | None = None
    running: bool = False
    # Of each queued message, by its id: its mark. Nothing on a page that has no place for them.
    queue: Mapping[str, str] | None = None
    # What stands above the queue.
    queue_state: str = ""
    # Of each message, by position: its state and its mark, "done 1.1.0".
    messages: Mapping[int, str] = field(default_factory=dict)
    # Whether the page ends before the conversation does: what is added there is not put below it.
    newer: bool = False
    # Whether it says that the conversation is temporary.
    temporary: bool = False
    # Of the parts of running messages, by message: how much of an open text, or the state of the
    # rest.
    parts: Mapping[int, Mapping[int, int | str]] = field(default_factory=dict)
    # Whether it shows more than can be compared, and nothing is known of its messages.
    too_much: bool = False

    @classmethod
    def from_json(cls, data: Any) -> "Shown":
        """From what a page sends: {"messages": {"4": "streaming 1.1.0"}, "parts": {"p4-0": 12}}.

        A page that says nonsense is a page that shows nothing, and is drawn again.
        """
        try:
            messages, parts = data["messages"], data["parts"]
            too_much = len(messages) > MOST_MESSAGES or len(parts) > MOST_PARTS
            return cls(
                title=str(data.get("title", "")),
                chosen=_chosen(data.get("chosen")),
                running=bool(data.get("running")),
                queue=_queue(data.get("queue")),
                queue_state=str(data.get("queue_state", "")),
                newer=bool(data.get("newer")) and not too_much,
                temporary=bool(data.get("temporary")),
                messages={} if too_much else _messages(messages),
                parts={} if too_much else _parts(parts),
                too_much=too_much,
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return cls()


def _chosen(value: Any) -> Chosen | None:
    if value is None:
        return None
    tools_off = tuple(str(value.get("tools_off", "")).split())
    effort = str(value.get("effort", ""))
    return Chosen(str(value["agent"]), str(value["model"]), tools_off, effort)


def _queue(value: Any) -> Mapping[str, str] | None:
    return None if value is None else {str(key): str(mark) for key, mark in value.items()}


def _messages(values: Mapping[str, Any]) -> Mapping[int, str]:
    return {_position(key): str(state) for key, state in values.items()}


def _parts(values: Mapping[str, Any]) -> Mapping[int, Mapping[int, int | str]]:
    parts: dict[int, dict[int, int | str]] = {}
    for key, value in values.items():
        message, part = key.removeprefix("p").split("-")
        parts.setdefault(_position(message), {})[_position(part)] = _state(value)
    return parts


def _position(text: str) -> int:
    position = int(text)
    if position < 0:
        raise ValueError("nothing stands before the beginning")
    return position


def _state(value: Any) -> int | str:
    return value if isinstance(value, int) and value >= 0 else str(value)
