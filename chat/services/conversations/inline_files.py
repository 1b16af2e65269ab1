"""Files that lie inside imported messages become files of ours."""

from base64 import b64decode
from collections.abc import Iterable

from django.utils.translation import gettext as _

from chat.models import Attachment, Message
from chat.protocol.errors import ChatError
from chat.protocol.files import own_url
from chat.protocol.parts import FilePart, Part, ToolPart
from chat.protocol.tool_state import ToolCompleted
from chat.services.caller import Caller
from chat.services.conversations.attachments import keep_imported_file


class InlineFiles:
    """Keeps what lies in parts, and remembers it: a transaction that is not kept takes back rows,
    but not files."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._stored: list[Attachment] = []
        # The names of what could not be kept, since it was last asked.
        self._refused: list[str] = []

    def keep(self, message: Message, parts: Iterable[Part]) -> list[Part]:
        """The parts with files of ours in place of those that lie in them."""
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
        for row in self._stored[since:]:
            row.file.delete(save=False)
        del self._stored[since:]

    def forget(self) -> None:
        """The rows are kept, and with them the files."""
        self._stored.clear()

    def _keep_all(self, message: Message, files: Iterable[FilePart]) -> list[FilePart]:
        return [kept for file in files if (kept := self._keep(message, file))]

    def _keep(self, message: Message, part: FilePart) -> FilePart | None:
        head, comma, data = part.url.partition(",")
        name = part.filename or _("picture")
        if not comma or not head.startswith("data:") or not head.endswith(";base64"):
            # It lies elsewhere, where nobody asks for it.
            self._refused.append(name)
            return None
        try:
            row = keep_imported_file(self._caller, message, name, b64decode(data))
        except (ChatError, ValueError):
            self._refused.append(name)
            return None
        self._stored.append(row)
        return part.model_copy(
            update={"mime": row.mime, "url": own_url(row.pk), "filename": name, "size": row.size}
        )
