"""Searching the web: by DuckDuckGo, or by the engine that an administrator has set."""

import asyncio
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

from pydantic import Field

from chat.protocol.displays import SearchDisplay
from chat.protocol.errors import ToolFailure
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import SearchEngine, ToolContext, ToolResult
from chat.protocol.reasons import reason
from chat.tools.own_settings import OwnSettings
from chat.tools.pool import POOL, ThreadPool
from chat.tools.registry import tool
from chat.tools.search_engines import REGION, Hits, ask_duckduckgo, ask_engine, unreachable


class SearchSettings(OwnSettings):
    """Of DuckDuckGo; other engines are set up as search engines."""

    region: Annotated[
        str,
        Field(pattern=r"^[a-z]{2}-[a-z]{2}$"),
        "Region",
        "Of DuckDuckGo, such as us-en, de-de or cn-zh. Empty is everywhere.",
    ] = REGION


RESULTS = 5
MAX_RESULTS = 10
MAX_QUERY = 400
BUSY = "Too many searches at once. Answer without searching and say so, or try again later."

Key = tuple[str, str, str, int, SearchSettings]


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
    _answers: "OrderedDict[Key, tuple[float, Hits]]" = field(default_factory=OrderedDict)

    async def hits(
        self,
        query: str,
        count: int,
        engine: SearchEngine | None = None,
        settings: SearchSettings | None = None,
    ) -> Hits:
        engine, settings = engine or SearchEngine(), settings or SearchSettings()
        key = (engine.kind, engine.base_url, query.casefold(), count, settings)
        if (known := self._recall(key)) is not None:
            return known
        try:
            found = await self._ask(query, count, engine, settings)
        except TimeoutError:
            raise unreachable() from None
        self._remember(key, found)
        return found

    async def _ask(
        self, query: str, count: int, engine: SearchEngine, settings: SearchSettings
    ) -> Hits:
        if engine.kind != "duckduckgo":
            async with asyncio.timeout(self.timeout):
                return await ask_engine(engine, query, count)
        # It has no key by which it would know us: who asks too fast is shown a captcha.
        await asyncio.sleep(self._turn())
        ask = partial(
            ask_duckduckgo,
            query,
            count,
            url=self.url,
            timeout=self.timeout,
            region=settings.region,
        )
        async with asyncio.timeout(self.timeout):
            return await self.pool.run(ask)

    def _turn(self) -> float:
        """How long to wait for our turn; a queue longer than our patience is refused."""
        with self._lock:
            now = time.monotonic()
            wait = max(self._free_at - now, 0.0)
            if wait > self.patience:
                raise ToolFailure(BUSY, reason("search_busy"))
            self._free_at = now + wait + self.pace
        return wait

    def _recall(self, key: Key) -> Hits | None:
        with self._lock:
            until, hits = self._answers.get(key, (0.0, ()))
            return hits if until > time.monotonic() else None

    def _remember(self, key: Key, hits: Hits) -> None:
        with self._lock:
            self._answers[key] = (time.monotonic() + self.keep, hits)
            self._answers.move_to_end(key)
            while len(self._answers) > self.remembered:
                self._answers.popitem(last=False)


def _listed(hits: Hits) -> str:
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


@tool(
    name="duckduckgo_search",
    icon="globe",
    timeout=25,
    gist=_gist,
    effects=False,
    from_outside=True,
)
async def duckduckgo_search(
    query: Annotated[str, "Words to search for"],
    context: ToolContext,
    settings: SearchSettings,
    max_results: Annotated[int, Field(ge=1, le=MAX_RESULTS), "How many results"] = RESULTS,
) -> ToolResult:
    """Search the web: titles, addresses and excerpts of pages.

    Use it for recent or uncertain facts, and name the pages you used.
    """
    asked = " ".join(query.split())[:MAX_QUERY].strip()
    if not asked:
        raise ToolFailure("query: say what to search for", reason("search_no_words"))
    hits = await search.hits(asked, max_results, context.search_engine, settings)
    return ToolResult(_listed(hits), display=SearchDisplay(query=asked, hits=hits))
