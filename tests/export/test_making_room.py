"""An export that takes long keeps nobody from their pages, and asks the database little."""

import asyncio
import threading
from base64 import b64decode
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation
from chat.protocol.files import own_url
from chat.protocol.parts import FilePart
from chat.rendering.page.exports import export_html
from chat.rendering.reader import Reader
from chat.services import (
    FORMATS,
    Caller,
    ExportForm,
    Zipped,
    html_form,
    in_exporter,
    in_pool,
    open_export,
)
from chat.views.exports import _chunks
from tests.imports.exports import PIXEL
from tests.support import factories as make
from tests.support.site import Site
from tests.support.tabs import in_thread

HTML = html_form(partial(export_html, reader=Reader()))


def a_talk_with_pictures(talk: Conversation, count: int) -> None:
    question = make.a_message(talk)
    for _ in range(count):
        row = make.an_attachment(talk.owner, question, content=b64decode(PIXEL), mime="image/png")
        part = FilePart(mime="image/png", url=own_url(row.pk), id=str(row.pk), **make.of(question))
        make.a_part(part)


async def taken(pieces: Iterator[Zipped], person: int) -> bytes:
    chunks = _chunks(pieces, Reader(), Caller(person), framed=False)
    return b"".join([piece async for piece in chunks])


async def test_while_exports_are_made_the_database_is_there_for_others(site: Site) -> None:
    over = threading.Event()

    def slowly() -> Iterator[Zipped]:
        over.wait(60)
        yield Zipped(b"x", 0)

    making = [asyncio.create_task(taken(slowly(), person)) for person in range(6)]
    try:
        for _ in range(20):
            assert await asyncio.wait_for(in_pool(int), 30) == 0
    finally:
        over.set()
    assert await asyncio.gather(*making) == [b"x"] * 6


async def test_exports_of_one_person_take_turns() -> None:
    at_work: list[str] = []

    def pieces(name: str) -> Iterator[Zipped]:
        for _ in range(8):
            at_work.append(name)
            assert sum(range(500_000))
            assert at_work == [name]
            at_work.clear()
            yield Zipped(b"x" * 70_000, 0)

    files = await asyncio.gather(*(taken(pieces(name), 1) for name in "abcd"))
    assert [len(file) for file in files] == [8 * 70_000] * 4


async def test_what_makes_exports_opens_no_connection_of_its_own(site: Site) -> None:
    await in_thread(a_talk_with_pictures)(site.talk, 2)
    other = await in_thread(make.a_conversation)(site.alice.user)
    client = site.alice.client
    for form in ("html", *FORMATS):
        one: Any = await client.get(f"/c/{site.talk.pk}/export/{form}/")
        assert b"".join([piece async for piece in one])
        wanted = {"c": [str(site.talk.pk), str(other.pk)], "form": form}
        several: Any = await client.post("/export/", wanted)
        assert b"".join([piece async for piece in several])
    together = threading.Barrier(2)

    def opened() -> list[str]:
        together.wait(30)
        return [each.alias for each in connections.all(initialized_only=True) if each.connection]

    for found in await asyncio.gather(in_exporter(opened), in_exporter(opened)):
        assert found == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("form", [HTML, *FORMATS.values()])
def test_files_are_looked_up_once(form: ExportForm) -> None:
    def asked(count: int) -> int:
        talk = make.a_conversation()
        a_talk_with_pictures(talk, count)
        chat = open_export(Caller(talk.owner_id), talk.pk)
        with CaptureQueriesContext(connection) as queries:
            assert "".join(form.write(chat, {}))
        return len(queries)

    assert asked(12) == asked(3)
