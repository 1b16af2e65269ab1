"""Search engines: one function each, from a question to hits, or to a failure that says why."""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from html import unescape
from typing import Any, Final

import httpx

from chat.protocol.displays import SearchHit
from chat.protocol.errors import ToolFailure
from chat.protocol.interfaces import SearchEngine, SearchKind
from chat.protocol.reasons import reason
from chat.protocol.text import clean_text

logger = logging.getLogger(__name__)

# What the model is told; the person reads the reason.
WITHOUT: Final = "Answer without searching and say that you could not search."
NOTHING: Final = "Nothing was found. Try other words once; otherwise answer without and say so."
UNREACHABLE: Final = f"The search engine could not be reached. {WITHOUT}"
REFUSED: Final = f"The search engine refuses for now: too many searches, or a captcha. {WITHOUT}"
WRONG_KEY: Final = f"The search engine does not accept the key of this site. {WITHOUT}"
UNREADABLE: Final = f"The search engine answered in a form that cannot be read. {WITHOUT}"

ADDRESSES: Final[Mapping[SearchKind, str]] = {
    "brave": "https://api.search.brave.com/res/v1/web/search",
    "tavily": "https://api.tavily.com/search",
}
_LARGEST: Final = 3_000_000
REGION: Final = "wt-wt"
# What DuckDuckGo's page has when it wants to see a person, and when it has found nothing.
_CAPTCHA: Final = re.compile(r"anomaly-modal|anomaly\.js|challenge-form|cc=botnet", re.IGNORECASE)
_EMPTY: Final = re.compile(r"no-results|id=.links.", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^>]{1,200}>")

Hits = tuple[SearchHit, ...]


def nothing() -> ToolFailure:
    return ToolFailure(NOTHING, reason("search_nothing"))


def unreachable() -> ToolFailure:
    return ToolFailure(UNREACHABLE, reason("search_unreachable"))


def refused() -> ToolFailure:
    return ToolFailure(REFUSED, reason("search_refused"))


def unreadable() -> ToolFailure:
    return ToolFailure(UNREADABLE, reason("search_unreadable"))


# --- DuckDuckGo, which has no API: its page for browsers without scripts ------------


def ask_duckduckgo(
    query: str,
    count: int,
    *,
    url: str | None,
    timeout: float,
    region: str = REGION,
) -> Hits:
    """Blocks. ddgs itself takes a captcha, a changed page and an empty one for the same."""
    # Imported late: it brings 27 MB that an installation without searching never needs.
    from ddgs.engines.duckduckgo import Duckduckgo
    from ddgs.exceptions import DDGSException

    engine = Duckduckgo(timeout=max(int(timeout), 1))
    asked = engine.build_payload(query, region, "moderate", None)
    try:
        answer = engine.http_client.request("POST", url or engine.search_url, data=asked)
    except DDGSException as error:
        logger.info("DuckDuckGo could not be reached: %s", type(error).__name__)
        raise unreachable() from error
    page: str = answer.text
    if answer.status_code != 200 or _CAPTCHA.search(page):
        raise refused()
    found = engine.post_extract_results(engine.extract_results(page)) if page.strip() else []
    hits = _hits((row.title, row.href, row.body) for row in found)
    if not hits:
        raise nothing() if _EMPTY.search(page) else unreadable()
    return hits[:count]


# --- engines with an API ------------------------------------------------------------


async def ask_searxng(
    engine: SearchEngine, query: str, count: int, client: httpx.AsyncClient
) -> Hits:
    address = f"{engine.base_url.rstrip('/').removesuffix('/search')}/search"
    headers = {"authorization": f"Bearer {engine.api_key}"} if engine.api_key else {}
    asked = {"q": query, "format": "json", "safesearch": "1"}
    answer = await _json(client, "GET", address, params=asked, headers=headers)
    return _read(answer.get("results"), "content", count)


async def ask_brave(
    engine: SearchEngine, query: str, count: int, client: httpx.AsyncClient
) -> Hits:
    asked = {"q": query, "count": str(count)}
    headers = {"x-subscription-token": engine.api_key, "accept": "application/json"}
    address = engine.base_url or ADDRESSES["brave"]
    answer = await _json(client, "GET", address, params=asked, headers=headers)
    web = answer.get("web")
    # Without a hit the answer has no such list.
    results = web.get("results") if isinstance(web, dict) else [] if "query" in answer else None
    return _read(results, "description", count)


async def ask_tavily(
    engine: SearchEngine, query: str, count: int, client: httpx.AsyncClient
) -> Hits:
    headers = {"authorization": f"Bearer {engine.api_key}"}
    address = engine.base_url or ADDRESSES["tavily"]
    asked = {"query": query, "max_results": count}
    answer = await _json(client, "POST", address, json=asked, headers=headers)
    return _read(answer.get("results"), "content", count)


Ask = Callable[[SearchEngine, str, int, httpx.AsyncClient], Awaitable[Hits]]
ENGINES: Final[Mapping[SearchKind, Ask]] = {
    "searxng": ask_searxng,
    "brave": ask_brave,
    "tavily": ask_tavily,
}


async def ask_engine(engine: SearchEngine, query: str, count: int) -> Hits:
    """How long it may take is the caller's to say."""
    async with httpx.AsyncClient(timeout=None, follow_redirects=False) as client:
        return await ENGINES[engine.kind](engine, query, count, client)


async def _json(
    client: httpx.AsyncClient, method: str, address: str, **asked: Any
) -> dict[str, Any]:
    """The answer; never with the library's own texts, which may hold the key."""
    try:
        async with client.stream(method, address, **asked) as response:
            if response.status_code != 200:
                raise _refusal(response.status_code)
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _LARGEST:
                    raise unreadable()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        logger.info("The search engine could not be reached: %s", type(error).__name__)
        raise unreachable() from None
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise unreadable() from None
    if not isinstance(answer, dict):
        raise unreadable()
    return answer


def _refusal(status: int) -> ToolFailure:
    logger.info("The search engine answered with status %s", status)
    if status in (401, 402):
        return ToolFailure(WRONG_KEY, reason("search_key"))
    # 403 is SearXNG whose JSON is switched off, 432 and 433 are Tavily's limits.
    return refused() if status in (403, 422, 429, 432, 433) else unreachable()


def _read(results: Any, text: str, count: int) -> Hits:
    if not isinstance(results, list):
        raise unreadable()
    rows = [row for row in results if isinstance(row, dict)]
    hits = _hits((row.get("title"), row.get("url"), row.get(text)) for row in rows)
    if not hits:
        raise nothing()
    return hits[:count]


def _hits(rows: Iterable[tuple[Any, Any, Any]]) -> Hits:
    """Only what can be followed; each address once."""
    found: dict[str, SearchHit] = {}
    for title, address, text in rows:
        url = clean_text(str(address or "")).strip()
        if url.lower().startswith(("http://", "https://")) and url not in found:
            found[url] = SearchHit(title=_plain(title) or url, url=url, text=_plain(text))
    return tuple(found.values())


def _plain(text: Any) -> str:
    """Some engines mark the words that were searched for with tags."""
    return " ".join(unescape(_TAG.sub("", clean_text(str(text or "")))).split())
