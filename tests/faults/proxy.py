"""A network that is slow, hangs, drops or is cut: a proxy in front of a server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class ChaosProxy:
    """Passes bytes on to a port of this machine, as well as it is told to."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        # Seconds that every byte takes, on each way.
        self.delay = 0.0
        # While it is clear nothing passes, and whoever connects waits.
        self.open = asyncio.Event()
        self.open.set()
        # Whether sockets are refused, as by a proxy that knows pages only.
        self.pages_only = False
        self.connections = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def hang(self) -> None:
        self.open.clear()

    def go_on(self) -> None:
        self.open.set()

    def cut(self) -> None:
        """Every connection ends, without a farewell."""
        for writer in self._writers:
            writer.transport.abort()

    async def refuse(self) -> None:
        """Nobody is there any more."""
        assert self._server
        self._server.close()
        self.cut()
        if self._passing:
            await asyncio.wait(self._passing, timeout=1 + self.delay)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task
        self._passing.add(task)
        task.add_done_callback(self._passing.discard)
        self._writers.add(writer)
        with suppress(OSError):
            begin = await reader.read(65_536) if self.pages_only else b""
            if b"upgrade: websocket" in begin.lower():
                writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
                await writer.drain()
                writer.close()
                return
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
            self._writers.add(back)
            back.write(begin)
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
            self._writers.discard(back)
        writer.transport.abort()
        self._writers.discard(writer)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, data = await under_way.get()
                await asyncio.sleep(max(0.0, due - loop.time()))
                await self.open.wait()
                if not data:
                    return writer.transport.abort()
                with suppress(OSError):
                    writer.write(data)
                    await writer.drain()

        delivery = asyncio.ensure_future(deliver())
        try:
            while data := await reader.read(65_536):
                under_way.put_nowait((loop.time() + self.delay, data))
        except OSError:
            pass
        finally:
            under_way.put_nowait((loop.time() + self.delay, b""))
            if writer.transport.is_closing():
                delivery.cancel()
            await asyncio.wait({delivery})


@asynccontextmanager
async def chaos(target: int) -> AsyncIterator[ChaosProxy]:
    proxy = ChaosProxy(target)
    await proxy.start()
    try:
        yield proxy
    finally:
        proxy.go_on()
        await proxy.refuse()
