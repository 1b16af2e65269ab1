"""Sockets of strangers, many at a time, cost nothing that members wait for."""

import asyncio

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore

from chat import services
from chat.consumers.consumer import LOGGED_OUT
from chat.services.people import log_ins
from tests.support import factories as make
from tests.support.site import Site
from tests.support.sockets import Closed, Wire
from tests.support.tabs import ORIGIN, Person, in_thread


@in_thread
def nobodys_sessions() -> list[str]:
    """Sessions that let nobody in: of strangers, and of people who may no longer come in."""
    empty = SessionStore()
    empty.create()
    ended = SessionStore()
    ended.create()
    ended.delete()
    return [str(empty.session_key), str(ended.session_key), "0" * 32]


async def cookies_of_strangers() -> list[str]:
    dora, eve = await in_thread(make.a_user)("dora"), await in_thread(make.a_user)("eve")
    jars = [(await Person(each).enter()).headers["cookie"] for each in (dora, eve)]
    await in_thread(User.objects.filter(pk=dora.pk).update)(is_active=False)
    await in_thread(eve.set_password)("another")
    await in_thread(eve.save)()
    name = settings.SESSION_COOKIE_NAME
    forged = [*await nobodys_sessions(), "", "x", "X" * 32, "0" * 4_000, '"\\000\\000"', "é" * 32]
    return [*jars, "", *(f"{name}={each}" for each in forged)]


async def closed_with(cookie: str, path: str) -> int:
    wire = Wire(path, {"cookie": cookie, "origin": ORIGIN})
    assert await wire.accepted()
    try:
        await wire.receive(patience=20)
    except Closed as closed:
        return closed.code
    finally:
        await wire.close()
    raise AssertionError("it is listened to")


async def test_they_are_sent_away_before_they_wait_in_line(site: Site) -> None:
    """64: here nobody gets through the line at all."""
    here = f"/ws/c/{site.talk.pk}/"
    cookies = await cookies_of_strangers()
    async with services.in_line(0), services.in_line(0):
        codes = [await closed_with(cookie, here) for cookie in cookies]
        codes.append(await closed_with("", "/ws/"))
    assert codes == [LOGGED_OUT] * len(codes)


async def test_however_many_come_at_once_their_sessions_are_read_together(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = settings.SESSION_COOKIE_NAME
    read: list[int] = []
    visitors = log_ins.visitors._read

    def counted(keys: list[str]) -> dict[str, int]:
        read.append(len(keys))
        return visitors(keys)

    monkeypatch.setattr(log_ins.visitors, "_read", counted)
    forged = [f"{name}={number:032x}" for number in range(300)]
    codes = await asyncio.gather(*(closed_with(cookie, "/ws/") for cookie in forged))
    assert set(codes) == {LOGGED_OUT}
    assert sum(read) == 300
    assert len(read) < 100


async def test_who_is_let_in_is_told_so_by_the_same_reading(site: Site) -> None:
    """Or everybody would be a stranger."""
    key = site.alice.client.cookies[settings.SESSION_COOKIE_NAME].value
    strange = await nobodys_sessions()
    found = await in_thread(log_ins._visitors)([key, *strange])
    assert found == {key: site.alice.user.pk}
