"""Folders in the column: what every tab shows of them, and what they cost."""

import random
from dataclasses import replace
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation, Folder
from chat.protocol.errors import ChatError
from chat.rendering.live.column import MOST_GROUPS, MOST_ROWS, Listing, LiveColumn
from chat.rendering.page.column import (
    IN_FOLDER,
    LISTED,
    Column,
    ColumnFolder,
    Rows,
    column_html,
    folder_filter_html,
)
from chat.services import (
    Caller,
    NewFolder,
    archive,
    change_folder,
    collapse_folder,
    make_folder,
    move,
    remove_folder,
)
from chat.services.conversations import folders as service
from chat.services.conversations.sidebar import list_in_folders
from chat.views.column_data import read_column
from tests.live.test_long_column import a_column, equals_a_page_that_lists, many_talks, titles
from tests.support import factories as make
from tests.support.model_server import Gate, reply
from tests.support.page import LivePage, classes, difference
from tests.support.samples import ADA
from tests.support.site import Site
from tests.support.tabs import Tab, equal_pages, in_thread


def headings(tab: Tab) -> list[str]:
    return [heading for heading, _ in tab.page.listed()]


def rows_of(tab: Tab, heading: str) -> list[str]:
    return [title for _, title, *_ in dict(tab.page.listed()).get(heading, [])]


def marks(tab: Tab, folder: str) -> set[str]:
    names = {name for each in tab.page.folder(folder).iter() for name in classes(each)}
    return names & {"live", "unread"}


# --- operations -------------------------------------------------------------------------


def a_column_with_folders(rng: random.Random) -> Column:
    """Some of twelve conversations, each in one of four folders or in none, in any state."""
    column = a_column(rng)
    inside: dict[int, list] = {number: [] for number in rng.sample(range(4), rng.randint(0, 4))}
    loose = []
    for entry in column.entries:
        number = rng.randint(0, 4)
        (inside.get(number, loose)).append(entry)
    folders = [_a_folder(rng, number, entries) for number, entries in inside.items()]
    ordered = sorted(folders, key=lambda folder: (folder.name, folder.id))
    return replace(column, entries=tuple(loose), folders=tuple(ordered))


def _a_folder(rng: random.Random, number: int, entries: list) -> ColumnFolder:
    collapsed = rng.random() < 0.3
    return ColumnFolder(
        id=str(UUID(int=100 + number)),
        name=rng.choice("abc"),
        collapsed=collapsed,
        unread=rng.random() < 0.5,
        live=rng.random() < 0.5,
        entries=() if collapsed else tuple(entries),
        rows=rng.choice([IN_FOLDER, IN_FOLDER + LISTED]),
        more=rng.random() < 0.3,
    )


def drawn(column: Column) -> LivePage:
    """With the folders that a search can be narrowed to."""
    return LivePage(column_html(column, ADA) + folder_filter_html(column, ADA))


def test_from_any_column_with_folders_to_any_other() -> None:
    """Stream equals reload, whatever was renamed, moved, collapsed and deleted in between."""
    for seed in range(60):
        rng = random.Random(seed)
        page = drawn(a_column_with_folders(rng))
        live = LiveColumn(ADA)
        live.shown(page.column())
        for _ in range(4):
            column = a_column_with_folders(rng)
            page.apply(live.update(column))
            found = difference(page, drawn(column))
            assert found == "", f"seed {seed}:\n{found}"


def a_folder_that_is_said(number: int) -> list[object]:
    return [str(UUID(int=number)), "", [], IN_FOLDER + LISTED]


def test_a_page_that_says_it_lists_far_too_much_is_drawn_anew() -> None:
    """To take in thirty thousand invented folders one by one took most of a minute."""
    live = LiveColumn(ADA)
    most = [a_folder_that_is_said(number) for number in range(MOST_GROUPS)]
    live.shown({"groups": most, "rows": 2 * LISTED, "more": False})
    assert len(live.rows.folders) == len(live.listing.groups) == MOST_GROUPS
    rows = [[str(number), ""] for number in range(MOST_ROWS + 1)]
    for groups in ([*most, a_folder_that_is_said(MOST_GROUPS)], [["today", "", rows]], [["today"]]):
        live.shown({"groups": groups, "rows": 2 * LISTED, "more": False})
        assert live.rows == Rows()
        assert live.listing == Listing()
    assert MOST_GROUPS > service.MOST_FOLDERS


