"""Keeping rows close behind the runs: every half second, all of them in one transaction."""

import asyncio
import contextvars
import logging

from django.db import transaction

from chat.models import Generation
from chat.services.pool import in_pool
from chat.services.runs import RUNS, Run, Stop
from chat.services.settle import Placed, write_parts

log = logging.getLogger(__name__)

EVERY = 0.5

Batch = list[tuple[str, int, list[Placed]]]


def write_batch(batch: Batch) -> dict[str, dict[str, str]]:
    """Write what changed; for each run that is still ours, who asked it to stop, if anyone."""
    ids = [request_id for request_id, _, _ in batch]
    with transaction.atomic():
        active = Generation.objects.select_for_update().filter(pk__in=ids, status="active")
        ours = {str(run.pk): run for run in active}
        for request_id, seq, _ in batch:
            if request_id in ours:
                ours[request_id].flushed_seq = seq
        Generation.objects.bulk_update(ours.values(), ["flushed_seq"])
        write_parts(
            [part for request_id, _, parts in batch if request_id in ours for part in parts]
        )
    return {request_id: run.stop_requested_by or {} for request_id, run in ours.items()}


class Flusher:
    """One task per process; the lock keeps a run's last write behind its flushes."""

    def __init__(self) -> None:
        self.writing = asyncio.Lock()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def ensure_running(self) -> None:
        if self._task is None or self._task.done():
            self.writing = asyncio.Lock()
            self._wanted = asyncio.Event()
            self._task = asyncio.get_running_loop().create_task(
                self._keep_flushing(), name="flusher", context=contextvars.Context()
            )

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
                stops = await in_pool(write_batch, batch)
            except Exception:  # the text is in memory, and each run is tried by itself
                log.exception("a flush failed")
                stops = await self._flush_apart(runs, batch)
        for run in runs:
            self._heed(run, stops)

    async def _flush_apart(self, runs: list[Run], batch: Batch) -> dict[str, dict[str, str]]:
        """One run that cannot be written must not keep the others from it."""
        stops: dict[str, dict[str, str]] = {}
        for run, entry in zip(runs, batch, strict=True):
            try:
                stops |= await in_pool(write_batch, [entry])
            except Exception:  # the next round tries again; if it never can, its end says so
                log.exception("a run could not be flushed")
                run.put_back(entry[2])
                stops[run.request_id] = {}
        return stops

    def _heed(self, run: Run, stops: dict[str, dict[str, str]]) -> None:
        by = stops.get(run.request_id)
        if by is None and RUNS.get(run.conversation_id) is run and not run.ending:
            run.lose()
        elif by:
            run.stop(Stop(**by))


flusher = Flusher()
