"""Several conversations as one archive, sent while it is made."""

import io
import zipfile

from chat.formats.zip_stream import ZipStream
from tests.support import factories as make
from tests.support.site import Site
from tests.support.tabs import in_thread


def test_an_archive_is_whole_however_it_is_handed_on() -> None:
    stream = ZipStream()
    words = (b"word " * 1000 for _ in range(1000))
    pieces = [
        *stream.add("one.md", ["# 一".encode()]),
        *stream.add("two.md", words),
        stream.close(),
    ]
    assert len(b"".join(pieces)) < 50_000
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert archive.testzip() is None
        assert archive.read("one.md").decode() == "# 一"


async def test_ones_own_are_in_it_and_nobody_elses(site: Site) -> None:
    bob = await in_thread(make.a_user)("bob")
    theirs = await in_thread(make.a_conversation)(bob, title="Bob's")
    mine = await in_thread(make.a_conversation)(site.alice.user, title="关于 鸡/蛋")
    await in_thread(make.a_message_with_parts)(mine, "user", "你好")
    ids = [str(mine.pk), str(theirs.pk), str(site.talk.pk), str(mine.pk)]
    headers = {"Accept-Encoding": "gzip"}
    form = {"c": ids, "form": "markdown"}
    response = await site.alice.client.post("/export/", form, headers=headers)
    assert response["Content-Type"] == "application/zip"
    content = b"".join([piece async for piece in response])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        one, two = archive.namelist()
        assert one == f"关于-鸡蛋-{str(mine.pk)[-8:]}.md"
        assert two == f"a-talk-{str(site.talk.pk)[-8:]}.md"
        assert "你好" in archive.read(one).decode()
