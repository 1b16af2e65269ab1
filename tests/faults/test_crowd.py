"""R7: more pages than connections; nobody is told that something broke."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import psycopg
import pytest
from django.db import OperationalError
from django.test import RequestFactory

from chat.services import pool
from chatsite.crowd import AT_THE_DOORS, Crowd, in_order, server_error
from tests.crash.remote import House, fresh_database
from tests.support.model_server import ScriptedProvider, reply
from tests.support.waiting import eventually

PAGE = {"path": "/", "headers": [(b"accept-language", b"zh-CN")]}


class Pages:
    """An application whose pages are ready when it is told so."""

    def __init__(self) -> None:
        self.made, self.most, self.now = 0, 0, 0
        self.ready = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        if scope["path"] == "/export":
            await send({"type": "http.response.body", "body": b"begin", "more_body": True})
        try:
            await self.ready.wait()
        finally:
            self.now -= 1
        self.made += 1
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"whole"})


async def visit(application: Any, path: str = "/") -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await application({**PAGE, "path": path}, None, send)
    return sent


async def test_so_many_pages_are_made_at_once_and_the_others_wait() -> None:
    pages = Pages()
    orderly = Crowd(3).orderly(pages)
    visits = [asyncio.ensure_future(visit(orderly)) for _ in range(20)]
    await eventually(lambda: pages.now == 3)
    pages.ready.set()
    assert {(await each)[0]["status"] for each in visits} == {200}
    assert (pages.made, pages.most) == (20, 3)


async def test_who_waits_too_long_is_told_to_come_back() -> None:
    """In their language; probes and static files pass by, and a place is given back."""
    pages = Pages()
    orderly = Crowd(1, patience=0.05).orderly(pages)
    first = asyncio.ensure_future(visit(orderly))
    await eventually(lambda: pages.now == 1)
    start, body = await visit(orderly)
    assert start["status"] == 503
    assert dict(start["headers"])[b"retry-after"] == b"5"
    assert "现在太忙" in body["body"].decode()
    free = [asyncio.ensure_future(visit(orderly, path)) for path in ("/readyz", "/static/x.js")]
    await eventually(lambda: pages.now == 3)
    first.cancel()
    await asyncio.wait({first})
    pages.ready.set()
    assert (await visit(orderly))[0]["status"] == 200
    await asyncio.gather(*free)


async def test_whoever_wants_to_come_in_waits_for_others_at_the_door_and_nobody_inside_does() -> (
    None
):
    """S6: hundreds of log-ins at one moment took a thread and a connection each."""
    pages = Pages()
    orderly = in_order(pages)
    doors = ("/accounts/login/", "/admin/login/", "/enter/", "/accounts/reset/a/b/")
    strangers = [asyncio.ensure_future(visit(orderly, doors[at % 4])) for at in range(100)]
    await eventually(lambda: pages.now == AT_THE_DOORS)
    inside = ("/", "/c/1/", "/accounts/logout/", "/accounts/oidc/return/")
    members = [asyncio.ensure_future(visit(orderly, each)) for each in inside]
    await eventually(lambda: pages.now == AT_THE_DOORS + len(inside))
    pages.ready.set()
    for each in (*strangers, *members):
        assert (await each)[0]["status"] == 200
    assert pages.most == AT_THE_DOORS + len(inside)


async def test_a_long_download_keeps_no_place() -> None:
    pages = Pages()
    orderly = Crowd(1, patience=0.05).orderly(pages)
    download = asyncio.ensure_future(visit(orderly, "/export"))
    page = asyncio.ensure_future(visit(orderly))
    await eventually(lambda: pages.now == 2)
    pages.ready.set()
    assert (await page)[0]["status"] == 200
    await download


@pytest.mark.parametrize(
    ("failure", "status"), [(OperationalError("too many clients already"), 503), (KeyError(), 500)]
)
def test_a_database_that_takes_nobody_is_no_fault_of_ours(
    failure: Exception, status: int, rf: RequestFactory
) -> None:
    try:
        raise failure
    except (OperationalError, KeyError):
        assert server_error(rf.get("/")).status_code == status


def test_a_connection_that_the_server_has_cut_is_not_used(postgres_url: str) -> None:
    """One that was idle meanwhile: the next who needs it gets another."""

    class Wrapper:
        vendor, in_atomic_block, closings = "postgresql", False, 0
        connection: Any = None

        def close(self) -> None:
            self.closings += 1

    wrapper, look = Wrapper(), pool._drop_if_cut
    look(wrapper)  # type: ignore[arg-type]
    with psycopg.connect(postgres_url, autocommit=True) as other:
        wrapper.connection = psycopg.connect(postgres_url, autocommit=True)
        wrapper.connection.execute("SELECT 1")
        look(wrapper)  # type: ignore[arg-type]
        assert wrapper.closings == 0
        pid = wrapper.connection.info.backend_pid
        other.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    look(wrapper)  # type: ignore[arg-type]
    assert wrapper.closings == 1
    wrapper.connection.close()
    look(wrapper)  # type: ignore[arg-type]
    assert wrapper.closings == 2


@pytest.mark.full
async def test_a_rush_of_pages_keeps_to_its_connections(
    tmp_path: Any, scripted_provider: ScriptedProvider, postgres_url: str, redis_url: str
) -> None:
    """27, R7: 150 pages at once; then the server cuts every connection, and a send is answered."""
    scripted_provider.answer = reply("Hello, program.")
    database = fresh_database(postgres_url)
    settings = {
        "DATABASE_URL": database,
        "REDIS_URL": redis_url,
        "PARLEY_LIMIT_CONNECTIONS": "8",
    }
    house = House(tmp_path, scripted_provider.base_url, settings)
    with house.served() as server, psycopg.connect(database, autocommit=True) as watcher:
        watch = """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""
        house.rows("faults")
        most = 0

        async def look_on(done: Callable[[], bool]) -> None:
            nonlocal most
            while not done():
                [count] = watcher.execute(watch).fetchone() or [0]
                most = max(most, count)
                await asyncio.sleep(0.01)

        limits = httpx.Limits(max_connections=200)
        headers = {"Cookie": house.cookie}
        async with httpx.AsyncClient(timeout=120, limits=limits, headers=headers) as client:
            url = f"{server.url}/c/{house.conversation}/"
            pages = [asyncio.ensure_future(client.get(url)) for _ in range(150)]
            await look_on(lambda: all(page.done() for page in pages))
        codes = [page.result().status_code for page in pages]
        print(
            f"\n{codes.count(200)} of 150 pages, {codes.count(503)} sent away, {most} connections"
        )
        assert set(codes) <= {200, 503}
        assert codes.count(200) >= 8
        # Those of pages that were just made are about to end.
        assert most <= 2 * 8
        one = await server.program()
        watcher.execute(
            """SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()"""
        )
        begun = await one.send("Hello")
        assert begun["ok"], begun
        assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
        await one.close()
    assert house.rows("faults") == []
