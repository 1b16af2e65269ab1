"""Searching the web by DuckDuckGo, through ddgs."""

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from chat.protocol.displays import SearchDisplay, SearchHit
from chat.protocol.errors import ToolFailure
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolResult
from chat.protocol.reasons import reason
from chat.protocol.text import clean_text
from chat.tools.pool import POOL, ThreadPool
from chat.tools.registry import tool

logger = logging.getLogger(__name__)

RESULTS = 5
MAX_RESULTS = 10
MAX_QUERY = 400
REGION = "wt-wt"
# DuckDuckGo answers "too fast" and "nothing found" alike, so the model is told of both.
NOTHING = (
    "No results: nothing was found, or the search engine refuses for now. "
    "Try other words once; otherwise answer without searching and say so."
)
UNREACHABLE = (
    "The search engine could not be reached. Answer without searching and say that you could not."
)
BUSY = "Too many searches at once. Answer without searching and say so, or try again later."


@dataclass
class Search:
    """Asks at most once per `pace` seconds and remembers answers for `keep` seconds."""

    url: str | None = None  # another address of the html endpoint; ddgs's own when None
    timeout: float = 10.0
    pace: float = 1.0
    patience: float = 8.0
    keep: float = 300.0
    remembered: int = 100
    pool: ThreadPool = field(default_factory=lambda: POOL)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _free_at: float = 0.0
    _answers: "OrderedDict[tuple[str, int], tuple[float, tuple[SearchHit, ...]]]" = field(
        default_factory=OrderedDict
    )

    async def hits(self, query: str, count: int) -> tuple[SearchHit, ...]:
        key = (query.casefold(), count)
        if (known := self._recall(key)) is not None:
            return known
        await asyncio.sleep(self._turn())
        try:
            async with asyncio.timeout(self.timeout):
                found = await self.pool.run(lambda: self._ask(query, count))
        except TimeoutError:
            raise _unreachable() from None
        self._remember(key, found)
        return found

    def _turn(self) -> float:
        """How long to wait for our turn; a queue longer than our patience is refused."""
        with self._lock:
            now = time.monotonic()
            wait = max(self._free_at - now, 0.0)
            if wait > self.patience:
                raise ToolFailure(BUSY, reason("search_busy"))
            self._free_at = now + wait + self.pace
        return wait

    def _recall(self, key: tuple[str, int]) -> tuple[SearchHit, ...] | None:
        with self._lock:
            until, hits = self._answers.get(key, (0.0, ()))
            return hits if until > time.monotonic() else None

    def _remember(self, key: tuple[str, int], hits: tuple[SearchHit, ...]) -> None:
        with self._lock:
            self._answers[key] = (time.monotonic() + self.keep, hits)
            self._answers.move_to_end(key)
            while len(self._answers) > self.remembered:
                self._answers.popitem(last=False)

    def _ask(self, query: str, count: int) -> tuple[SearchHit, ...]:
        # Imported late: it brings 27 MB that an installation without searching never needs.
        from ddgs import DDGS
        from ddgs.engines.duckduckgo import Duckduckgo
        from ddgs.exceptions import DDGSException

        if self.url is not None:
            Duckduckgo.search_url = self.url
        try:
            rows = DDGS(timeout=max(int(self.timeout), 1)).text(
                query, region=REGION, max_results=count, backend="duckduckgo"
            )
        except DDGSException as error:
            logger.info("Search gave nothing: %s", error)
            # ddgs says "No results found." for every answer; anything else is no answer.
            raise (_nothing() if "No results" in str(error) else _unreachable()) from error
        hits = tuple(hit for row in rows if (hit := _hit(row)))
        if not hits:
            raise _nothing()
        return hits[:count]


def _nothing() -> ToolFailure:
    return ToolFailure(NOTHING, reason("search_nothing"))


def _unreachable() -> ToolFailure:
    return ToolFailure(UNREACHABLE, reason("search_unreachable"))


def _hit(row: dict[str, Any]) -> SearchHit | None:
    url = clean_text(str(row.get("href", ""))).strip()
    if not url.lower().startswith(("http://", "https://")):
        return None
    title, text = (clean_text(str(row.get(key, ""))).strip() for key in ("title", "body"))
    return SearchHit(title=title or url, url=url, text=text)


def _listed(hits: tuple[SearchHit, ...]) -> str:
    return "\n\n".join(
        f"{number}. {hit.title}\n   {hit.url}\n   {hit.text}".rstrip()
        for number, hit in enumerate(hits, start=1)
    )


search = Search()


def configure(*, url: str | None = None, timeout: float | None = None) -> None:
    """What the settings of the site say about searching."""
    search.url = url or None
    search.timeout = timeout or Search.timeout


def _gist(arguments: JsonObject) -> str:
    return str(arguments["query"])


@tool(name="duckduckgo_search", icon="globe", timeout=25, gist=_gist)
async def duckduckgo_search(
    query: Annotated[str, "Words to search for"],
    max_results: Annotated[int, Field(ge=1, le=MAX_RESULTS), "How many results"] = RESULTS,
) -> ToolResult:
    """Search the web with DuckDuckGo: titles, addresses and excerpts of pages.

    Use it for recent or uncertain facts, and name the pages you used.
    """
    asked = " ".join(query.split())[:MAX_QUERY].strip()
    if not asked:
        raise ToolFailure("query: say what to search for", reason("search_no_words"))
    hits = await search.hits(asked, max_results)
    return ToolResult(_listed(hits), display=SearchDisplay(query=asked, hits=hits))
