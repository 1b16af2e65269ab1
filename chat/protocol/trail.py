"""For whom work is done: the ids by which a line of the log is found again.

They are kept with the task, and handed on to the threads and tasks that it starts.
"""

from contextvars import ContextVar
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Trail:
    """Of a page, a socket or an answer; empty where there is none."""

    # Of a request over HTTP, or of a socket.
    request: str = ""
    conversation: str = ""
    # Of an answer that is written: the id of its `Generation`.
    run: str = ""


trail: ContextVar[Trail] = ContextVar("trail", default=Trail())  # noqa: B039 - it cannot change


def follow_request(request: str, conversation: str = "") -> None:
    """What this task does from now on is done for this request."""
    trail.set(Trail(request, conversation))


def follow_run(run: str, conversation: str) -> None:
    """What this task does from now on is done for this answer."""
    trail.set(replace(trail.get(), run=run, conversation=conversation))
