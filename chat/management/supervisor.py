"""Several servers at one address: a supervisor opens the socket, starts the servers, and sees to it
that they are there.

All accept from the one socket, which stays open whatever becomes of a server: a connection that
comes while one of them is replaced waits for another, and none is refused. One that dies is
started again, ever later if it keeps dying; one that no longer answers is ended. SIGTERM ends all
in order, SIGHUP replaces them one after the other, each only when its successor is ready.
"""

import asyncio
import os
import signal
import socket
import sys
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management import CommandError

from chat.management.terminal import Print

# A server that ends by itself takes no longer than 30 seconds (`chatsite.lifespan.LONGEST`).
LONGEST_END: Final = 40.0
# How long a new server may take until it is ready.
LONGEST_START: Final = 120.0
# The pause between a server that was replaced and the next.
BETWEEN: Final = 2.0
# The pause before a dead server is started again: doubled each time, up to the longest.
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
# One that lived as long was well: its next pause is the first again.
WELL_AFTER: Final = 60.0
# A server that answers no probe for so long hangs for good.
SILENCE: Final = 60.0
PROBED: Final = 10.0
BETWEEN_PROBES: Final = 5.0


def open_socket(host: str, port: int) -> socket.socket:
    """The address, listened to. Servers inherit it, so it is open before them and after."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(socket.SOMAXCONN)
        # All servers are woken by a connection and one gets it: the others must not wait for it.
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise CommandError(f"Cannot listen on {host}:{port}: {error}.") from None
    return listening


async def start_python(*words: str, keep_open: tuple[int, ...] = ()) -> Process:
    """This Parley's command line in a process and a session of its own: a Ctrl-C in the terminal
    is for the supervisor, which tells its servers itself."""
    path = filter(None, [str(settings.BASE_DIR), os.environ.get("PYTHONPATH")])
    # -P: whatever lies in the working folder is not imported.
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "chatsite", *words),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        pass_fds=keep_open,
        start_new_session=True,
    )


@dataclass(eq=False)
class Worker:
    """One server process, and the socket by which only its supervisor asks it."""

    process: Process
    probe: Path
    began: float = field(default_factory=time.monotonic)

    async def asked(self, path: str, patience: float) -> bool:
        """Whether a probe is answered by 200."""
        try:
            async with asyncio.timeout(patience):
                reader, writer = await asyncio.open_unix_connection(self.probe)
                try:
                    writer.write(f"GET {path} HTTP/1.1\r\nHost: probe\r\n\r\n".encode())
                    status = await reader.readline()
                finally:
                    writer.close()
        except (OSError, TimeoutError):
            return False
        return status.split(b" ")[1:2] == [b"200"]

    async def is_ready(self) -> bool:
        """Wait until it can serve; false when it has ended instead."""
        while self.process.returncode is None:
            if await self.asked("/readyz", PROBED):
                return True
            await asyncio.sleep(0.1)
        return False

    async def watch(self) -> None:
        """End it when it never answers, or no longer."""
        deadline = time.monotonic() + LONGEST_START
        while self.process.returncode is None:
            if await self.asked("/healthz", PROBED):
                deadline = time.monotonic() + SILENCE
            elif time.monotonic() > deadline:
                self._signal(signal.SIGKILL)
            await asyncio.sleep(BETWEEN_PROBES)

    async def end(self) -> int:
        """Let it end in order, and no longer than that takes."""
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(LONGEST_END):
                return await self.process.wait()
        except TimeoutError:
            self._signal(signal.SIGKILL)
            return await self.process.wait()

    def _signal(self, number: signal.Signals) -> None:
        # It may have ended by itself.
        with suppress(ProcessLookupError):
            self.process.send_signal(number)


class Supervisor:
    """Keeps so many servers at one socket."""

    def __init__(self, listening: socket.socket, number: int, say: Print) -> None:
        self._listening = listening
        self._number = number
        self._say = say
        self._workers: list[Worker] = []
        # Those too that are about to be one of them, or about to end.
        self._alive: set[Worker] = set()
        self._told_to_end = asyncio.Event()
        self._told_to_roll = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._started = 0

    async def run(self, greet: Callable[[], None]) -> int:
        """Serve until told to end; the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._told_to_end.set)
        loop.add_signal_handler(signal.SIGHUP, self._told_to_roll.set)
        # When the supervisor is gone, however, the other end of the pipe tells its servers.
        self._lifeline, kept = os.pipe()
        try:
            with tempfile.TemporaryDirectory(prefix="parley-") as folder:
                self._folder = Path(folder)
                return await self._serve(greet)
        finally:
            os.close(kept)
            os.close(self._lifeline)

    async def _serve(self, greet: Callable[[], None]) -> int:
        self._workers = [await self._start() for _ in range(self._number)]
        ready = asyncio.create_task(self._all_are_ready())
        told = asyncio.create_task(self._told_to_end.wait())
        await asyncio.wait([ready, told], return_when=asyncio.FIRST_COMPLETED)
        if ready.done() and ready.result():
            await asyncio.to_thread(greet)
            for slot in range(self._number):
                self._spawn(self._keep(slot))
            self._spawn(self._roll_when_told())
            await told
        failed = not self._told_to_end.is_set()
        ready.cancel()
        told.cancel()
        return await self._end() or int(failed)

    async def _all_are_ready(self) -> bool:
        return all(await asyncio.gather(*(worker.is_ready() for worker in self._workers)))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start(self) -> Worker:
        self._started += 1
        probe = self._folder / str(self._started)
        listening = self._listening.fileno()
        process = await start_python(
            "serve", "--listening", str(listening), "--lifeline", str(self._lifeline),
            "--probe", str(probe), keep_open=(listening, self._lifeline),
        )  # fmt: skip
        worker = Worker(process, probe)
        self._alive.add(worker)
        self._spawn(worker.watch())
        return worker

    async def _keep(self, slot: int) -> None:
        """Start a server again when it has died."""
        pause = FIRST_PAUSE
        while True:
            worker = self._workers[slot]
            code = await worker.process.wait()
            self._alive.discard(worker)
            if self._workers[slot] is not worker:
                # It was replaced, and has ended for that.
                continue
            if time.monotonic() - worker.began > WELL_AFTER:
                pause = FIRST_PAUSE
            self._say(
                f"A server (process {worker.process.pid}) has ended {_how(code)}; "
                f"another one starts in {pause:g} s."
            )
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            if self._workers[slot] is worker:
                # Where no process can be made now, perhaps after the next pause.
                with suppress(OSError):
                    self._workers[slot] = await self._start()

    async def _roll_when_told(self) -> None:
        while True:
            await self._told_to_roll.wait()
            self._told_to_roll.clear()
            await self._roll()

    async def _roll(self) -> None:
        """Replace every server by one that reads code and settings anew."""
        self._say("Replacing the servers one after the other …")
        if await (await start_python("prepare")).wait():
            self._say("Nothing was replaced: the new version cannot be prepared.")
            return
        for slot in range(self._number):
            new = await self._start()
            if not await new.is_ready():
                self._say("The rest was not replaced: a new server does not get ready.")
                await new.end()
                self._alive.discard(new)
                return
            old, self._workers[slot] = self._workers[slot], new
            await old.end()
            self._alive.discard(old)
            if slot + 1 < self._number:
                # Others go on with its answers now: a server that starts would take the
                # processor from them, and readers would wait.
                await asyncio.sleep(BETWEEN)
        self._say("All servers were replaced.")

    async def _end(self) -> int:
        """End all servers in order; 0 when each of them ended well."""
        for task in self._tasks:
            task.cancel()
        codes = await asyncio.gather(*(worker.end() for worker in self._alive))
        # One that was not yet there to hear it ends by the signal itself.
        return int(any(code not in (0, -signal.SIGTERM) for code in codes))


def _how(code: int) -> str:
    return f"by signal {-code}" if code < 0 else f"with code {code}"
