"""The list of conversations beside a page, told to many tabs of one person."""

import asyncio
import threading

import pytest

from chat.consumers import columns as module
from chat.consumers.columns import Columns
from chat.rendering.page.column import Column, Rows
from chat.services import Caller, rename
from tests.support.site import Site
from tests.support.waiting import PATIENCE


async def test_all_tabs_of_a_person_share_one_reading(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings: list[Caller] = []
    read = module.read_column
    monkeypatch.setattr(
        module, "read_column", lambda caller, rows: readings.append(caller) or read(caller, rows)
    )
    columns, user = Columns(), site.alice.user.pk
    told = await asyncio.gather(*(columns.get(user, "", Rows()) for _ in range(20)))
    assert len(readings) == 1
    assert all(entries == told[0] for entries in told)


async def test_a_reading_that_has_begun_is_too_old_for_a_later_change(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, renamed = threading.Event(), threading.Event()
    read = module.read_column

    def read_slowly(caller: Caller, rows: Rows) -> Column:
        entries = read(caller, rows)
        begun.set()
        assert renamed.wait(PATIENCE)
        return entries

    monkeypatch.setattr(module, "read_column", read_slowly)
    columns, user = Columns(), site.alice.user.pk
    early = asyncio.create_task(columns.get(user, "", Rows()))
    await asyncio.to_thread(begun.wait, PATIENCE)
    await rename(Caller(user), str(site.talk.pk), "Another title")
    late = asyncio.create_task(columns.get(user, "", Rows()))
    await asyncio.sleep(0)
    renamed.set()
    assert [entry.title for entry in (await late).entries] == ["Another title"]
    assert [entry.title for entry in (await early).entries] == ["A talk"]