def test_more_is_listed_of_folders_that_are_there() -> None:
    """Or whoever names one invented folder after the other would fill the memory."""
    live, entry = LiveColumn(ADA), ColumnFolder(id=str(UUID(int=1)), name="Work", more=True)
    other = replace(entry, id=str(UUID(int=2)), name="Zoo")
    live.shown({"groups": [], "rows": LISTED, "more": False})
    live.update(Column(folders=(entry, other)))
    for number in range(1, 50):
        live.list_more(IN_FOLDER + LISTED, str(UUID(int=number)))
    more = IN_FOLDER + LISTED
    assert live.rows.folders == ((entry.id, more), (other.id, more))
    live.update(Column(folders=(other,)))
    live.list_more(more, other.id)
    assert live.rows.folders == ((other.id, more),)


# --- pages ------------------------------------------------------------------------------


async def test_every_tab_mirrors_what_is_done_with_folders(site: Site) -> None:
    caller = Caller(site.alice.user.pk)
    here, other = await site.tab(), await site.tab()
    work = await make_folder(caller, NewFolder("Work"))
    home = await make_folder(caller, NewFolder("  at   home "))
    for tab in (here, other):
        await tab.until(lambda tab=tab: headings(tab)[:2] == ["at home", "Work"])
    await move(caller, [str(site.talk.pk)], work.id)
    for tab in (here, other):
        await tab.until(lambda tab=tab: rows_of(tab, "Work") == ["A talk"])
    await equal_pages(here, other)

    await change_folder(caller, home.id, NewFolder("Zoo"))
    await here.until(lambda: headings(here) == ["Work", "Zoo"])
    await equal_pages(here)
    await move(caller, [str(site.talk.pk)], "")
    await here.until(lambda: rows_of(here, "Today") == ["A talk"])
    await move(caller, [str(site.talk.pk)], NewFolder("Another"))
    await here.until(lambda: rows_of(here, "Another") == ["A talk"])

    [another] = [each async for each in Folder.objects.filter(name="Another")]
    await remove_folder(caller, another.pk)
    await here.until(lambda: headings(here) == ["Work", "Zoo", "Today"])
    await equal_pages(here, other)
    assert await Conversation.objects.filter(folder=None).acount() == 1


async def test_a_collapsed_folder_says_what_is_new_in_it(site: Site) -> None:
    caller = Caller(site.alice.user.pk)
    elsewhere = await in_thread(make.a_conversation)(site.alice.user, title="Elsewhere")
    folder = await make_folder(caller, NewFolder("Work"))
    await move(caller, [str(site.talk.pk)], folder.id)
    await collapse_folder(caller, folder.id, collapsed=True)
    here, watching = await site.tab(), await site.tab(talk=elsewhere)
    # The open one is in sight all the same.
    assert headings(here) == ["This conversation", "Work", "Today"]
    assert rows_of(here, "Work") == []
    gate = Gate()
    site.provider.script(reply("Hel", gate, "lo."))
    await here.send("Hi")
    assert (await here.ask("look", hidden=True))["ok"]
    await watching.until(lambda: marks(watching, "Work") == {"live"})
    await equal_pages(here, watching)
    gate.open()
    await watching.until(lambda: marks(watching, "Work") == {"unread"})
    await equal_pages(watching)

    await collapse_folder(caller, folder.id, collapsed=False)
    await watching.until(lambda: rows_of(watching, "Work") == ["A talk"])
    assert marks(watching, "Work") == set()
    await equal_pages(watching)


