"""67: a server that is used without a pause holds no more afterwards than before.

`PARLEY_SOAK_MINUTES` says for how long (20); two minutes say something, too.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.crash.remote import House, Server, fresh_database
from tests.faults.test_redis_link import commands
from tests.soak.churn import Churn, answer
from tests.soak.readings import Reading, growth
from tests.support.model_server import ScriptedProvider
from tests.support.redis import Redis
from tests.support.waiting import PATIENCE, eventually

MINUTES = float(os.environ.get("PARLEY_SOAK_MINUTES", "20"))
READINGS = 24
TOKEN = "a-token-of-the-operator"


class Looker:
    """Looks at a server from outside, while nobody uses it."""

    def __init__(self, server: Server, redis: Redis | None, database: str) -> None:
        self.server, self.redis, self.database = server, redis, database
        self.proc = Path("/proc", str(server.process.pid))

    async def read(self, turns: int) -> Reading:
        """Once all sockets are closed, all answers written and all threads idle."""
        async with asyncio.timeout(PATIENCE):
            while await self._is_busy():  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        looks = []
        for _ in range(8):
            looks.append(await self._look(turns))
            await asyncio.sleep(0.25)
        return Reading.least(looks)

    async def _is_busy(self) -> bool:
        told = await self._metrics()
        return any(told[name] for name in BUSY)

    async def _look(self, turns: int) -> Reading:
        status = dict(
            line.split(":", 1) for line in (self.proc / "status").read_text().splitlines()
        )
        return Reading(
            turns=turns,
            memory=int(status["VmRSS"].split()[0]),
            threads=int(status["Threads"]),
            descriptors=len(list((self.proc / "fd").iterdir())),
            tasks=round((await self._metrics())["parley_tasks"]),
            database=await asyncio.to_thread(self._database),
            redis=self._redis(),
        )

    async def _metrics(self) -> dict[str, float]:
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            told = await client.get(f"{self.server.url}/metrics", headers=headers)
        sums: dict[str, float] = {}
        for family in text_string_to_metric_families(told.text):
            for sample in family.samples:
                sums[sample.name] = sums.get(sample.name, 0) + sample.value
        return sums

    def _database(self) -> int:
        if not self.database:
            return sum(name.endswith("/db.sqlite3") for name in _names(self.proc / "fd"))
        import psycopg

        with psycopg.connect(self.database, autocommit=True) as watcher:
            row = watcher.execute(
                """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                    AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""
            ).fetchone()
        return int(row[0]) if row else 0

    def _redis(self) -> int:
        if self.redis is None:
            return 0
        told = commands(self.redis, "INFO", "clients")
        return int(told.split("connected_clients:", 1)[1].split("\r", 1)[0])


BUSY = ("parley_sockets", "parley_running_answers", "parley_thread_queue")


def _names(descriptors: Path) -> Iterator[str]:
    for each in descriptors.iterdir():
        # One may be closed before it is looked at.
        with suppress(FileNotFoundError):
            yield str(each.readlink())


@pytest.mark.full
@pytest.mark.parametrize("on", ["sqlite", "postgresql"])
async def test_a_server_that_is_used_all_the_time_holds_no_more(
    on: str, tmp_path: Path, scripted_provider: ScriptedProvider, request: pytest.FixtureRequest
) -> None:
    scripted_provider.answer = answer
    settings = {"PARLEY_METRICS_TOKEN": TOKEN, "PARLEY_TITLES": "first"}
    redis = None
    if on == "postgresql":
        redis = request.getfixturevalue("own_redis")
        database = fresh_database(request.getfixturevalue("postgres_url"))
        settings |= {"DATABASE_URL": database, "REDIS_URL": redis.url}
    house = House(tmp_path, scripted_provider.base_url, settings)
    readings: list[Reading] = []
    with house.served("daphne" if on == "sqlite" else "uvicorn") as server:
        looker = Looker(server, redis, settings.get("DATABASE_URL", ""))
        churn = Churn(server)
        for _ in range(READINGS):
            end = time.monotonic() + 60 * MINUTES / READINGS
            await churn.until(lambda end=end: time.monotonic() > end)  # type: ignore[misc]
            scripted_provider.requests.clear()
            readings.append(await looker.read(churn.turns))
            print(readings[-1], flush=True)
        log = server.log.read_text()
    assert churn.faults == []
    assert "Traceback" not in log, log[-3000:]
    assert growth(readings) == []
    assert house.rows("faults") == []
    await eventually(lambda: not scripted_provider.connections)
