"""Several conversations as one archive, made while it is handed on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.text import slugify

from chat.formats.zip_stream import ZipStream
from chat.models import Attachment
from chat.protocol.errors import ChatError
from chat.services.caller import Caller
from chat.services.conversations.export import (
    ChatExport,
    ExportForm,
    Names,
    open_export,
    path_beside,
)
from chat.services.pool import by_pool

READ = 256 * 1024


@dataclass(frozen=True, slots=True)
class Zipped:
    """More of the archive, and how many of the conversations are in it."""

    data: bytes
    done: int


def zip_chats(
    caller: Caller, ids: Iterable[str], form: ExportForm, agents: Names
) -> Iterator[Zipped]:
    """One archive with a file for each; those that are not there any more are left out."""
    archive = ZipStream()
    done = 0
    for done, key in enumerate(dict.fromkeys(ids), start=1):
        try:
            chat = by_pool(open_export, caller, key, beside=form.has_files)
        except ChatError:
            continue
        for data in _one(archive, chat, form, agents):
            yield Zipped(data, done - 1)
        yield Zipped(b"", done)
    yield Zipped(archive.close(), done)


def _one(archive: ZipStream, chat: ChatExport, form: ExportForm, agents: Names) -> Iterator[bytes]:
    title = slugify(chat.row.title, allow_unicode=True)[:60].strip("-")
    name = f"{title or 'parley'}-{str(chat.row.pk)[-8:]}.{form.ending}"
    pieces = (piece.encode() for piece in form.write(chat, agents))
    yield from archive.add(name, pieces, chat.row.updated)
    if not form.has_files:
        return
    for row in chat.files():
        is_text = row.mime.startswith("text/")
        path = path_beside(str(row.pk), row.filename)
        yield from archive.add(path, _stored(row), row.created, pack=is_text)


def _stored(row: Attachment) -> Iterator[bytes]:
    try:
        with row.file.open("rb") as file:
            yield from file.chunks(READ)
    except OSError:
        # It is not there any more: its place in the archive is empty.
        return
