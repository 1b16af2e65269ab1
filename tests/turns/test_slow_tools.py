"""A tool that holds its thread holds nobody else."""

import threading
from collections.abc import Iterator

import pytest

from chat.models import Agent
from chat.tools.registry import registry as tools
from tests.support import factories as make
from tests.support.model_server import Call, reply
from tests.support.site import Site
from tests.support.tabs import Person, equal_pages, in_thread
from tests.support.waiting import eventually

_gate = threading.Event()
_inside: list[int] = []


@tools.tool(timeout=60)
def stall() -> str:
    """Sits in its thread."""
    _inside.append(1)
    _gate.wait(60)
    return "stalled"


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    _gate.clear()
    _inside.clear()
    yield _gate
    _gate.set()


async def test_other_people_send_and_read_meanwhile(site: Site, gate: threading.Event) -> None:
    """66"""
    await in_thread(Agent.objects.update)(tools=["stall", "calculator"])
    calls = reply(Call("stall", {}, id="s"))
    site.provider.script(calls, reply("At once."), reply("At last."))
    slow = await site.tab()
    assert (await slow.send("Go slowly"))["ok"]
    await eventually(lambda: _inside)
    bob = await Person(await in_thread(make.a_user)("bob")).enter()
    talk = await in_thread(make.a_conversation)(bob.user)
    tab = await site.tab(bob, talk)
    await tab.send("Quickly?")
    await tab.sees("At once.")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    assert (await slow.ask("rename", title="Still here"))["ok"]
    gate.set()
    await slow.sees("At last.")
    await slow.sees_the_end()
    await equal_pages(slow)
