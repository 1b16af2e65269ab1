"""Versions: earlier texts and earlier answers, one of which is shown."""

from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.models import Conversation, Message, Part
from chat.protocol.errors import ChatError
from chat.protocol.events import Edited
from chat.services.background import shielded
from chat.services.broadcast import publish, tell_sidebar
from chat.services.caller import Caller
from chat.services.conversations.import_overlap import PREFIX
from chat.services.conversations.revision import edited, raise_rev
from chat.services.conversations.search_index import index_message
from chat.services.pool import in_writer
from chat.services.turns.edit import find_message, put_away
from chat.services.turns.start import ASIDE, lock_turn, refuse_busy, refuse_stale
from chat.services.turns.stop import when_stopped
from chat.services.upkeep.repair import upgrade

# The messages to be drawn anew, and the positions of those that are no longer shown.
Change = tuple[list[UUID], list[int]]


@shielded
async def show_version(
    caller: Caller, conversation_id: str | UUID, message_id: str, version: int
) -> None:
    """Show another version of a message, with what came after it."""
    event = await when_stopped(switch_version, caller, conversation_id, message_id, version)
    if event is not None:
        await publish(event.conversation_id, [event])
        await tell_sidebar(caller.user_id, event.conversation_id)
        # What comes back may have lain there since an older version.
        await in_writer(upgrade, UUID(event.conversation_id))


@transaction.atomic
def switch_version(
    caller: Caller, conversation_id: str | UUID, message_id: str, version: int
) -> Edited | None:
    turn = lock_turn(caller, conversation_id)
    conversation = turn.conversation
    refuse_busy(turn)
    refuse_stale(turn)
    message = find_message(conversation, message_id)
    if message.version == version:
        return None
    if message.role == Message.Role.USER:
        changed, removed = _show_text(conversation, message, version)
    else:
        changed, removed = _show_answer(conversation, message, version)
    conversation.updated = timezone.now()
    raise_rev(conversation, "updated")
    return edited(conversation, changed, removed, caller)


def _show_answer(conversation: Conversation, answer: Message, version: int) -> Change:
    other = Message.objects.filter(
        parent=answer.parent, role=Message.Role.ASSISTANT, version=version
    ).first()
    if answer.parent is None or other is None:
        raise ChatError("error.chat_message_not_found")
    removed = put_away(conversation, answer.position)
    return _bring_back(conversation, other), removed


def _show_text(conversation: Conversation, shown: Message, version: int) -> Change:
    """The message keeps its row; its text and the answers change places with the other's."""
    other = Message.objects.filter(copy_of=shown, version=version).first()
    if other is None:
        raise ChatError("error.chat_message_not_found")
    removed = put_away(conversation, shown.position + 1)
    shown.updated = timezone.now()
    exchange(shown, other)
    following = _latest_child(_put_away_rows(conversation), shown.pk)
    back = _bring_back(conversation, following) if following is not None else []
    return [shown.pk, *back], removed


def exchange(shown: Message, other: Message) -> None:
    """What two texts of a message say, with what was answered to each, change places."""
    _exchange_parts(shown, other)
    _exchange_followers(shown, other)
    _exchange_origins(shown, other)
    shown.version, other.version = other.version, shown.version
    shown.format_version, other.format_version = other.format_version, shown.format_version
    shown.revision += 1
    for message in (shown, other):
        message.save(update_fields=("version", "revision", "updated", "format_version"))
    index_message(shown.pk)


def _exchange_origins(one: Message, two: Message) -> None:
    """Which message of its file each was imported as, for a file that has grown is compared with
    it; and when it was said there."""
    ones, twos = one.client_id, two.client_id
    if not (ones.startswith(PREFIX) and twos.startswith(PREFIX)):
        return
    one.created, two.created = two.created, one.created
    for message, client_id in ((one, ""), (two, ones), (one, twos)):
        message.client_id = client_id
        message.save(update_fields=("client_id", "created"))


def _exchange_parts(one: Message, two: Message) -> None:
    ones = list(one.parts.values_list("pk", flat=True))
    twos = list(two.parts.values_list("pk", flat=True))
    Part.objects.filter(pk__in=ones).update(message=two, position=F("position") + ASIDE)
    Part.objects.filter(pk__in=twos).update(message=one)
    Part.objects.filter(pk__in=ones).update(position=F("position") - ASIDE)


def _exchange_followers(one: Message, two: Message) -> None:
    """Answers, or, in an imported session, a question that was asked before there was one."""
    ones = list(Message.objects.filter(parent=one).values_list("pk", flat=True))
    twos = list(Message.objects.filter(parent=two).values_list("pk", flat=True))
    Message.objects.filter(pk__in=ones).update(parent=two)
    Message.objects.filter(pk__in=twos).update(parent=one)


def _put_away_rows(conversation: Conversation) -> list[Message]:
    rows = Message.objects.filter(
        conversation=conversation, archived_at__isnull=False, copy_of__isnull=True
    )
    return list(rows.only("parent", "position", "archived_at"))


def _bring_back(conversation: Conversation, message: Message) -> list[UUID]:
    """Show a message again and, down the line, what was last shown after it; their ids."""
    rows = _put_away_rows(conversation)
    back: list[UUID] = []
    following: Message | None = message
    while following is not None:
        back.append(following.pk)
        following = _latest_child(rows, following.pk)
    Message.objects.filter(pk__in=back).update(archived_at=None)
    return back


def _latest_child(rows: list[Message], parent: UUID) -> Message | None:
    children = [row for row in rows if row.parent_id == parent and row.archived_at]
    return max(children, key=lambda row: (row.archived_at, row.position), default=None)
