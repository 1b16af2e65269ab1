"""R13: five hundred tabs come back in the same moment.

In the full run. That whoever sends or opens a page does not wait for all who come back is looked at
every day in `tests/live/test_returning.py`.
"""

import asyncio
import itertools
import time
from pathlib import Path

import httpx
import pytest

from tests.benchmark.load_tabs import IdleView
from tests.crash.remote import PLAIN, House
from tests.support.model_server import ScriptedProvider
from tests.support.page import LivePage
from tests.support.waiting import slowness

TABS = 500
TALKS = 100
ALL_BACK = 5.0
SLOWEST_PAGE = 1.0
LIMITS = {
    "PARLEY_LIMIT_SOCKETS_PER_USER": "1000",
    "PARLEY_LIMIT_FRAMES_PER_SECOND": "1000",
}


class Returning(IdleView):
    """A tab that shows all that there is, and says so when it comes back."""

    shown: dict[str, object]
    column: dict[str, object] | None

    def greeting(self) -> dict[str, object]:
        return {"shown": self.shown, "column": self.column}

    async def come_back(self) -> None:
        self.attached = asyncio.get_running_loop().create_future()
        self.failed = ""
        await self.open()

    def lose(self) -> None:
        """As a network does that is gone: nothing is said."""
        self.socket.transport.abort()


async def load_pages(client: httpx.AsyncClient, path: str, took: list[float]) -> None:
    while True:
        begun = time.monotonic()
        assert (await client.get(path)).status_code == 200
        took.append(time.monotonic() - begun)
        await asyncio.sleep(0.1)


@pytest.mark.full
@pytest.mark.parametrize("by", ["daphne", "uvicorn"])
async def test_five_hundred_tabs_come_back_at_once(
    by: str, tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    house = House(tmp_path, scripted_provider.base_url, LIMITS)
    talks = house.rows("talks", str(TALKS), "12")
    with house.served(by) as server:
        headers = {"Cookie": house.cookie}
        async with httpx.AsyncClient(
            base_url=server.url, headers=headers, timeout=60, verify=PLAIN
        ) as client:
            pages = {talk: LivePage((await client.get(f"/c/{talk}/")).text) for talk in talks}
            tabs = []
            for talk in itertools.islice(itertools.cycle(talks), TABS):
                tab = Returning(
                    {
                        "url": f"{server.url.replace('http', 'ws')}/ws/c/{talk}/",
                        "origin": server.url,
                        "cookie": house.cookie,
                    }
                )
                tab.shown, tab.column = pages[talk].shown(), pages[talk].column()
                tabs.append(tab)
            for at in range(0, TABS, 10):
                await asyncio.gather(*(tab.open() for tab in tabs[at : at + 10]))
            slow = await slowness(lambda: client.get(f"/c/{talks[0]}/"))

            for tab in tabs:
                tab.lose()
            took: list[float] = []
            beside = asyncio.ensure_future(load_pages(client, f"/c/{talks[0]}/", took))
            begun = time.monotonic()
            await asyncio.gather(*(tab.come_back() for tab in tabs))
            returned = time.monotonic() - begun
            beside.cancel()
            assert [tab.failed for tab in tabs if tab.failed] == []
            for tab in tabs:
                tab.socket.close()
        assert "Traceback" not in server.log.read_text()
    print(
        f"\n{TABS} tabs at {by} back after {returned:.2f} s; beside them {len(took)} pages, "
        f"the slowest {max(took):.2f} s"
    )
    assert returned < ALL_BACK + slow
    assert max(took) < SLOWEST_PAGE + slow
    assert house.rows("faults") == []
