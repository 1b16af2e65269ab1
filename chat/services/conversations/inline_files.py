"""Files that come with imported messages – inside them, or beside them – become files of ours."""

from base64 import b64decode
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from django.utils.translation import gettext as _

from chat.formats.parley_json import ExportedFile
from chat.models import Attachment, Message, QueuedMessage
from chat.protocol.errors import ChatError
from chat.protocol.files import own_id, own_url
from chat.protocol.parts import FilePart, Part, ToolPart
from chat.protocol.tool_state import ToolCompleted
from chat.services.caller import Caller
from chat.services.conversations.attachments import keep_imported_file

# What lies under a name in the archive that is imported; nothing where there is no such thing.
Beside = Callable[[str], bytes]


class InlineFiles:
    """Keeps what lies in parts, and remembers it: a transaction that is not kept takes back rows,
    but not files."""

    def __init__(self, caller: Caller, beside: Beside) -> None:
        self._caller = caller
        self._beside = beside
        self._stored: list[Attachment] = []
        # The names of what could not be kept, since it was last asked.
        self._refused: list[str] = []
        # What the conversation that is being read has brought along, by the id that its messages
        # name: where it waits on the disk, or its name in the archive. A file of several versions
        # of a message is kept once.
        self._given: dict[str, Path | str] = {}
        self._kept: dict[str, Attachment] = {}
        self._folder: TemporaryDirectory[str] | None = None

    # --- what comes before the messages ---------------------------------------------

    def begin(self) -> None:
        """Another conversation: what the last one has brought along is not for it."""
        self._given.clear()
        self._kept.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def give(self, file: ExportedFile) -> None:
        if file.path is not None:
            self._given[file.id] = file.path
        elif file.data is not None:
            self._folder = self._folder or TemporaryDirectory(prefix="parley-import-")
            waiting = Path(self._folder.name) / str(len(self._given))
            waiting.write_bytes(_decoded(file.data))
            self._given[file.id] = waiting

    # --- the messages ---------------------------------------------------------------

    def keep(self, message: Message | QueuedMessage, parts: Iterable[Part]) -> list[Part]:
        """The parts with files of ours in place of those that came with them."""
        kept: list[Part] = []
        for part in parts:
            if isinstance(part, FilePart):
                kept += self._keep_all(message, (part,))
            elif isinstance(part, ToolPart) and isinstance(part.state, ToolCompleted):
                files = tuple(self._keep_all(message, part.state.attachments or ()))
                state = part.state.model_copy(update={"attachments": files or None})
                kept.append(part.model_copy(update={"state": state}))
            else:
                kept.append(part)
        return kept

    def count(self) -> int:
        return len(self._stored)

    def take_refused(self) -> list[str]:
        refused, self._refused = self._refused, []
        return refused

    def remove(self, since: int = 0) -> None:
        """Remove the files that were stored since there were so many: their rows are gone."""
        gone = self._stored[since:]
        for row in gone:
            row.file.delete(save=False)
        self._kept = {key: row for key, row in self._kept.items() if row not in gone}
        del self._stored[since:]

    def forget(self) -> None:
        """The rows are kept, and with them the files."""
        self._stored.clear()

    def _keep_all(
        self, message: Message | QueuedMessage, files: Iterable[FilePart]
    ) -> list[FilePart]:
        return [kept for file in files if (kept := self._keep(message, file))]

    def _keep(self, message: Message | QueuedMessage, part: FilePart) -> FilePart | None:
        key = own_id(part.url)
        name = part.filename or _("picture")
        row = self._kept.get(key or "") or self._store(message, part, name)
        if row is None:
            self._refused.append(name)
            return None
        if key is not None:
            self._kept[key] = row
            return part.model_copy(update={"url": own_url(row.pk)})
        return part.model_copy(
            update={"mime": row.mime, "url": own_url(row.pk), "filename": name, "size": row.size}
        )

    def _store(
        self, message: Message | QueuedMessage, part: FilePart, name: str
    ) -> Attachment | None:
        key = own_id(part.url)
        try:
            data = _inline_data(part.url) if key is None else self._given_data(key)
            row = keep_imported_file(self._caller, message, name, data)
        except (ChatError, ValueError):
            return None
        self._stored.append(row)
        return row

    def _given_data(self, key: str) -> bytes:
        given = self._given.get(key, "")
        return given.read_bytes() if isinstance(given, Path) else self._beside(given)


def _inline_data(url: str) -> bytes:
    """What lies in the address itself; nothing of what lies elsewhere, where nobody asks for it."""
    head, comma, data = url.partition(",")
    is_inline = comma and head.startswith("data:") and head.endswith(";base64")
    return b64decode(data) if is_inline else b""


def _decoded(data: str) -> bytes:
    """What is no base64 is nothing, and is refused as such when its message comes."""
    try:
        return b64decode(data)
    except ValueError:
        return b""
