"""The running Parley of `tests/live`, with a tool that waits, and programs beside the pages."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from chat.models import Agent
from chat.protocol.interfaces import ToolContext
from chat.tools.registry import registry
from tests.invariants import faults
from tests.live.conftest import Site, scripted_provider, site
from tests.live.driver import in_thread
from tests.turns.program import Program

__all__ = ["Site", "scripted_provider", "site"]


@dataclass
class Held:
    """The tool `hold`: every call of it waits until the test lets go."""

    calls: list[str] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: list[str] = field(default_factory=list)


_held = Held()


@registry.tool(timeout=30)
async def hold(context: ToolContext) -> str:
    """Waits."""
    _held.calls.append(context.call_id)
    try:
        await _held.go.wait()
    except asyncio.CancelledError:
        _held.cancelled.append(context.call_id)
        raise
    return "held"


@pytest.fixture
def held() -> Held:
    global _held
    _held = Held()
    return _held


Programs = Callable[..., Awaitable[Program]]


@pytest.fixture
async def program(site: Site, held: Held) -> AsyncIterator[Programs]:
    """Opens programs; when the test is over no invariant may be broken."""
    await in_thread(Agent.objects.update)(tools=["calculator", "hold"])
    opened: list[Program] = []

    async def open_one(person: Any = None, talk: Any = None, *, attach: bool = True) -> Program:
        one = Program(person or site.alice, (talk or site.talk).pk)
        opened.append(one)
        return await one.open(attach=attach)

    yield open_one
    for one in opened:
        if one.closed is None:
            await one.close()
    seen = [one.seen for one in opened]
    assert await in_thread(faults)(*seen, calls=held.calls, running=True, deleted=True) == []
