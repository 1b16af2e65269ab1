"""Plays a reply on a connection, step by step, at its pace."""

import asyncio
from collections.abc import Iterator
from functools import partial
from itertools import chain, cycle
from typing import assert_never

from tests.support.model_server.connection import Connection
from tests.support.model_server.pacing import Pacer
from tests.support.model_server.replies import Call, Drop, Gate, Raw, Reply, Say, Step, Think, Wait
from tests.support.model_server.wires import Wire

BATCH = 32_768


class Player:
    """One reply being played."""

    def __init__(self, connection: Connection, pacer: Pacer, wire: Wire, reply: Reply) -> None:
        self._connection = connection
        self._pacer = pacer
        self._wire = wire
        self._reply = reply

    async def play(self) -> bool:
        """Play it; true when the connection must be closed afterwards."""
        reply, wire = self._reply, self._wire
        for step in reply.before:
            if await self._odd(step):
                return True
        if reply.body is not None:
            self._connection.head(reply, wire.content_type, len(reply.body))
            self._connection.transport.write(reply.body)
            return False
        self._connection.head(reply, wire.content_type, None)
        if reply.opening:
            await self._send(wire.opening(reply), 0)
        for step in reply.steps:
            if await self._step(step):
                return True
        await self._send(wire.closing(reply.finish, reply.usage, reply.done), 0)
        if self._connection.chunked:
            self._connection.transport.write(b"0\r\n\r\n")
        return not self._connection.chunked

    async def _step(self, step: Step) -> bool:
        wire = self._wire
        match step:
            case Think():
                said = map(wire.think, step.tokens())
                await self._send(chain(said, wire.thought(step)), self._gap(step.ms))
            case Say():
                await self._send(map(wire.say, step.tokens()), self._gap(step.ms))
            case Call():
                await self._send(wire.call(step), self._gap(step.ms))
            case Raw() | Wait() | Gate() | Drop():
                return await self._odd(step)
            case _:
                assert_never(step)
        return False

    def _gap(self, ms: float | None) -> float:
        return (self._reply.ms if ms is None else ms) / 1000

    async def _odd(self, step: Step) -> bool:
        match step:
            case Raw(framed=False):
                self._connection.transport.write(step.data)
            case Raw():
                await self._send(iter([step.data]), 0)
            case Wait():
                await self._wait(step)
            case Gate():
                await self._stand(step)
            case Drop(how="reset"):
                await asyncio.sleep(0.02)  # what was written before goes out first
                self._connection.reset()
                return True
            case Drop():
                return True
            case _:
                raise ValueError(f"{step} cannot stand here")
        return False

    async def _wait(self, step: Wait) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + (1e9 if step.seconds is None else step.seconds)
        while (left := end - loop.time()) > 0:
            await asyncio.sleep(min(left, step.every if step.ping else left))
            if step.ping:
                self._connection.write(step.ping)

    async def _stand(self, gate: Gate) -> None:
        loop = asyncio.get_running_loop()
        opened = asyncio.Event()
        gate.waiters.append(partial(loop.call_soon_threadsafe, opened.set))
        gate.reached.set()
        if not gate.is_open:
            await opened.wait()

    async def _send(self, events: Iterator[bytes], gap: float) -> None:
        if self._reply.cut:
            await self._flood(self._cut(events), alone=True)
        elif gap:
            await self._pacer.run(events, gap, self._connection.write)
        else:
            await self._flood(events)

    async def _flood(self, events: Iterator[bytes], alone: bool = False) -> None:
        """As fast as the client reads; joined into large writes unless each must stand alone."""
        batch: list[bytes] = []
        size = 0
        for event in events:
            batch.append(self._connection.framed(event))
            size += len(event)
            if alone or size >= BATCH:
                self._connection.transport.write(b"".join(batch))
                batch, size = [], 0
                await asyncio.sleep(0)  # the client may have left
                await self._connection.drain()
        if batch:
            self._connection.transport.write(b"".join(batch))

    def _cut(self, events: Iterator[bytes]) -> Iterator[bytes]:
        cut = self._reply.cut
        sizes = cycle((cut,) if isinstance(cut, int) else cut)
        data = b"".join(events)
        at = 0
        while at < len(data):
            size = next(sizes)
            yield data[at : at + size]
            at += size
