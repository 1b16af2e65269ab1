"""Many tabs that come back at once, after a restart say, leave room for everybody else."""

import asyncio
import threading
from typing import Any

import pytest
from django.db.models import F

from chat import services
from chat.consumers import consumer
from chat.consumers.consumer import TOO_MANY, ChatConsumer
from chat.models import Conversation
from chat.services import line as lines
from chat.services.line import Line
from chat.services.pool import THREADS
from tests.support import factories as make
from tests.support.model_server import reply
from tests.support.site import Programs, Site
from tests.support.tabs import comparing, equal_pages, in_thread
from tests.support.waiting import eventually


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


# --- the line ---------------------------------------------------------------------------


async def in_order_of(line: Line, *people: int, gone: tuple[int, ...] = ()) -> list[int]:
    """Who is read for one after the other, where these ask at once and some of them leave."""
    order: list[int] = []

    async def asks(person: int) -> None:
        async with line.place(person):
            order.append(person)
            await asyncio.sleep(0)

    async with line.place(0):
        waiting = [asyncio.create_task(asks(person)) for person in people]
        await asyncio.sleep(0)
        for index in gone:
            waiting[index].cancel()
    # Some in the moment of their turn.
    for task in waiting:
        if people[waiting.index(task)] < 0:
            task.cancel()
    await asyncio.wait(waiting)
    return order


async def test_many_tabs_of_one_person_wait_for_each_other() -> None:
    """And whoever comes after them for one of them at the most."""
    line = Line(1)
    assert await in_order_of(line, 1, 1, 1, 1, 2, 2, 3) == [1, 2, 3, 1, 2, 1, 1]
    assert await in_order_of(line, 1, 1, 2, gone=(0, 2)) == [1]
    assert await in_order_of(line, -1, 1, 2) == [1, 2]
    assert await in_order_of(line, 1) == [1], "its place is free again"


async def test_who_has_too_many_sockets_is_told_so_before_they_wait(
    site: Site, program: Programs, settings: Any
) -> None:
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "sockets_per_user": 1}
    await program()
    async with services.in_line(0), services.in_line(0):
        more = await program(attach=False)
        await more.until(lambda: more.closed)
        assert more.closed == TOO_MANY


async def test_a_page_that_shows_much_is_brought_forward_in_its_turn(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that shows the latest messages alone waits for nobody."""
    monkeypatch.setattr(consumer, "MANY", 3)
    other = await in_thread(make.a_conversation)(site.alice.user)
    await in_thread(make.a_talk)(site.talk, 4)
    await in_thread(make.a_talk)(other, 2)
    with comparing(0.05):
        long, short = await site.tab(), await site.tab(talk=other)
        for tab in (long, short):
            await tab.until(lambda tab=tab: "attach" in tab.replies)
        async with services.in_line(0), services.in_line(0):
            await Conversation.objects.aupdate(title="Renamed elsewhere", rev=F("rev") + 1)
            await short.until(lambda: short.page.text_of("title") == "Renamed elsewhere")
            await eventually(lambda: lines._lines[asyncio.get_running_loop()]._waiting)
            assert long.page.text_of("title") == "A talk"
        await long.until(lambda: long.page.text_of("title") == "Renamed elsewhere")
