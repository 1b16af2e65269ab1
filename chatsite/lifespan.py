"""What runs once when the server starts and once before it stops, on any server."""

import asyncio
import gc
import logging
import os
import threading
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

Hook = Callable[[], Awaitable[None]]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[..., Awaitable[None]]

logger = logging.getLogger(__name__)

# How long pages that are being made, and then tasks that were told to end, may take, in seconds.
PATIENCE = 5.0
# After so many seconds a process that was told to end has ended, whatever hangs in it.
LONGEST = 30.0


# How many new objects, and how many rounds of each generation, the garbage collector waits for. Its
# own 700 are made and let go of with every few frames.
RARELY = (10_000, 20, 20)


class CannotStart(Exception):
    """A hook of the start says why the server must not serve."""


class Lifespan:
    """Runs its hooks by the lifespan protocol, or by Daphne's reactor (it has no lifespan)."""

    def __init__(
        self,
        startup: Sequence[Hook] = (),
        shutdown: Sequence[Hook] = (),
        last: Sequence[Hook] = (),
    ) -> None:
        self.startup = startup
        self.shutdown = shutdown
        # When every request and every socket has ended.
        self.last = last
        self._ending: asyncio.Future[None] | None = None
        self._requests: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        while True:
            match (await receive())["type"]:
                case "lifespan.startup":
                    try:
                        await self.run(self.startup)
                    except CannotStart as reason:
                        await send({"type": "lifespan.startup.failed", "message": str(reason)})
                        return
                    await send({"type": "lifespan.startup.complete"})
                case "lifespan.shutdown":
                    # Our own servers have ended everything before they closed their sockets.
                    if self._ending is None:
                        await self.run((*self.shutdown, *self.last))
                    await send({"type": "lifespan.shutdown.complete"})
                    return

    def attach_to_reactor(self) -> None:
        """Let Daphne run the hooks; on other servers the reactor never runs."""
        from twisted.internet import reactor as installed

        # Its stubs describe the interface, `self` included.
        reactor: Any = installed
        reactor.callWhenRunning(lambda: asyncio.ensure_future(self._start()))
        # A trigger that returns a Deferred holds the shutdown until it has fired.
        reactor.addSystemEventTrigger("before", "shutdown", self.end)

    async def _start(self) -> None:
        try:
            await self.run(self.startup)
        except CannotStart as reason:
            _give_up(str(reason))

    def awaited(self, application: Application) -> Application:
        """The application of pages, whose answers the end waits for."""

        async def call(scope: Message, receive: Receive, send: Send) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._requests.add(task)
            try:
                await application(scope, receive, send)
            finally:
                self._requests.discard(task)

        return call

    def quietly(self, application: Application) -> Application:
        """An application that just returns when it is told to end, which some servers take ill."""

        async def call(scope: Message, receive: Receive, send: Send) -> None:
            try:
                await application(scope, receive, send)
            except asyncio.CancelledError:
                if self._ending is None:
                    raise

        return call

    def end(self) -> Any:
        """A Deferred for everybody on Daphne who has to wait for the end."""
        from twisted.internet.defer import Deferred

        return Deferred.fromFuture(self.ended(asyncio.all_tasks))

    def ended(self, tasks: Callable[[], set[asyncio.Task[Any]]]) -> asyncio.Future[None]:
        """End in order, once, with the tasks that are left by then."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end(tasks))
        return asyncio.shield(self._ending)

    async def _end(self, tasks: Callable[[], set[asyncio.Task[Any]]]) -> None:
        """Run the hooks, let requests be answered, and end every task that is left.

        A task that waits for something when the interpreter goes is destroyed in the middle of
        its wait, and takes the process down with a segmentation fault.
        """
        # The exit waits for every thread, also for one that hangs.
        deadline = threading.Timer(LONGEST, _give_up, ["it took too long."])
        deadline.daemon = True
        deadline.start()
        await self.run(self.shutdown)
        if self._requests:
            await asyncio.wait(self._requests, timeout=PATIENCE)
        left = tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left and (await asyncio.wait(left, timeout=PATIENCE))[1]:
            _give_up("some tasks did not end.")
        await self.run(self.last)

    async def run(self, hooks: Sequence[Hook]) -> None:
        for hook in hooks:
            try:
                await hook()
            except CannotStart:
                raise
            except Exception:  # one failing hook must not keep the others from running
                logger.exception("The hook %r failed.", hook)


async def keep_what_is_loaded() -> None:
    """Spare the garbage collector all that a process has loaded and never gives back: going
    through it would hold everybody for a tenth of a second, again and again. What is new, too, it
    looks at less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RARELY)


def _give_up(why: str) -> None:
    logger.critical("Parley ends without order: %s", why)
    os._exit(1)
