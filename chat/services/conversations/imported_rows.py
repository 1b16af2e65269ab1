"""Messages that are imported, as rows; and what else is known of a conversation of ours."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

from django.db import IntegrityError, transaction

from chat.formats.parley_json import ChatDetails, FolderDetails, Place
from chat.models import Conversation, Feedback, Folder, Message
from chat.models.folder import LONGEST_NAME
from chat.models.message import CALLS_IN_TEXTS
from chat.models.profile import LONGEST_INSTRUCTIONS
from chat.protocol.feedback import LONGEST_COMMENT
from chat.protocol.messages import AnswerInfo, UserInfo, WithParts
from chat.services.catalog.known import current_catalog
from chat.services.conversations.folders import MOST_FOLDERS

LONGEST_TITLE = 200
# A gap in the positions that deleting messages may have left.
WIDEST_GAP = 100_000


def row_of(message: WithParts, conversation: Conversation, position: int) -> Message:
    info = message.info
    created = moment(info.time.created)
    row = Message(
        pk=info.id,
        conversation=conversation,
        position=position,
        role=info.role,
        created=created,
        updated=created,
        completed_at=created,
        agent=info.agent[:100],
        # Until the whole conversation is here and was looked through.
        format_version=CALLS_IN_TEXTS,
    )
    if isinstance(info, AnswerInfo):
        _note_answer(row, info)
    return row


def placed_row(message: WithParts, place: Place, conversation: Conversation) -> Message:
    """The row of a message of ours: with its version, its times, and all that is known of it."""
    info, last = message.info, conversation.last_position
    fits = last < info.position <= last + WIDEST_GAP
    row = row_of(message, conversation, info.position if fits else last + 1)
    row.version, row.revision = info.version, info.revision
    row.created = place.created or row.created
    row.updated = place.updated or row.created
    was_running = getattr(info, "status", "") in ("pending", "streaming")
    row.completed_at = place.completed or (row.completed_at if was_running else None)
    row.archived_at = place.archived
    if isinstance(info, UserInfo):
        summary = info.summary
        row.summary = summary.model_dump(mode="json", exclude_none=True) if summary else None
        row.tools, row.variant = info.tools, (info.variant or "")[:100]
        if info.model:
            row.provider_id, row.model_id = info.model.provider_id[:200], info.model.model_id[:200]
    else:
        path = info.path.model_dump(mode="json", exclude_defaults=True)
        row.path = path or None
        row.pauses = [list(pause) for pause in info.time.pauses or ()] or None
    return row


def keep_feedback(row: Message, info: AnswerInfo, person_id: int) -> None:
    """What the one whose conversation it was thinks of the answer. When they said so is not known:
    the time of the answer tells it from what is said here."""
    if info.feedback is not None:
        comment = info.feedback.comment[:LONGEST_COMMENT]
        Feedback.objects.create(
            message=row,
            person_id=person_id,
            verdict=info.feedback.verdict,
            comment=comment,
            created=row.created,
            updated=row.created,
        )


def note_details(row: Conversation, details: ChatDetails, *, is_new: bool) -> None:
    """What is known of the conversation besides its messages; the row is not saved. One that was
    here before stays where somebody has put it, under the name they have given it."""
    if is_new or not row.titled_by_hand:
        row.title, row.titled_by_hand = details.title[:LONGEST_TITLE], details.titled_by_hand
    if is_new:
        row.pinned, row.archived_at = details.pinned, details.archived
        row.folder = _folder(row.owner_id, details.folder) if details.folder else None
    row.effort, row.tools_off = details.effort[:20], list(details.tools_off) or None
    row.tool_style, row.prompt_language = details.tool_style, details.prompt_language[:20]
    row.created = details.created or row.created
    row.agent_id, row.model_id = _agent(details), _model(details)


def _agent(details: ChatDetails) -> UUID | None:
    """The agent that is called so here, if it can be used."""
    agents = current_catalog().agents.values()
    return next((each.id for each in agents if each.key == details.agent and each.enabled), None)


def _model(details: ChatDetails) -> UUID | None:
    """The same model of the same provider, where the conversation comes back to where it was."""
    models = current_catalog().models.values()
    same = (each.id for each in models if each.choice.ref == details.model and each.usable)
    return next(same, None)


def _folder(owner_id: int, wanted: FolderDetails) -> Folder | None:
    """The folder of this name, which is made where there is none."""
    name = " ".join(wanted.name.split())[:LONGEST_NAME].strip()
    mine = Folder.objects.filter(owner_id=owner_id)
    if not name or (found := mine.filter(name__iexact=name).first()):
        return found if name else None
    if mine.count() >= MOST_FOLDERS:
        return None
    instructions = wanted.instructions[:LONGEST_INSTRUCTIONS]
    try:
        with transaction.atomic():
            return mine.create(owner_id=owner_id, name=name, instructions=instructions)
    except IntegrityError:
        return None


def _note_answer(row: Message, info: AnswerInfo) -> None:
    # Nothing is being written any more, whatever the file says.
    running = info.status in ("pending", "streaming")
    row.status = Message.Status.CANCELLED if running else info.status
    row.completed_at = moment(info.time.completed or info.time.created)
    row.provider_id, row.model_id = info.provider_id[:200], info.model_id[:200]
    row.finish_reason = (info.finish or "")[:50]
    row.input_tokens, row.output_tokens = info.tokens.input, info.tokens.output
    row.reasoning_tokens = info.tokens.reasoning
    row.cache_read_tokens, row.cache_write_tokens = info.tokens.cache.read, info.tokens.cache.write
    row.cost = min(Decimal(str(info.cost)), Decimal(999_999)).quantize(Decimal("0.00000001"))
    if info.error is not None:
        row.error_key, row.error_data = info.error.key[:100], dict(info.error.data)


def moment(ms: int) -> datetime:
    try:
        return datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.now(UTC)


def of_here(message: WithParts, row: Message) -> WithParts:
    """The message with the ids of its row: what was here already has others."""
    ids = {"session_id": str(row.conversation_id), "message_id": str(row.pk)}
    known = message.info
    if known.session_id == ids["session_id"] and known.id == ids["message_id"]:
        return message
    return WithParts(
        info=known.model_copy(update={"session_id": ids["session_id"], "id": ids["message_id"]}),
        parts=tuple(part.model_copy(update=ids) for part in message.parts),
    )
