"""SearXNG, Brave and Tavily, each on its own wire, against a server on loopback."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from chat.protocol.displays import SearchDisplay, SearchHit
from chat.protocol.interfaces import SearchEngine, SearchKind, ToolContext, ToolResult
from chat.tools import registry, web_search
from chat.tools.web_search import Search
from tests.support.search_server import Engine, running_engine
from tests.support.waiting import PATIENCE

KEY = "key-0123456789"
ROWS = (
    ("Tides", "https://tides.example/", "The tide turns <strong>twice</strong> a day &amp; night."),
    ("Bad", "javascript:alert(1)", "No page."),
    ("Tides", "https://tides.example/", "The same again."),
    ("", "http://pages.example/2", "Without a title."),
)
HITS = (
    SearchHit(
        title="Tides", url="https://tides.example/", text="The tide turns twice a day & night."
    ),
    SearchHit(
        title="http://pages.example/2", url="http://pages.example/2", text="Without a title."
    ),
)


def rows(text: str) -> list[dict[str, str]]:
    return [{"title": title, "url": url, text: body} for title, url, body in ROWS]


ANSWERS: dict[SearchKind, Any] = {
    "searxng": {"query": "tides", "results": rows("content"), "answers": []},
    "brave": {"type": "search", "query": {}, "web": {"results": rows("description")}},
    "tavily": {"query": "tides", "results": rows("content"), "response_time": 1.2},
}
EMPTY: dict[SearchKind, Any] = {
    "searxng": {"results": []},
    "brave": {"type": "search", "query": {}},
    "tavily": {"results": []},
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(web_search, "search", Search(timeout=PATIENCE))
    with running_engine() as server:
        yield server


@pytest.fixture(params=ANSWERS)
def engine(request: pytest.FixtureRequest, server: Engine) -> SearchEngine:
    server.answer = ANSWERS[request.param]
    return SearchEngine(request.param, server.url, KEY)


async def search(context: ToolContext, engine: SearchEngine, query: str = "tides") -> ToolResult:
    box = registry.toolbox(["duckduckgo_search"])
    asking = replace(context, search_engine=engine)
    return await box.run("duckduckgo_search", {"query": query, "max_results": 3}, asking)


async def test_what_it_finds_is_listed(context: ToolContext, engine: SearchEngine) -> None:
    result = await search(context, engine)
    assert isinstance(result.display, SearchDisplay), result.text
    assert result.display.hits == HITS
    assert result.text.startswith("1. Tides\n   https://tides.example/\n   The tide turns twice")


async def test_searxng_is_asked_for_json(context: ToolContext, server: Engine) -> None:
    server.answer = ANSWERS["searxng"]
    for address in (server.url, f"{server.url}/", f"{server.url}/search"):
        await search(context, SearchEngine("searxng", address))
    assert [asked.path for asked in server.asked] == ["/search"] * 3
    assert server.asked[0].query["q"] == "tides"
    assert server.asked[0].query["format"] == "json"
    assert "authorization" not in server.asked[0].headers


async def test_brave_and_tavily_are_asked_with_the_key(
    context: ToolContext, server: Engine
) -> None:
    server.answer = ANSWERS["brave"]
    await search(context, SearchEngine("brave", f"{server.url}/res/v1/web/search", KEY))
    server.answer = ANSWERS["tavily"]
    await search(context, SearchEngine("tavily", f"{server.url}/search", KEY))
    brave, tavily = server.asked
    assert (brave.method, brave.path) == ("GET", "/res/v1/web/search")
    assert brave.query == {"q": "tides", "count": "3"}
    assert brave.headers["x-subscription-token"] == KEY
    assert (tavily.method, tavily.body) == ("POST", {"query": "tides", "max_results": 3})
    assert tavily.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("status", "key"),
    [
        (401, "search_key"), (403, "search_refused"), (429, "search_refused"),
        (432, "search_refused"), (500, "search_unreachable"), (302, "search_unreachable"),
    ],
)  # fmt: skip
async def test_a_refusal_is_told_and_not_remembered(
    context: ToolContext, engine: SearchEngine, server: Engine, status: int, key: str
) -> None:
    server.status = status
    result = await search(context, engine)
    assert [each.key for each in result.reasons] == [key]
    assert KEY not in result.text
    server.status = 200
    assert not (await search(context, engine)).is_error


async def test_an_answer_without_hits_and_one_that_cannot_be_read(
    context: ToolContext, engine: SearchEngine, server: Engine
) -> None:
    server.answer = EMPTY[engine.kind]
    assert (await search(context, engine)).reasons[0].key == "search_nothing"
    odd = (
        b"<html>a captcha</html>",
        [],
        {"message": "other"},
        {"results": "x", "web": {}},
        b"[" * 9000,
    )
    for answer in odd:
        server.answer = answer
        result = await search(context, engine)
        assert [each.key for each in result.reasons] == ["search_unreadable"], answer
    server.answer = b"{" + b" " * 4_000_000 + b"}"
    assert (await search(context, engine)).reasons[0].key == "search_unreadable"


async def test_one_that_is_silent_or_not_there(
    context: ToolContext, engine: SearchEngine, server: Engine
) -> None:
    server.hang = True
    web_search.search.timeout = 0.5
    assert (await search(context, engine)).reasons[0].key == "search_unreachable"
    nobody = replace(engine, base_url="http://127.0.0.1:1")
    assert (await search(context, nobody)).reasons[0].key == "search_unreachable"
    wrong = replace(engine, base_url="http://[")
    assert (await search(context, wrong)).reasons[0].key == "search_unreachable"


async def test_engines_do_not_answer_for_each_other(context: ToolContext, server: Engine) -> None:
    server.answer = ANSWERS["searxng"]
    await search(context, SearchEngine("searxng", server.url))
    await search(context, SearchEngine("searxng", server.url))
    assert len(server.asked) == 1
    await search(context, SearchEngine("tavily", server.url, KEY))
    assert len(server.asked) == 2


def test_a_key_is_not_printed() -> None:
    assert KEY not in repr(SearchEngine("brave", "", KEY))
