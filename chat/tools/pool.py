"""A bounded room of threads for tools that block.

`concurrent.futures` joins its threads when the interpreter ends, so one tool that never
returns would keep the whole process alive; these threads are daemons, and are counted.
"""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from chat.protocol.errors import ToolFailure
from chat.protocol.reasons import reason

Value = TypeVar("Value")


class PoolStuck(ToolFailure):
    """Every thread is held by a call that nobody waits for any more."""


@dataclass(slots=True)
class _Job:
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[_Outcome]"
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    started: bool = False
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class _Outcome:
    value: Any = None
    error: BaseException | None = None


class ThreadPool:
    """At most `size` calls at a time; an abandoned call keeps its thread until it returns."""

    def __init__(self, size: int = 8) -> None:
        self.size = size
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._threads = 0
        self._unfinished = 0  # calls that wait for a thread or have one
        self._stuck = 0

    @property
    def stuck(self) -> int:
        """How many threads work for nobody."""
        return self._stuck

    async def run(self, work: Callable[[], Value]) -> Value:
        """The work's value; cancelling leaves the thread behind and returns at once."""
        job = self._submit(work)
        try:
            outcome = await job.future
        except asyncio.CancelledError:
            self._abandon(job)
            raise
        if outcome.error is not None:
            raise outcome.error
        return cast(Value, outcome.value)

    def _submit(self, work: Callable[[], Any]) -> _Job:
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        with self._lock:
            if self._stuck >= self.size:
                raise PoolStuck(
                    "All tool threads are stuck in earlier calls; try again later",
                    reason("threads_stuck"),
                )
            self._unfinished += 1
            if self._threads < min(self._unfinished, self.size):
                self._threads += 1
                threading.Thread(
                    target=self._work, name=f"tool-{self._threads}", daemon=True
                ).start()
            self._jobs.put(job)
        return job

    def _abandon(self, job: _Job) -> None:
        with self._lock:
            job.abandoned = True
            if job.started:
                self._stuck += 1

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            with self._lock:
                job.started = not job.abandoned
            self._finish(job, _outcome(job) if job.started else _Outcome())

    def _finish(self, job: _Job, outcome: _Outcome) -> None:
        with self._lock:
            self._unfinished -= 1
            if job.abandoned:
                self._stuck -= job.started
                return
            job.started = False
        try:
            job.loop.call_soon_threadsafe(_deliver, job, outcome)
        except RuntimeError:  # its loop has been closed: nobody is left to tell
            return


def _outcome(job: _Job) -> _Outcome:
    try:
        return _Outcome(value=job.context.run(job.work))
    except BaseException as error:  # noqa: BLE001 - the thread must go on, the caller raises it
        return _Outcome(error=error)


def _deliver(job: _Job, outcome: _Outcome) -> None:
    if not job.future.done():
        job.future.set_result(outcome)


POOL = ThreadPool()
