"""Somebody has gone back in a session that is imported: what was left is an earlier version.

A session is read and written in the order of its lines, and may be imported again when it has
grown. So rows change places as they do for an edit (`turns/edit.py`): the question in whose place
another was asked keeps its row, which gets the new words, and the old ones move to a row of their
own. What was imported as which message (`client_id`) goes with the words.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

from django.utils import timezone

from chat.models import Attachment, Conversation, Message
from chat.services.turns.edit import keep_text, put_away
from chat.services.turns.versions import exchange

# How many rows may be read or written, all in all, for going back in one session. Each time costs
# about as many as it has messages, on the only thread that writes: a session that goes to and fro
# without end is a broken file, and the rest of it is written as it stands there.
MOST_ROWS = 200_000
# As many rows as it takes as long as, to exchange two texts of a message.
ROWS_OF_EXCHANGE = 100
# More are not named in one statement.
ROWS_AT_ONCE = 500


def place_after(conversation: Conversation, after: Message | None, new: Message) -> Message:
    """The row of a question that follows this message instead of what does so now: `new` itself,
    or the one that has its place, changed to what is known of the new one."""
    put_away(conversation, after.position + 1 if after else 0)
    there = Message.objects.filter(conversation=conversation, parent=after, copy_of=None)
    row = there.filter(role=Message.Role.USER).order_by("position").first()
    if row is None:
        return new
    _keep_version(conversation, row)
    row.revision += 1
    row.archived_at = None
    for name in ("created", "updated", "completed_at", "agent", "format_version"):
        setattr(row, name, getattr(new, name))
    return row


def _keep_version(conversation: Conversation, row: Message) -> None:
    """Move what was asked, its files, and what followed it, to a row that is out of sight."""
    conversation.last_position += 1
    client_id, row.client_id = row.client_id, ""
    row.save(update_fields=("client_id",))
    told = ("revision", "agent", "created", "updated", "completed_at")
    kept = keep_text(
        row,
        conversation.last_position,
        client_id=client_id,
        **{name: getattr(row, name) for name in told},
    )
    Attachment.objects.filter(message=row).update(message=kept)


class Returns:
    """Goes back to what was left, as long as that does not cost too much in all."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._left = MOST_ROWS

    @property
    def are_over(self) -> bool:
        return self._left <= 0

    def spend(self, rows: int) -> None:
        self._left -= rows

    def show(self, wanted: Message, *, whatever_it_costs: bool = False) -> Message | None:
        """The row of a message that is on the way that is shown; that is changed where it is not,
        and it can be afforded: somebody has gone back, here or in the session itself."""
        if wanted.archived_at is None:
            return wanted
        if self.are_over and not whatever_it_costs:
            return None
        way = _way_to(self._conversation, wanted)
        self.spend(way.cost)
        return None if self.are_over and not whatever_it_costs else _bring_back(way)


@dataclass(frozen=True, slots=True)
class _Way:
    """From a message, its last one, to the first: what is to be shown."""

    rows: list[UUID]
    # Earlier texts on it, each with the row that it belongs into.
    earlier: list[tuple[UUID, UUID]]
    # Those that are shown now.
    shown: set[UUID]
    cost: int


def _way_to(conversation: Conversation, wanted: Message) -> _Way:
    known = Message.objects.filter(conversation=conversation)
    rows = {row[0]: row for row in known.values_list("pk", "parent", "copy_of", "role")}
    # In their order.
    way: dict[UUID, None] = {}
    earlier: list[tuple[UUID, UUID]] = []
    at: UUID | None = wanted.pk
    while at is not None and at not in way:
        _, parent, copy_of, role = rows[at]
        if copy_of is not None:
            if role == Message.Role.USER == rows[copy_of][3]:
                earlier.append((copy_of, at))
            at, parent = copy_of, rows[copy_of][1]
        way[at] = None
        at = parent
    shown = set(known.filter(archived_at=None).values_list("pk", flat=True))
    return _Way(list(way), earlier, shown, len(rows) + ROWS_OF_EXCHANGE * len(earlier))


def _bring_back(way: _Way) -> Message:
    """Show what lies on it instead of what is shown now; the row of its last message then."""
    for shown, kept in reversed(way.earlier):
        both = Message.objects.in_bulk((shown, kept))
        exchange(both[shown], both[kept])
    _archive(way.shown.difference(way.rows), timezone.now())
    _archive(set(way.rows) - way.shown, None)
    return Message.objects.get(pk=way.rows[0])


def _archive(keys: Iterable[UUID], at: datetime | None) -> None:
    rest = iter(keys)
    while some := list(islice(rest, ROWS_AT_ONCE)):
        Message.objects.filter(pk__in=some).update(archived_at=at)
