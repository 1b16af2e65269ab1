"""What runs once when the server starts and once before it stops, on any server."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

Hook = Callable[[], Awaitable[None]]
Message = MutableMapping[str, Any]

logger = logging.getLogger(__name__)


class Lifespan:
    """Runs its hooks by the lifespan protocol, or by Daphne's reactor (it has no lifespan)."""

    def __init__(self, startup: Sequence[Hook] = (), shutdown: Sequence[Hook] = ()) -> None:
        self.startup = startup
        self.shutdown = shutdown
        self._ending: asyncio.Future[None] | None = None

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        while True:
            match (await receive())["type"]:
                case "lifespan.startup":
                    await self.run(self.startup)
                    await send({"type": "lifespan.startup.complete"})
                case "lifespan.shutdown":
                    await self.run(self.shutdown)
                    await send({"type": "lifespan.shutdown.complete"})
                    return

    def attach_to_reactor(self) -> None:
        """Let Daphne run the hooks; on other servers the reactor never runs."""
        from twisted.internet import reactor as installed

        # Its stubs describe the interface, `self` included.
        reactor: Any = installed
        reactor.callWhenRunning(lambda: asyncio.ensure_future(self.run(self.startup)))
        # A trigger that returns a Deferred holds the shutdown until it has fired.
        reactor.addSystemEventTrigger("before", "shutdown", self.end)

    def end(self) -> Any:
        """Run the hooks of the end, once; a Deferred for everybody who has to wait for them."""
        from twisted.internet.defer import Deferred

        if self._ending is None:
            self._ending = asyncio.ensure_future(self.run(self.shutdown))
        return Deferred.fromFuture(asyncio.shield(self._ending))

    async def run(self, hooks: Sequence[Hook]) -> None:
        for hook in hooks:
            try:
                await hook()
            except Exception:  # one failing hook must not keep the others from running
                logger.exception("The hook %r failed.", hook)
