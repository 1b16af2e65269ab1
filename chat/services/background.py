"""Work that nobody waits for: held until it is done, and ended with the process."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from chat.protocol.trail import trail

P = ParamSpec("P")
T = TypeVar("T")


class Background:
    """Tasks of one kind. The event loop itself holds tasks only weakly: one that nobody else
    holds may vanish in the middle of its work."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __bool__(self) -> bool:
        # One that has come to its end is forgotten only a moment later.
        return not all(task.done() for task in self._tasks)

    def spawn(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Start a task, in a context of its own: one inherited from a request would hold that
        request's thread and database connection. For whom it works is all that it is told."""
        context = contextvars.Context()
        context.run(trail.set, trail.get())
        task = asyncio.get_running_loop().create_task(work, name=name, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def finish(self, patience: float | None = None) -> None:
        """Wait until all that has been started is done, at most so many seconds."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=patience)

    async def cancel(self, patience: float | None = None) -> None:
        """End everything now, and wait for it, at most so many seconds."""
        for task in self._tasks:
            task.cancel()
        await self.finish(patience)


# Verbs under way that must come to their end; a process waits for them before it goes.
shielded_work = Background()


def shielded(verb: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """A verb that comes to its end even when its client leaves: rows without the run that
    fills them would stay open until a sweep finds them."""

    @wraps(verb)
    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        async def work() -> T:
            return await verb(*args, **kwargs)

        return await asyncio.shield(shielded_work.spawn(work(), verb.__name__))

    return call
