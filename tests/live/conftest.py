"""A running Parley in the test's own event loop: real rows, real sockets, a real provider."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import channel_layers
from django.contrib.auth.models import User
from django.db import connections

from chat.models import Agent, Conversation
from chat.providers import registry
from chat.services import lifecycle, presence, process
from chat.services.catalog import ensure_defaults
from chat.services.current import digests
from chat.services.pool import close_connections
from chat.services.runs import RUNS
from tests import factories as make
from tests.live.driver import Person, Tab
from tests.provider import ScriptedProvider
from tests.provider.fixtures import scripted_provider

__all__ = ["scripted_provider"]


@dataclass
class Site:
    """Alice, her conversation, and the provider that answers her."""

    provider: ScriptedProvider
    alice: Person
    talk: Conversation
    tabs: list[Tab] = field(default_factory=list)

    async def tab(self, person: Person | None = None, talk: Any = None) -> Tab:
        """A page that is loaded and connected."""
        tab = await Tab(person or self.alice, (talk or self.talk).pk).load()
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
    """Parley, started and stopped as a server would."""
    # Whatever belongs to the loop of another test.
    channel_layers.backends.clear()
    registry._http = None
    process._id = None
    digests._asked.clear()
    alice, talk = await sync_to_async(_rows)(scripted_provider)
    await lifecycle.start()
    site = Site(scripted_provider, await Person(alice).enter(), talk)
    yield site
    for tab in site.tabs:
        await tab.cut()
    await lifecycle.stop()
    for waiting in list(presence._waiting):
        waiting.cancel()
    assert not RUNS, "an answer outlived its test"
    await sync_to_async(close_connections)()
    await sync_to_async(connections.close_all)()
    assert not [tab.broken for tab in site.tabs if tab.broken]


OpenTab = Callable[..., Awaitable[Tab]]
