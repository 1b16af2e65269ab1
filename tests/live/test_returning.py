"""Many tabs that come back at once, after a restart say, leave room for everybody else."""

import asyncio
import threading
from typing import Any

import pytest

from chat.consumers.consumer import ChatConsumer
from chat.services.pool import THREADS
from tests.support.model_server import reply
from tests.support.site import Programs, Site
from tests.support.tabs import comparing, equal_pages


async def test_who_opens_a_page_or_sends_does_not_wait_for_all_who_come_back(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R13: 500 returning tabs kept pages waiting for 5.5 seconds."""
    site.provider.answer = reply("Here I am.")
    here = await site.tab()
    await here.until(lambda: "attach" in here.replies)
    let_go = threading.Event()
    make_reader = ChatConsumer._make_reader

    def held(self: ChatConsumer) -> Any:
        let_go.wait()
        return make_reader(self)

    monkeypatch.setattr(ChatConsumer, "_make_reader", held)
    coming = [asyncio.create_task(site.tab()) for _ in range(3 * THREADS)]
    try:
        await here.send("Hello?")
        await here.sees("Here I am.")
        await here.sees_the_end()
        await here.equals_a_fresh_page()
    finally:
        let_go.set()
    await equal_pages(*await asyncio.gather(*coming))


async def test_a_page_hears_now_and_then_that_it_is_connected(
    site: Site, program: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its browser does not say when nobody is at the other end any more; programs have pings."""
    monkeypatch.setattr(ChatConsumer, "speak_every", 0.05)
    with comparing(0.02):
        tab, one = await site.tab(), await program()
        before = tab.frames
        await tab.until(lambda: tab.frames > before + 2)
        await tab.equals_a_fresh_page()
        assert [event["name"] for event in one.events] == ["chat:snapshot"]
