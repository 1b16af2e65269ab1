"""The servers that `serve` runs Parley with; both are told the same.

Daphne is the ecosystem's own. uvicorn costs less. Both run on uvloop where that is installed.
Servers and event loops are imported here only: no other command needs them.
"""

import asyncio
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import CommandError

# What a server sends and receives at once. A redrawn long answer is one large message.
LONGEST_MESSAGE = 16 * 1024 * 1024
# How long uvicorn waits for connections that do not close, in seconds.
PATIENCE = 5

Ready = Callable[[str], None]
Wrap = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a supervisor gives its servers."""

    # The descriptor of the socket that all of them accept from.
    listening: int
    # Where this one alone is asked how it is.
    probe: Path


def _as_it_is(application: Any) -> Any:
    return application


def serve(ready: Ready, inherited: Inherited | None = None, *, through: Wrap = _as_it_is) -> None:
    """Serve until the process is told to end; `ready` is told by which server. Whoever measures
    lets all come `through` something."""
    if settings.PARLEY_SERVER == "uvicorn":
        _serve_with_uvicorn(ready, inherited, through)
    else:
        _serve_with_daphne(ready, inherited, through)


def _serve_with_daphne(ready: Ready, inherited: Inherited | None, through: Wrap) -> None:
    # Daphne's reactor must be there before the application's hooks are attached to one.
    from daphne.endpoints import build_endpoint_description_strings
    from daphne.server import Server

    from chatsite.asgi import application, lifespan
    from chatsite.daphne_bodies import BoundedRequest, install

    install()

    class OrderlyServer(Server):
        """Closes its sockets only when they have been sent the end of their answers."""

        ports: tuple[Any, ...] = ()

        def kill_all_applications(self) -> Any:
            # Whoever comes now is for the other servers.
            for port in self.ports:
                port.stopListening()
            # Daphne's own would end none of them if one has ended by itself.
            return lifespan.end()

        async def listen(self) -> None:
            """Accept what the supervisor's socket gets, from when all is ready."""
            from twisted.internet import reactor as installed

            assert inherited
            # Its stubs describe the interface, `self` included.
            reactor: Any = installed
            with socket.socket(fileno=inherited.listening) as shared:
                port = reactor.adoptStreamPort(shared.fileno(), shared.family, self.http_factory)
            probe = str(inherited.probe)
            reactor.listenUNIX(probe, self.http_factory, mode=0o600, wantPID=False)
            self.ports = (port,)

        async def handle_reply(self, protocol: Any, message: Any) -> None:
            """A client that reads slowly is answered slowly, and not from memory."""
            await super().handle_reply(protocol, message)
            if isinstance(protocol, BoundedRequest):
                await protocol.taken()

    server = OrderlyServer(
        application=through(application),
        endpoints=build_endpoint_description_strings(host=settings.HOST, port=settings.PORT),
        ready_callable=lambda: ready("Daphne"),
        server_name="",
        websocket_max_message_size=LONGEST_MESSAGE,
        websocket_max_frame_size=settings.PARLEY_LIMITS["frame_bytes"],
    )
    if inherited:
        server.endpoints = []
        lifespan.startup = (*lifespan.startup, server.listen)
    server.run()
    if not server.listening_addresses and not inherited:
        _cannot_listen()


def _serve_with_uvicorn(ready: Ready, inherited: Inherited | None, through: Wrap) -> None:
    import uvicorn

    from chatsite.asgi import application, lifespan

    class OrderlyServer(uvicorn.Server):
        """The same on uvicorn, which would close its sockets first."""

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            with_uvloop = find_spec("uvloop") is not None
            await asyncio.to_thread(ready, "uvicorn with uvloop" if with_uvloop else "uvicorn")

        async def shutdown(self, sockets: Any = None) -> None:
            for server in self.servers:
                server.close()
            await lifespan.ended(lambda: self.server_state.tasks)
            await super().shutdown(sockets)

    config = uvicorn.Config(
        lifespan.quietly(through(application)),
        host=settings.HOST,
        port=settings.PORT,
        # As Daphne does it: frames are small, and compressing them costs more than sending them;
        # whom a proxy speaks for is looked at where it matters, by TRUST_PROXY.
        ws_per_message_deflate=False,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        ws_max_size=settings.PARLEY_LIMITS["frame_bytes"],
        timeout_graceful_shutdown=PATIENCE,
    )
    # uvicorn ends in order and then sends itself the signal again, which would be the end of a
    # process that failed.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)
    server = OrderlyServer(config)
    try:
        server.run(_sockets(inherited) if inherited else None)
    except SystemExit as ended:
        # One that is told to end before it has begun exits with 0.
        if ended.code and not server.started:
            _cannot_listen()
        raise


def _sockets(inherited: Inherited) -> list[socket.socket]:
    probe = socket.socket(socket.AF_UNIX)
    probe.bind(str(inherited.probe))
    return [socket.socket(fileno=inherited.listening), probe]


def _exit(*_: object) -> NoReturn:
    raise SystemExit(0)


def _cannot_listen() -> NoReturn:
    raise CommandError(f"Cannot listen on {settings.HOST}:{settings.PORT}.")
