"""A running Parley in the test's own event loop: real rows, real sockets, a real provider.

`tests/conftest.py` gives these fixtures to every folder: `site` with its tabs, and `program`, which
opens clients that speak JSON beside them and checks every invariant when the test is over.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import channel_layers
from django.contrib.auth.models import User
from django.db import connections

from chat.models import Agent, Conversation
from chat.protocol.interfaces import ToolContext
from chat.providers import registry
from chat.providers.http import Http
from chat.services.catalog.defaults import ensure_defaults
from chat.services.conversations.snapshot import digests
from chat.services.pool import close_connections
from chat.services.processes import lease, lifecycle
from chat.services.runs.request import http_settings
from chat.services.runs.run import RUNS
from chat.tools.registry import registry as tools
from tests.support import factories as make
from tests.support.impatient_http import TRUST
from tests.support.invariants import faults
from tests.support.model_server import ScriptedProvider
from tests.support.program import Program
from tests.support.tabs import Person, Tab, in_thread, told_only


@dataclass
class Site:
    """Alice, her conversation, and the provider that answers her."""

    provider: ScriptedProvider
    alice: Person
    talk: Conversation
    tabs: list[Tab] = field(default_factory=list)

    async def tab(self, person: Person | None = None, talk: Any = None, query: str = "") -> Tab:
        """A page that is loaded and connected."""
        tab = await Tab(person or self.alice, (talk or self.talk).pk, query).load()
        self.tabs.append(tab)
        return await tab.open()


def _rows(provider: ScriptedProvider) -> tuple[User, Conversation]:
    ensure_defaults()
    scripted = make.a_provider(
        name="Scripted", kind="openai", base_url=provider.base_url, api_key="sk-test"
    )
    model = make.a_model(scripted, model_id="scripted-small", label="Scripted")
    Agent.objects.filter(is_default=True).update(model=model)
    alice = make.a_user("alice", first_name="Alice")
    return alice, make.a_conversation(alice, title="A talk")


@pytest.fixture
async def site(transactional_db: None, scripted_provider: ScriptedProvider) -> AsyncIterator[Site]:
    """Parley, started and stopped as a server would; its pages show only what they are told."""
    # Whatever belongs to the loop of another test.
    channel_layers.backends.clear()
    registry._http = Http(replace(http_settings(), verify=TRUST))
    lease._id = None
    digests._asked.clear()
    alice, talk = await sync_to_async(_rows)(scripted_provider)
    await lifecycle.start_process()
    site = Site(scripted_provider, await Person(alice).enter(), talk)
    with told_only():
        yield site
    for tab in site.tabs:
        await tab.cut()
    await lifecycle.stop_process()
    assert not RUNS, "an answer outlived its test"
    await sync_to_async(close_connections)()
    await sync_to_async(connections.close_all)()
    assert not [tab.broken for tab in site.tabs if tab.broken]


@dataclass
class Held:
    """The tool `hold`: every call of it waits until the test lets go."""

    calls: list[str] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: list[str] = field(default_factory=list)


_held = Held()


@tools.tool(timeout=30)
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
