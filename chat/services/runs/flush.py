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

# Of each run: its id and its attempt, its last event, and the parts that have changed.
Batch = list[tuple[tuple[str, int], int, list[Placed]]]
# Of each run that is still ours: who asked it to stop, if anybody did.
Stops = dict[str, StoppedBy | None]


def write_batch(batch: Batch) -> Stops:
    """Write what changed; for each run that is still ours, who asked it to stop, if anyone."""
    seqs = {UUID(request_id): seq for (request_id, _), seq, _ in batch}
    attempts = {UUID(request_id): attempt for (request_id, attempt), _, _ in batch}
    with transaction.atomic():
        held = statements.held_runs(attempts)
        ours = {str(key): by for key, by in held.items()}
        statements.note_flushed({key: seqs[key] for key in held})
        write_parts(
            [part for (request_id, _), _, parts in batch if request_id in ours for part in parts]
        )
    return {request_id: StoppedBy.from_json(by) if by else None for request_id, by in ours.items()}


class Flusher:
    """One task per process; the lock keeps a run's last write behind its flushes. With that write
    a run has taken its rows upon itself, and is flushed no more."""

    def __init__(self) -> None:
        self.writing = asyncio.Lock()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        # A round that somebody waits for and that has not begun yet.
        self._coming: asyncio.Task[set[str]] | None = None
        self._background = Background()

    def ensure_running(self) -> None:
        if self._task is None or self._task.done():
            self.writing = asyncio.Lock()
            self._wanted = asyncio.Event()
            self._coming = None
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

    async def keep(self, run: Run) -> bool:
        """Write now; whether all that this run has changed before is in the rows. The round is one
        for all who ask, and goes on without them: it holds what every run has changed."""
        if self._coming is None:
            self._coming = self._background.spawn(self.flush(), "a round of the flusher")
        return run.request_id in await asyncio.shield(self._coming)

    async def flush(self) -> set[str]:
        """A round; the ids of the runs that are in the rows as they were when it began."""
        async with self.writing:
            # What changes from now on is for the next one.
            self._coming = None
            runs = [run for run in RUNS.values() if not (run.lost or run.ending)]
            batch: Batch = [(run.attempt, run.seq, run.take_dirty()) for run in runs]
            if not batch:
                return set()
            failed: list[Run] = []
            try:
                stops = await in_writer(write_batch, batch)
            except Exception:  # the text is in memory, and each run is tried by itself
                log.exception("a flush failed")
                stops, failed = await self._flush_apart(runs, batch)
        for run in runs:
            # Of one that could not be written it is not known whether it is still ours.
            if run not in failed:
                self._handle(run, stops)
        return set(stops)

    async def _flush_apart(self, runs: list[Run], batch: Batch) -> tuple[Stops, list[Run]]:
        """Each run by itself: one that cannot be written must not hold up the others. Those that
        could not be are named."""
        stops: Stops = {}
        failed: list[Run] = []
        for run, entry in zip(runs, batch, strict=True):
            try:
                stops |= await in_writer(write_batch, [entry])
            except Exception:  # the next round tries again; if it never can, its end says so
                log.exception("a run could not be flushed")
                run.put_back(entry[2])
                failed.append(run)
        return stops, failed

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
