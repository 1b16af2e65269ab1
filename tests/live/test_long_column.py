"""A column of many conversations: what a page has listed of it stays as a reload would show it."""

import random
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Conversation
from chat.rendering.live.column import LiveColumn
from chat.rendering.page.column import LISTED, Column, ColumnEntry, column_html
from chat.services import Caller, delete, pin, rename, restore
from chat.services.conversations.sidebar import list_conversations
from tests.support.page import LivePage, difference
from tests.support.samples import ADA, DAY, NOW
from tests.support.site import Site
from tests.support.tabs import Tab, equal_pages, in_thread


def many_talks(owner: User, number: int) -> list[Conversation]:
    """The latest first: none, one, two … hours old."""
    now = timezone.now()
    return Conversation.objects.bulk_create(
        Conversation(owner=owner, title=f"Talk {age}", updated=now - timedelta(hours=age))
        for age in range(number)
    )


def titles(tab: Tab) -> list[str]:
    return [title for _, rows in tab.page.listed() for _, title, *_ in rows]


async def list_more(tab: Tab, rows: int) -> None:
    assert (await tab.ask("list", rows=rows))["ok"]
    await tab.until(lambda: tab.page.column()["rows"] == rows)


async def equals_a_page_that_lists(tab: Tab, rows: int | str) -> None:
    async def compare() -> str:
        answer = await tab.person.client.get(f"/c/{tab.conversation_id}/?rows={rows}")
        return difference(tab.page, LivePage(answer.content.decode()))

    assert await compare() == ""


# --- operations -------------------------------------------------------------------------


def a_column(rng: random.Random) -> Column:
    """Some of twelve conversations, in any order and state."""
    numbers = rng.sample(range(12), rng.randint(0, 12))
    entries = tuple(
        ColumnEntry(
            id=str(UUID(int=number)),
            title=rng.choice("ab"),
            url=f"/c/{number}/",
            updated=NOW - rng.randint(0, 10) * DAY - number,
            pinned=rng.random() < 0.2,
            live=rng.random() < 0.2,
        )
        for number in numbers
    )
    *entries, apart = (*entries, None) if rng.random() < 0.7 or not entries else entries
    ordered = sorted(entries, key=lambda entry: (-entry.pinned, -entry.updated))
    rows = rng.choice([LISTED, 2 * LISTED])
    return Column(tuple(ordered), rows, more=rng.random() < 0.5).beside("", apart)


def test_from_any_column_to_any_other() -> None:
    """Stream equals reload, whatever has come, gone, moved and changed in between."""
    for seed in range(40):
        rng = random.Random(seed)
        page = LivePage(column_html(a_column(rng), ADA))
        live = LiveColumn(ADA)
        live.shown(page.column())
        for _ in range(4):
            column = a_column(rng)
            page.apply(live.update(column))
            found = difference(page, LivePage(column_html(column, ADA)))
            assert found == "", f"seed {seed}:\n{found}"


def test_one_that_moves_is_all_that_is_sent() -> None:
    entries = tuple(
        ColumnEntry(id=str(UUID(int=n)), title=f"T{n}", url="", updated=NOW - n * DAY // 100)
        for n in range(50)
    )
    live = LiveColumn(ADA)
    live.shown(LivePage(column_html(Column(entries), ADA)).column())
    moved = replace(entries[30], updated=NOW + 1)
    frame = live.update(Column((moved, *entries[:30], *entries[31:])))
    assert frame.count("<li") == 1
    assert frame.count("hx-swap-oob") == 2


# --- pages ------------------------------------------------------------------------------


async def test_more_is_listed_as_far_as_one_asks(site: Site) -> None:
    """A16: one after the other, to the last of them; each change of a row far down is told."""
    talks = await in_thread(many_talks)(site.alice.user, 150)
    tab = await site.tab(talk=talks[0])
    assert len(titles(tab)) == LISTED
    await list_more(tab, 2 * LISTED)
    assert len(titles(tab)) == 2 * LISTED
    await equals_a_page_that_lists(tab, 2 * LISTED)

    caller = Caller(site.alice.user.pk)
    await rename(caller, talks[100].pk, "Far down")
    await tab.until(lambda: "Far down" in titles(tab))
    await delete(caller, talks[101].pk)
    await tab.until(lambda: "Talk 101" not in titles(tab))
    await pin(caller, talks[102].pk, pinned=True)
    await tab.until(lambda: titles(tab)[0] == "Talk 102")
    await equals_a_page_that_lists(tab, 2 * LISTED)

    await list_more(tab, 3 * LISTED)
    assert len(titles(tab)) == 150
    assert tab.page.column()["more"] is False
    await restore(caller, talks[101].pk)
    await tab.until(lambda: "Talk 101" in titles(tab))
    await equals_a_page_that_lists(tab, 3 * LISTED)


async def test_a_page_that_was_away_comes_back_to_all_that_it_had_listed(site: Site) -> None:
    talks = await in_thread(many_talks)(site.alice.user, 150)
    tab = await site.tab(talk=talks[0])
    await list_more(tab, 2 * LISTED)
    await tab.cut()
    await rename(Caller(site.alice.user.pk), talks[100].pk, "Meanwhile")
    await tab.open()
    await tab.until(lambda: "Meanwhile" in titles(tab))
    await equals_a_page_that_lists(tab, 2 * LISTED)


async def test_the_open_one_is_listed_wherever_it_stands(site: Site) -> None:
    """A16: apart from the others, until the list has come to it."""
    talks = await in_thread(many_talks)(site.alice.user, 100)
    tab = await site.tab(talk=talks[80])
    heading, rows = tab.page.listed()[0]
    assert (heading, [title for _, title, *_ in rows]) == ("This conversation", ["Talk 80"])
    assert len(tab.page.select(f"#c-{talks[80].pk}>a")) == 1
    await rename(Caller(site.alice.user.pk), talks[80].pk, "Renamed")
    await tab.until(lambda: titles(tab)[0] == "Renamed")
    await equal_pages(tab)

    await list_more(tab, 2 * LISTED)
    assert "This conversation" not in dict(tab.page.listed())
    assert titles(tab).count("Renamed") == 1
    await equals_a_page_that_lists(tab, 2 * LISTED)


# --- the database -----------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="asks SQLite how it reads")
def test_the_first_are_listed_without_reading_the_others() -> None:
    """A16: the index has the order of the list, so nothing is sorted or read in vain."""
    with CaptureQueriesContext(connection) as asked:
        list_conversations(Caller(1), LISTED)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {asked[0]['sql']}")
        plan = " ".join(row[-1] for row in cursor.fetchall())
    assert "own_listed" in plan, plan
    assert "TEMP B-TREE" not in plan, plan
