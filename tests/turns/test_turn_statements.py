"""What a whole turn asks of the database and tells the column, from the question to the end."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from django.db.backends.utils import CursorWrapper

from chat.services.broadcast import Subscription, tell_sidebar, user_group
from chat.services.notes import SidebarChanged
from chat.services.runs import titles
from chat.services.runs.request_log import write_requests
from tests.support import factories as make
from tests.support.model_server import reply
from tests.support.site import Site
from tests.support.tabs import Tab, in_thread
from tests.support.waiting import eventually

COLUMN = "SELECT id, title, updated, pinned"
# What goes on whether anybody asks for anything or not.
ALWAYS = ("BEGIN", "SAVEPOINT", "RELEASE", "UPDATE chat_process")


@contextmanager
def statements() -> Iterator[list[str]]:
    """Each that is run meanwhile, in whatever thread; one for many rows counts for each of them."""
    found: list[str] = []
    execute, executemany = CursorWrapper.execute, CursorWrapper.executemany

    def one(cursor: CursorWrapper, sql: str, params: Any = None) -> Any:
        found.append(sql)
        return execute(cursor, sql, params)

    def many(cursor: CursorWrapper, sql: str, rows: Iterable[Sequence[Any]]) -> Any:
        kept = list(rows)
        found.extend([sql] * len(kept))
        return executemany(cursor, sql, kept)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CursorWrapper, "execute", one)
        patch.setattr(CursorWrapper, "executemany", many)
        yield found


async def a_turn(site: Site, tab: Tab) -> list[str]:
    """What one asks for, until its column was read."""
    site.provider.script(reply("Well ", "said."))
    with statements() as found:
        await tab.send("Go on.")
        await tab.sees_the_end()
        ended = len(found)
        await eventually(lambda: any(COLUMN in sql for sql in found[ended:]))
        await eventually(lambda: "chat_profile" in found[-1])
    # What was sent is written a second later, for all turns of that second together.
    await write_requests()
    return [sql for sql in found if not sql.startswith(ALWAYS)]


async def test_a_turn_takes_twenty_three_statements_its_column_among_them(site: Site) -> None:
    tab = await site.tab()
    await a_turn(site, tab)
    # A turn that takes half a second is written meanwhile too, and its column read once more.
    counts = [len(await a_turn(site, tab)) for _ in range(3)]
    assert min(counts) == 23


async def test_nobody_asks_whether_a_first_answer_was_given_a_title_before(
    site: Site, settings: Any
) -> None:
    settings.PARLEY_TITLES = "model"
    talk = await in_thread(make.a_conversation)(site.alice.user, title="")
    site.provider.script(reply("Sunny."), reply("Weather in Rome"))
    tab = await site.tab(talk=talk)
    with statements() as found:
        await tab.send("How is the weather in Rome, and how will it be tomorrow?")
        await tab.until(lambda: tab.page.text_of("title") == "Weather in Rome")
    assert [sql.split()[0] for sql in found if "chat_backgroundcall" in sql] == ["INSERT"]


@pytest.mark.parametrize(("title", "changes"), [("A talk", 2), ("", 3)])
async def test_the_column_is_told_once_of_each_change(
    site: Site, settings: Any, title: str, changes: int
) -> None:
    """Of the beginning of an answer, of its end, and of the title where it has another by then."""
    settings.PARLEY_TITLES = "model"
    talk = await in_thread(make.a_conversation)(site.alice.user, title=title)
    site.provider.script(reply("Sunny."), reply("Weather in Rome"))
    tab = await site.tab(talk=talk)
    told = await Subscription.open()
    await told.join([user_group(site.alice.user.pk)])
    await tab.send("How is the weather in Rome, and how will it be tomorrow?")
    await tab.sees_the_end()
    await eventually(lambda: not titles._asking)
    await tell_sidebar(site.alice.user.pk, "the end")
    notes = []
    while (note := await told.receive()) != SidebarChanged("the end"):
        notes.append(note)
    await told.close()
    assert notes == [SidebarChanged(str(talk.pk))] * changes
