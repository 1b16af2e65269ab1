"""A running Parley without a limit of commands, and a look at what is left when it is over."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from chat.models import Conversation
from chat.services.pool import THREADS, in_pool
from tests.support import factories as make
from tests.support.invariants import Resources, faults
from tests.support.program import Program
from tests.support.site import Site
from tests.support.tabs import in_thread
from tests.support.waiting import PATIENCE


@dataclass
class Arena:
    """Conversations and programs for many rounds."""

    site: Site
    programs: list[Program] = field(default_factory=list)

    async def talk(self) -> Conversation:
        found: Conversation = await in_thread(make.a_conversation)(self.site.alice.user)
        return found

    async def program(self, talk: Conversation | None = None) -> Program:
        one = await Program(self.site.alice, (talk or self.site.talk).pk).open()
        self.programs.append(one)
        return one


@pytest.fixture
async def arena(site: Site, settings: Any, caplog: Any) -> AsyncIterator[Arena]:
    """When the rounds are over every invariant holds, nothing is left, nothing was logged."""
    # A look at who is watching waits for the grace time; it would count as a task left over.
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "grace_seconds": 1}
    arena = Arena(site)
    warm = await arena.program()
    site.provider.script("Warm.")
    await warm.ends((await warm.send("Warm up"))["request_id"])
    await warm.close()
    await _use_every_thread()
    before = await Resources.now()
    yield arena
    for one in arena.programs:
        if one.closed is None:
            await one.close()
    seen = [one.seen for one in arena.programs]
    assert await in_thread(faults)(*seen) == []
    await _nothing_left(before)
    bad = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.getMessage() for record in bad] == []


async def _use_every_thread() -> None:
    """Each thread of the pool is started, and connects, when it is first needed: not a leak."""
    together = threading.Barrier(THREADS)

    def read() -> None:
        together.wait()
        Conversation.objects.count()

    await asyncio.gather(*(in_pool(read) for _ in range(THREADS)))


async def _nothing_left(before: Resources) -> None:
    """I9; what is just ending is given time to end."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while more := (await Resources.now()).more_than(before):
        tasks = sorted(str(task.get_coro()) for task in asyncio.all_tasks())
        assert asyncio.get_running_loop().time() < end, (more, tasks)
        await asyncio.sleep(0.05)