async def test_a_folder_lists_on_where_one_asks(site: Site) -> None:
    """A16: and a page that was away comes back to it."""
    caller = Caller(site.alice.user.pk)
    talks = await in_thread(many_talks)(site.alice.user, 100)
    folder = await make_folder(caller, NewFolder("Work"))
    await move(caller, [str(talk.pk) for talk in talks], folder.id)
    tab = await site.tab()
    assert len(rows_of(tab, "Work")) == IN_FOLDER
    rows = IN_FOLDER + LISTED
    assert (await tab.ask("list", rows=rows, folder=folder.id))["ok"]
    await tab.until(lambda: len(rows_of(tab, "Work")) == rows)
    query = f"{LISTED}&folder-rows={folder.id}.{rows}"
    await equals_a_page_that_lists(tab, query)

    await tab.cut()
    await archive(caller, talks[70].pk, archived=True)
    await tab.open()
    await tab.until(lambda: "Talk 70" not in titles(tab))
    assert len(rows_of(tab, "Work")) == rows
    await equals_a_page_that_lists(tab, query)


# --- the verbs --------------------------------------------------------------------------


async def test_what_cannot_be_done_is_refused_and_changes_nothing(site: Site) -> None:
    caller = Caller(site.alice.user.pk)
    bob = await in_thread(make.a_user)("bob")
    theirs = await in_thread(make.a_folder)(bob, "Bob's")
    mine = await make_folder(caller, NewFolder("Work"))
    talk = str(site.talk.pk)
    refused = [
        ("error.chat_folder_exists", make_folder(caller, NewFolder("WORK "))),
        ("error.chat_folder_name_required", make_folder(caller, NewFolder(" \x00"))),
        ("error.chat_folder_not_found", move(caller, [talk], str(theirs.pk))),
        ("error.chat_folder_not_found", change_folder(caller, theirs.pk, NewFolder("Mine"))),
        ("error.chat_folder_not_found", remove_folder(caller, theirs.pk)),
        ("error.chat_folder_not_found", collapse_folder(caller, theirs.pk, collapsed=True)),
        ("error.chat_folder_exists", move(caller, [talk], NewFolder("work"))),
        ("error.chat_conversation_not_found", move(Caller(bob.pk), [talk], str(theirs.pk))),
        ("error.chat_content_too_long", change_folder(caller, mine.id, NewFolder("W", "x" * 4001))),
    ]
    for key, act in refused:
        with pytest.raises(ChatError) as error:
            await act
        assert error.value.key == key
    assert (await Conversation.objects.aget()).folder_id is None
    names = [each.name async for each in Folder.objects.order_by("name")]
    assert names == ["Bob's", "Work"]


async def test_there_is_an_end_to_folders(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_FOLDERS", 1)
    caller = Caller(site.alice.user.pk)
    await make_folder(caller, NewFolder("Work"))
    with pytest.raises(ChatError) as error:
        await make_folder(caller, NewFolder("Play"))
    assert error.value.key == "error.chat_too_many_folders"


# --- the database -----------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize("folders", [1, 30])
def test_folders_take_two_statements_however_many_there_are(folders: int) -> None:
    owner = make.a_user()
    for number in range(folders):
        folder = make.a_folder(owner, f"Folder {number:02}")
        make.a_conversation(owner, folder=folder, title=f"In {number:02}")
    make.a_conversation(owner, title="Loose")
    with CaptureQueriesContext(connection) as asked:
        listed = list_in_folders(Caller(owner.pk), {}, IN_FOLDER)
    assert len(asked) == 2
    assert [[each.title for each in folder.conversations] for folder in listed] == [
        [f"In {number:02}"] for number in range(folders)
    ]
    column = read_column(Caller(owner.pk), Rows())
    assert [entry.title for entry in column.entries] == ["Loose"]


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="asks SQLite how it reads")
def test_a_folder_is_listed_without_reading_all_of_it() -> None:
    """The indexes have the order of the lists and what is unread: nothing is read in vain."""
    owner = make.a_folder(make.a_user()).owner_id
    with CaptureQueriesContext(connection) as asked:
        list_in_folders(Caller(owner), {}, IN_FOLDER)
    plans = []
    for query in asked:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plans.append(" ".join(row[-1] for row in cursor.fetchall()))
    assert "folder_unread" in plans[0], plans[0]
    assert "folder_listed" in plans[1], plans[1]
    assert "TEMP B-TREE" not in plans[1], plans[1]
