"""Keeping rows close behind the runs: every half second, all of them in one transaction."""

import asyncio
import logging
from uuid import UUID

from django.db import transaction

from chat.protocol.stopped import StoppedBy
from chat.services import statements
from chat.services.background import Background
from chat.services.pool import in_writer
from chat.services.runs.rows import Placed, write_parts
from chat.services.runs.run import RUNS, Run

log = logging.getLogger(__name__)

EVERY = 0.5

Batch = list[tuple[str, int, list[Placed]]]
# Of each run that is still ours: who asked it to stop, if anybody did.
Stops = dict[str, StoppedBy | None]


def write_batch(batch: Batch) -> Stops:
    """Write what changed; for each run that is still ours, who asked it to stop, if anyone."""
    runs = {UUID(request_id): seq for request_id, seq, _ in batch}
    with transaction.atomic():
        held = statements.held_runs(list(runs))
        ours = {str(key): by for key, by in held.items()}
        statements.note_flushed({key: runs[key] for key in held})
        write_parts(
            [part for request_id, _, parts in batch if request_id in ours for part in parts]
        )
    return {request_id: StoppedBy.from_json(by) if by else None for request_id, by in ours.items()}


class Flusher:
    """One task per process; the lock keeps a run's last write behind its flushes."""

    def __init__(self) -> None:
        self.writing = asyncio.Lock()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._background = Background()

    def ensure_running(self) -> None:
        if self._task is None or self._task.done():
            self.writing = asyncio.Lock()
            self._wanted = asyncio.Event()
            self._task = self._background.spawn(self._keep_flushing(), "flusher")

    def soon(self) -> None:
        """Do not wait for the half second: a tool has changed or a step has ended."""
        self._wanted.set()

    async def _keep_flushing(self) -> None:
        """Until nothing runs any more; the next run starts it again."""
        while RUNS:
            try:
                async with asyncio.timeout(EVERY):
                    await self._wanted.wait()
            except TimeoutError:
                pass
            self._wanted.clear()
            await self.flush()

    async def flush(self) -> None:
        async with self.writing:
            runs = [run for run in RUNS.values() if not run.lost]
            batch: Batch = [(run.request_id, run.seq, run.take_dirty()) for run in runs]
            if not batch:
                return
            try:
                stops = await in_writer(write_batch, batch)
            except Exception:  # the text is in memory, and each run is tried by itself
                log.exception("a flush failed")
                stops = await self._flush_apart(runs, batch)
        for run in runs:
            self._handle(run, stops)

    async def _flush_apart(self, runs: list[Run], batch: Batch) -> Stops:
        """Each run by itself: one that cannot be written must not hold up the others."""
        stops: Stops = {}
        for run, entry in zip(runs, batch, strict=True):
            try:
                stops |= await in_writer(write_batch, [entry])
            except Exception:  # the next round tries again; if it never can, its end says so
                log.exception("a run could not be flushed")
                run.put_back(entry[2])
                stops[run.request_id] = None
        return stops

    def _handle(self, run: Run, stops: Stops) -> None:
        by = stops.get(run.request_id)
        if by is not None:
            run.stop(by)
            return
        held = RUNS.get(run.conversation_id) is run and not run.ending
        if held and run.request_id not in stops:
            # Another process has settled it.
            run.lose()


flusher = Flusher()
