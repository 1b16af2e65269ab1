"""Folders of conversations: make, change, delete, collapse, and move conversations between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction

from chat.models import Conversation, Folder
from chat.models.folder import LONGEST_NAME
from chat.models.profile import LONGEST_INSTRUCTIONS
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.protocol.text import clean_text
from chat.services.background import shielded
from chat.services.broadcast import tell_sidebar
from chat.services.caller import Caller
from chat.services.pool import in_writer

# The column shows all of them at once.
MOST_FOLDERS = 200


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """A folder of one's own."""

    id: str
    name: str
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class NewFolder:
    """A folder that is yet to be made."""

    name: str
    instructions: str = ""


@shielded
async def make_folder(caller: Caller, wanted: NewFolder) -> KnownFolder:
    """Make an empty folder."""
    made = await in_writer(_make, caller, wanted)
    await tell_sidebar(caller.user_id, "")
    return made


@shielded
async def change_folder(caller: Caller, folder_id: str | UUID, wanted: NewFolder) -> None:
    """Give a folder another name and other instructions."""
    await in_writer(_change, caller, folder_id, wanted)
    await tell_sidebar(caller.user_id, "")


@shielded
async def remove_folder(caller: Caller, folder_id: str | UUID) -> None:
    """Delete a folder; its conversations stay, outside."""
    await in_writer(_remove, caller, folder_id)
    await tell_sidebar(caller.user_id, "")


@shielded
async def collapse_folder(caller: Caller, folder_id: str | UUID, *, collapsed: bool) -> None:
    """Show its name alone in the column, or its conversations too."""
    await in_writer(_collapse, caller, folder_id, collapsed)
    await tell_sidebar(caller.user_id, "")


@shielded
async def move(
    caller: Caller, conversation_ids: Sequence[str], target: str | NewFolder
) -> KnownFolder | None:
    """Put conversations into a folder, or out of any (an empty `target`), or into one that is made
    for them; the folder. When that is refused nothing is moved."""
    folder = await in_writer(_move, caller, conversation_ids, target)
    await tell_sidebar(caller.user_id, "")
    return folder


def list_folders(caller: Caller) -> list[KnownFolder]:
    """All folders of a person, by name."""
    rows = Folder.objects.filter(owner_id=caller.user_id)
    return sorted((_known(row) for row in rows), key=lambda each: (each.name.casefold(), each.id))


def get_folder(caller: Caller, folder_id: str | UUID) -> KnownFolder:
    """A person's own folder; a stranger's is as good as not there."""
    return _known(_own(caller, folder_id))


def folders_of(caller: Caller, conversation_ids: Sequence[str]) -> set[str]:
    """The ids of the folders that these conversations of theirs are in; an empty one for those in
    none. Nothing at all if none of them is theirs."""
    rows = Conversation.objects.kept_by(caller.user_id).filter(pk__in=conversation_ids)
    return {str(key or "") for key in rows.values_list("folder_id", flat=True)}


def own_folder_key(caller: Caller, folder_id: str) -> UUID | None:
    """For a new conversation: the folder if it is one of theirs, else none."""
    if not is_uuid(folder_id):
        return None
    rows = Folder.objects.filter(owner_id=caller.user_id, pk=folder_id)
    return rows.values_list("pk", flat=True).first()


def _known(row: Folder) -> KnownFolder:
    return KnownFolder(str(row.pk), row.name, row.instructions)


def _own(caller: Caller, folder_id: str | UUID) -> Folder:
    if is_uuid(str(folder_id)):
        row = Folder.objects.filter(owner_id=caller.user_id, pk=folder_id).first()
        if row is not None:
            return row
    raise ChatError("error.chat_folder_not_found")


def _checked(wanted: NewFolder) -> NewFolder:
    name = " ".join(clean_text(wanted.name).split())[:LONGEST_NAME].strip()
    if not name:
        raise ChatError("error.chat_folder_name_required")
    instructions = clean_text(wanted.instructions).strip()
    if len(instructions) > LONGEST_INSTRUCTIONS:
        raise ChatError("error.chat_content_too_long", limit=LONGEST_INSTRUCTIONS)
    return NewFolder(name, instructions)


def _make(caller: Caller, wanted: NewFolder) -> KnownFolder:
    wanted = _checked(wanted)
    if Folder.objects.filter(owner_id=caller.user_id).count() >= MOST_FOLDERS:
        raise ChatError("error.chat_too_many_folders", limit=MOST_FOLDERS)
    return _known(
        _saved(Folder(owner_id=caller.user_id, name=wanted.name, instructions=wanted.instructions))
    )


def _change(caller: Caller, folder_id: str | UUID, wanted: NewFolder) -> None:
    row, wanted = _own(caller, folder_id), _checked(wanted)
    row.name, row.instructions = wanted.name, wanted.instructions
    _saved(row)


def _saved(row: Folder) -> Folder:
    """The database alone knows whether another has the name; it takes no part of it then."""
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise ChatError("error.chat_folder_exists", name=row.name) from None
    return row


@transaction.atomic
def _remove(caller: Caller, folder_id: str | UUID) -> None:
    _own(caller, folder_id).delete()


def _collapse(caller: Caller, folder_id: str | UUID, collapsed: bool) -> None:
    row = _own(caller, folder_id)
    Folder.objects.filter(pk=row.pk).update(collapsed=collapsed)


@transaction.atomic
def _move(
    caller: Caller, conversation_ids: Sequence[str], target: str | NewFolder
) -> KnownFolder | None:
    folder: KnownFolder | None = None
    if isinstance(target, NewFolder):
        folder = _make(caller, target)
    elif target:
        folder = _known(_own(caller, target))
    wanted = [key for key in conversation_ids if is_uuid(key)]
    rows = Conversation.objects.kept_by(caller.user_id).filter(pk__in=wanted)
    if not rows.update(folder_id=folder.id if folder else None):
        raise ChatError("error.chat_conversation_not_found")
    return folder
