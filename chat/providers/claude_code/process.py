"""One run of the program: its lines as they come, and its end with all that it has started."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Final

from chat.providers.claude_code.process_tree import find_started, kill_started, signal_group
from chat.providers.faults import failure

log = logging.getLogger(__name__)

_CHUNK: Final = 65_536
# Of what it complains about, the last counts.
_COMPLAINTS: Final = 2_000
# Asked to end, it ends what it has started; then it is not asked any more.
_GRACE: Final = 0.5
# After its last line it has nothing left to do.
_AFTER_END: Final = 3.0
# How soon is seen that it has ended, where its output stays open.
_LOOK_AGAIN: Final = 0.5


class Running:
    """A program that runs, in a session and group of its own."""

    def __init__(self, process: asyncio.subprocess.Process, mark: str, question: bytes) -> None:
        self._process = process
        self._mark = mark
        self._complaints = b""
        self._tasks: list[asyncio.Task[None]] = [
            asyncio.create_task(self._ask(question)),
            asyncio.create_task(self._read_complaints()),
        ]

    @classmethod
    async def start(
        cls,
        arguments: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        mark: str,
        question: bytes = b"",
    ) -> "Running":
        """Without a shell, and with nothing of ours but the three streams."""
        try:
            process = await asyncio.create_subprocess_exec(
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=folder,
                env=dict(environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            missing = f"{arguments[0]}: {reason}"
            raise failure("cli_missing", missing, quotable=True) from None
        return cls(process, mark, question)

    @property
    def complaints(self) -> str:
        return self._complaints.decode("utf-8", "replace").strip()

    async def chunks(self, patience: Callable[[], float]) -> AsyncGenerator[bytes, None]:
        """What it prints, until it prints no more; how long it may be silent is asked each time."""
        silent_since = monotonic()
        while True:
            chunk = await self._read()
            if chunk:
                silent_since = monotonic()
                yield chunk
            elif chunk is not None or self._process.returncode is not None:
                # Its end, or that of its output: something that it has started may hold that open.
                return
            elif monotonic() - silent_since > patience():
                raise failure("stalled", f"nothing was printed. {self.complaints}")

    async def _read(self) -> bytes | None:
        """What has come; nothing if that takes long."""
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(_LOOK_AGAIN):
                return await self._process.stdout.read(_CHUNK)
        except TimeoutError:
            return None

    async def exit_code(self) -> int | None:
        """How it ended; nothing if it goes on although it has said all."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_AFTER_END):
                await self._process.wait()
        await asyncio.wait(self._tasks, timeout=_LOOK_AGAIN)
        return self._process.returncode

    async def end(self) -> None:
        """End it and whatever it has started; also where this is cancelled once more."""
        await asyncio.shield(asyncio.create_task(self._end()))

    async def _end(self) -> None:
        process, mark = self._process, self._mark
        leader = process.pid if process.returncode is None else None
        started = await asyncio.to_thread(find_started, mark, leader)
        if process.returncode is None:
            signal_group(process.pid, signal.SIGTERM)
            await self._wait(_GRACE)
        if process.returncode is None:
            signal_group(process.pid, signal.SIGKILL)
        left = await asyncio.to_thread(kill_started, mark, started)
        await self._wait(_GRACE)
        if left or process.returncode is None:
            log.error("what was started for an answer goes on although it was killed")
        await self._close_streams()

    async def _close_streams(self) -> None:
        """What was printed and nobody wants is read to its end: only then the streams are closed.
        Something that could not be ended may hold them open."""
        self._tasks.append(asyncio.create_task(self._read_rest()))
        _, waiting = await asyncio.wait(self._tasks, timeout=_GRACE)
        for task in waiting:
            task.cancel()
        if waiting:
            await asyncio.wait(waiting)

    async def _read_rest(self) -> None:
        assert self._process.stdout is not None
        while await self._process.stdout.read(_CHUNK):
            pass

    async def _wait(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process.wait()

    async def _ask(self, question: bytes) -> None:
        stream = self._process.stdin
        assert stream is not None
        # Whoever has ended already reads nothing.
        with contextlib.suppress(OSError):
            stream.write(question)
            await stream.drain()
        stream.close()

    async def _read_complaints(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(_CHUNK):
            self._complaints = (self._complaints + chunk)[-_COMPLAINTS:]
