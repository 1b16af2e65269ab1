"""A11: DuckDuckGo through ddgs, against a page on loopback."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from chat.protocol.displays import SearchDisplay
from chat.protocol.errors import ToolFailure
from chat.protocol.interfaces import ToolContext, ToolResult
from chat.protocol.reasons import reason
from chat.tools import registry, web_search
from chat.tools.pool import ThreadPool
from chat.tools.registry import ToolLimits
from chat.tools.search_engines import NOTHING, REFUSED, UNREACHABLE, UNREADABLE
from chat.tools.web_search import BUSY, Search
from tests.support.search_server import DuckDuckGo, running_duckduckgo
from tests.support.waiting import PATIENCE, eventually


@pytest.fixture
def duck(monkeypatch: pytest.MonkeyPatch) -> Iterator[DuckDuckGo]:
    with running_duckduckgo() as page:
        quick = Search(url=page.url, timeout=PATIENCE, pace=0, pool=ThreadPool(2))
        monkeypatch.setattr(web_search, "search", quick)
        yield page


async def search(context: ToolContext, query: str, **more: int) -> ToolResult:
    box = registry.toolbox(["duckduckgo_search"])
    return await box.run("duckduckgo_search", {"query": query, **more}, context)


@pytest.fixture
def way_out(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """The only way out of this machine, which writes down who is asked and lets nobody through."""
    asked: list[bytes] = []

    def stand() -> None:
        while True:
            try:
                caller, _ = door.accept()
            except OSError:
                return
            with caller:
                asked.append(caller.recv(4_000).split(b"\r\n")[0])
                caller.sendall(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as door:
        for scheme in ("HTTP", "HTTPS", "ALL"):
            address = f"http://127.0.0.1:{door.getsockname()[1]}"
            monkeypatch.setenv(f"{scheme}_PROXY", address)
        threading.Thread(target=stand, daemon=True).start()
        yield asked
        door.shutdown(socket.SHUT_RDWR)


async def test_nobody_but_the_engine_is_told_what_is_searched(
    way_out: list[bytes], context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """71: the library knows a dozen engines, and asks them all where nobody says otherwise."""
    monkeypatch.setattr(web_search, "search", Search(pace=0, pool=ThreadPool(2)))
    assert (await search(context, "hens")).is_error
    assert set(way_out) == {b"CONNECT html.duckduckgo.com:443 HTTP/1.1"}


async def test_an_administrator_sets_the_region(duck: DuckDuckGo, context: ToolContext) -> None:
    limits = {"duckduckgo_search": ToolLimits(own={"region": "cn-zh"})}
    box = registry.toolbox(["duckduckgo_search"], limits=limits)
    await box.run("duckduckgo_search", {"query": "django"}, context)
    # What was answered for another region is not taken for this one's.
    await search(context, "django")
    assert [asked["l"] for asked in duck.asked] == ["cn-zh", "wt-wt"]


async def test_five_results_of_the_whole_world(duck: DuckDuckGo, context: ToolContext) -> None:
    """A11"""
    result = await search(context, "django   channels")
    assert not result.is_error, result.text
    assert duck.asked == [{"q": "django channels", "b": "", "l": "wt-wt"}]
    assert isinstance(result.display, SearchDisplay)
    assert result.display.query == "django channels"
    hits = result.display.hits
    assert len(hits) == 5
    assert all(hit.url.startswith("http") and "y.js" not in hit.url for hit in hits)
    first = hits[0]
    assert result.text.startswith(f"1. {first.title}\n   {first.url}\n   {first.text}\n\n2. ")
    assert "javascript:" not in result.text
    assert result.title == "django channels"


async def test_the_model_may_ask_for_fewer_but_not_for_hundreds(
    duck: DuckDuckGo, context: ToolContext
) -> None:
    two = await search(context, "channels", max_results=2)
    assert isinstance(two.display, SearchDisplay)
    assert len(two.display.hits) == 2
    assert "max_results" in (await search(context, "channels", max_results=100)).text


@pytest.mark.parametrize("status", [202, 403, 429, 500])
async def test_a_refusal_is_told_to_the_model(
    duck: DuckDuckGo, context: ToolContext, status: int
) -> None:
    duck.status = status
    assert await search(context, "channels") == ToolResult.failed(REFUSED, reason("search_refused"))
    duck.status = 200
    assert not (await search(context, "channels")).is_error, "a failure is not remembered"


async def test_nothing_found_is_told_to_the_model(duck: DuckDuckGo, context: ToolContext) -> None:
    duck.rows = ()
    assert await search(context, "channels") == ToolResult.failed(NOTHING, reason("search_nothing"))
    duck.rows = (("Bad", "ftp://files.example.org/", "channels"),)
    assert await search(context, "channels") == ToolResult.failed(NOTHING, reason("search_nothing"))


CAPTCHA = """<html><body><form id="challenge-form"><div class="anomaly-modal__title">Unfortunately,
bots use DuckDuckGo too.</div></form></body></html>"""


@pytest.mark.parametrize(
    ("page", "failure"),
    [
        (CAPTCHA, ToolResult.failed(REFUSED, reason("search_refused"))),
        (
            '<div class="result--no-result"><div class="no-results">No results.</div></div>',
            ToolResult.failed(NOTHING, reason("search_nothing")),
        ),
        (
            "<html><main><article><a href='https://a.example/'>new</a></article></main></html>",
            ToolResult.failed(UNREADABLE, reason("search_unreadable")),
        ),
        (" ", ToolResult.failed(UNREADABLE, reason("search_unreadable"))),
    ],
    ids=["captcha", "empty", "changed", "blank"],
)
async def test_each_other_page_is_a_reason_of_its_own(
    duck: DuckDuckGo, context: ToolContext, page: str, failure: ToolResult
) -> None:
    duck.html = page
    assert await search(context, "channels") == failure


async def test_a_page_that_never_comes_ends_in_time(duck: DuckDuckGo, context: ToolContext) -> None:
    duck.hang = True
    web_search.search.timeout = 0.8
    assert await search(context, "channels") == ToolResult.failed(
        UNREACHABLE, reason("search_unreachable")
    )
    # We gave up, not ddgs, which waits for a second at least: its thread is left behind.
    assert web_search.search.pool.stuck == 1


async def test_ddgs_giving_up_first_is_the_same(duck: DuckDuckGo, context: ToolContext) -> None:
    duck.hang = True
    web_search.search.timeout = 1.9
    assert await search(context, "channels") == ToolResult.failed(
        UNREACHABLE, reason("search_unreachable")
    )


async def test_no_connection_is_told_to_the_model(duck: DuckDuckGo, context: ToolContext) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        web_search.search.url = f"http://127.0.0.1:{unused.getsockname()[1]}/html/"
        assert await search(context, "channels") == ToolResult.failed(
            UNREACHABLE, reason("search_unreachable")
        )


async def test_the_same_question_is_asked_once(duck: DuckDuckGo, context: ToolContext) -> None:
    first = await search(context, "channels")
    second = await search(context, " CHANNELS ")
    assert len(duck.asked) == 1
    assert first.text == second.text
    web_search.search.keep = 0
    await search(context, "other")
    await search(context, "other")
    assert len(duck.asked) == 3


async def test_it_remembers_only_so_much(duck: DuckDuckGo, context: ToolContext) -> None:
    web_search.search.remembered = 1
    for query in ("channels one", "channels two", "channels one"):
        await search(context, query)
    assert len(duck.asked) == 3


async def test_searches_keep_their_distance_and_a_long_queue_is_refused(
    duck: DuckDuckGo, context: ToolContext
) -> None:
    # Only the second may wait for its turn.
    web_search.search.pace, web_search.search.patience = 1, 1
    began = time.monotonic()
    results = await asyncio.gather(*(search(context, f"channels {n}") for n in range(4)))
    assert time.monotonic() - began >= 1
    assert [result.text for result in results if result.is_error] == [BUSY, BUSY]
    assert len(duck.asked) == 2


async def test_an_empty_query_is_not_asked_and_a_long_one_cut(
    duck: DuckDuckGo, context: ToolContext
) -> None:
    assert "query" in (await search(context, " \n ")).text
    await search(context, "channels " * 100)
    assert [len(asked["q"]) for asked in duck.asked] == [400]


async def test_stuck_searches_do_not_hang_the_next(duck: DuckDuckGo) -> None:
    duck.hang = True
    pool = ThreadPool(1)
    stuck = Search(url=duck.url, timeout=PATIENCE, pace=0, pool=pool)
    waiting = asyncio.create_task(stuck.hits("channels", 5))
    await eventually(lambda: bool(duck.asked))
    waiting.cancel()
    await asyncio.wait({waiting})
    with pytest.raises(ToolFailure, match="stuck"):
        await stuck.hits("channels", 5)


def test_the_site_can_point_the_search_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_search, "search", Search())
    web_search.configure(url="http://127.0.0.1:9/html/", timeout=4)
    assert (web_search.search.url, web_search.search.timeout) == ("http://127.0.0.1:9/html/", 4)
    web_search.configure()
    assert (web_search.search.url, web_search.search.timeout) == (None, 10)
