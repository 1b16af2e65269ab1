"""The statements of a turn, each written out once, for SQLite and PostgreSQL alike.

They are run by `sql.py`. Words such as `'active'` stand in the text, not among the values: only
then SQLite uses the index that holds nothing but active runs.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Model

from chat.models import BackgroundCall, Conversation, Message, Part, SearchEntry, View
from chat.protocol.frozen import JsonObject
from chat.protocol.messages import ModelRef
from chat.services import sql

# What becomes of a row that is there already.
_PART_KNOWN = """ON CONFLICT (id) DO UPDATE SET text = excluded.text, data = excluded.data,
    tool_status = excluded.tool_status, ignored = excluded.ignored,
    started_at = excluded.started_at, ended_at = excluded.ended_at"""
_ENTRY_KNOWN = "ON CONFLICT (message_id) DO UPDATE SET words = excluded.words"
_TITLE_KNOWN = """ON CONFLICT (conversation_id) WHERE message_id IS NULL
    DO UPDATE SET words = excluded.words"""
_VIEW_KNOWN = """ON CONFLICT (socket) DO UPDATE SET conversation_id = excluded.conversation_id,
    user_id = excluded.user_id, process_id = excluded.process_id, tab_id = excluded.tab_id,
    hidden = excluded.hidden, left_at = excluded.left_at, closed = excluded.closed"""

# Of each message: its earlier texts, and the answers to what it answers.
_VERSIONS = {
    "texts": "(SELECT COUNT(*) FROM chat_message other WHERE other.copy_of_id = chat_message.id)",
    "siblings": """(SELECT COUNT(*) FROM chat_message other
        WHERE other.parent_id = chat_message.parent_id)""",
}
# What the owner thinks of an answer: `up` or `down`, then their words.
_FEEDBACK = {
    "verdict_and_comment": """(SELECT given.verdict || ' ' || given.comment
        FROM chat_feedback given JOIN chat_conversation whose ON whose.owner_id = given.person_id
        WHERE given.message_id = chat_message.id AND whose.id = chat_message.conversation_id)""",
}
_ALSO = _VERSIONS | _FEEDBACK


# --- conversations ----------------------------------------------------------------


def own_conversation(user_id: int, key: UUID, *, lock: bool = False) -> Conversation | None:
    """A person's conversation; locked it is held against other writers until the transaction
    ends."""
    held = sql.for_update() if lock else ""
    rows = sql.select(
        Conversation, f"WHERE id = %s AND owner_id = %s AND deleted_at IS NULL {held}", key, user_id
    )
    return rows[0] if rows else None


_IN_COLUMN = """id, title, updated, pinned, unread, archived_at IS NOT NULL,
    EXISTS (SELECT 1 FROM chat_generation run
        WHERE run.conversation_id = chat_conversation.id AND run.status = 'active')
    FROM chat_conversation"""
_LISTED = f"SELECT {_IN_COLUMN}"
_IN_SIGHT = "deleted_at IS NULL AND archived_at IS NULL AND NOT temporary"


def listed(user_id: int, most: int) -> list[tuple[Any, ...]]:
    """A person's conversations in no folder: id, title, updated, pinned, whether an answer has
    not been seen, whether it is archived, and whether an answer is being written.
    The index `own_listed` has them in this order, however many there are."""
    return sql.fetch(
        f"""{_LISTED} WHERE owner_id = %s AND {_IN_SIGHT} AND folder_id IS NULL
            ORDER BY pinned DESC, updated DESC, id DESC LIMIT %s""",
        user_id,
        most,
    )


def folders(user_id: int) -> list[tuple[Any, ...]]:
    """A person's folders: id, name, whether it is collapsed, whether there is an unread answer in
    it, and whether one is being written."""
    return sql.fetch(
        f"""SELECT id, name, collapsed,
                id IN (SELECT folder_id FROM chat_conversation
                    WHERE owner_id = %s AND unread AND {_IN_SIGHT} AND folder_id IS NOT NULL),
                id IN (SELECT folder_id FROM chat_generation run
                    JOIN chat_conversation ON chat_conversation.id = run.conversation_id
                    WHERE run.status = 'active' AND +run.user_id = %s
                        AND {_IN_SIGHT} AND folder_id IS NOT NULL)
            FROM chat_folder WHERE owner_id = %s""",
        *(user_id, user_id, user_id),
    )


def listed_in(folders: Mapping[UUID, int]) -> list[tuple[Any, ...]]:
    """The first so many conversations of each of these folders: the folder's id, then as `listed`.
    The index `folder_listed` has each folder in this order."""
    each = f"""SELECT * FROM (SELECT folder_id, {_IN_COLUMN} WHERE folder_id = %s AND {_IN_SIGHT}
        ORDER BY pinned DESC, updated DESC, id DESC LIMIT %s) AS inside"""
    values = [value for folder in folders.items() for value in folder]
    return sql.fetch(" UNION ALL ".join([each] * len(folders)), *values)


def one_listed(user_id: int, key: UUID) -> list[tuple[Any, ...]]:
    """The same of one conversation, wherever in the list it stands."""
    return sql.fetch(
        f"{_LISTED} WHERE id = %s AND owner_id = %s AND deleted_at IS NULL AND NOT temporary",
        key,
        user_id,
    )


def was_read(user_id: int) -> bool:
    """Whether an administrator has read something of a person's that they have not seen listed."""
    return bool(sql.fetch("SELECT 1 FROM chat_profile WHERE user_id = %s AND was_read", user_id))


def mark_read(user_id: int, key: UUID) -> bool:
    """Whether there was something unread in a conversation that its owner sees now."""
    return bool(
        sql.change(
            "UPDATE chat_conversation SET unread = %s WHERE id = %s AND owner_id = %s AND unread",
            False,
            key,
            user_id,
        )
    )


_MADE_TITLE = """id = %s AND title = %s AND NOT titled_by_hand AND deleted_at IS NULL
    AND NOT temporary"""


def change_title(key: UUID, made: str, title: str) -> int | None:
    """Put another title in the place of a made one; the new revision, if that was still there."""
    sentence = f"UPDATE chat_conversation SET title = %s, rev = rev + 1 WHERE {_MADE_TITLE}"
    if not sql.change(sentence, title, key, made):
        return None
    [(rev,)] = sql.fetch("SELECT rev FROM chat_conversation WHERE id = %s", key)
    return int(rev)


def is_process(key: UUID) -> bool:
    return bool(sql.fetch("SELECT 1 FROM chat_process WHERE id = %s", key))


def digests(keys: Sequence[UUID]) -> list[tuple[Any, ...]]:
    """Of each conversation that is there: id, rev, its active run and how far that is stored."""
    return sql.fetch(
        f"""SELECT chat_conversation.id, rev, run.id, run.flushed_seq FROM chat_conversation
            LEFT JOIN chat_generation run
                ON run.conversation_id = chat_conversation.id AND run.status = 'active'
            WHERE deleted_at IS NULL AND chat_conversation.id IN {sql.places(keys)}""",
        *keys,
    )


# --- the catalog ------------------------------------------------------------------


def catalog_stamp() -> str:
    """Another one whenever an agent, a model, a provider or a tool was changed."""
    found = sql.fetch("SELECT stamp FROM chat_catalogstamp")
    return str(found[0][0]) if found else ""


# --- messages ---------------------------------------------------------------------


def shown_before(key: UUID, position: int) -> list[Message]:
    """The messages of a conversation before a position, without their numbers of versions."""
    return sql.select(
        Message,
        """WHERE conversation_id = %s AND archived_at IS NULL AND position < %s
            ORDER BY position""",
        key,
        position,
        also=_FEEDBACK,
    )


def latest_shown(key: UUID, before: int, most: int) -> list[Message]:
    """The last messages before a position, the latest first."""
    return sql.select(
        Message,
        """WHERE conversation_id = %s AND archived_at IS NULL AND position < %s
            ORDER BY position DESC LIMIT %s""",
        key,
        before,
        most,
        also=_ALSO,
    )


def first_shown(key: UUID, since: int, most: int) -> list[Message]:
    """The first messages from a position on, in their order."""
    return sql.select(
        Message,
        """WHERE conversation_id = %s AND archived_at IS NULL AND position >= %s
            ORDER BY position LIMIT %s""",
        key,
        since,
        most,
        also=_ALSO,
    )


def every_after(key: UUID, position: int, most: int) -> list[Message]:
    """The next messages after a position, also those that are out of sight."""
    return sql.select(
        Message,
        "WHERE conversation_id = %s AND position > %s ORDER BY position LIMIT %s",
        key,
        position,
        most,
        also=_ALSO,
    )


def shown(keys: Sequence[UUID]) -> list[Message]:
    """These messages, in their order; none that is out of sight."""
    return sql.select(
        Message,
        f"WHERE id IN {sql.places(keys)} AND archived_at IS NULL ORDER BY position",
        *keys,
        also=_ALSO,
    )


def parts_of(keys: Sequence[UUID]) -> list[Part]:
    """The parts of these messages, each message's in their order."""
    return sql.select(Part, f"WHERE message_id IN {sql.places(keys)} ORDER BY position", *keys)


class After(NamedTuple):
    """How a conversation stands whose answer has just ended."""

    rev: int
    # Whether a message waits and may be sent now.
    goes_on: bool
    temporary: bool
    # Its title, unless somebody gave it by hand.
    made_title: str
    answer: Message


def raise_rev_after(message: UUID, conversation: UUID, now: datetime, *, hold: bool) -> After:
    """One more revision of a conversation whose answer has just ended. `hold` lets its queue wait;
    what waits is looked for when the conversation is locked by this change, so that nothing
    comes between. The answer is unread unless somebody looks at the conversation."""
    held = ", queue_held = %s" if hold else ""
    sql.change(
        f"""UPDATE chat_conversation SET rev = rev + 1, updated = %s{held}, unread = NOT EXISTS (
                SELECT 1 FROM chat_view WHERE chat_view.conversation_id = chat_conversation.id
                    AND chat_view.left_at IS NULL AND NOT chat_view.hidden)
            WHERE id = %s""",
        *((now, True, conversation) if hold else (now, conversation)),
    )
    here = "FROM chat_conversation c WHERE c.id = chat_message.conversation_id"
    also = {
        "rev": f"(SELECT rev {here})",
        "temporary": f"(SELECT temporary {here})",
        "goes_on": f"""(SELECT NOT queue_held AND EXISTS (SELECT 1 FROM chat_queuedmessage queued
            WHERE queued.conversation_id = c.id) {here})""",
        "made_title": f"""(SELECT CASE WHEN titled_by_hand OR temporary OR deleted_at IS NOT NULL
            THEN '' ELSE title END {here})""",
    }
    [row] = sql.select(Message, "WHERE id = %s", message, also=_ALSO | also)
    asked: Any = row
    return After(asked.rev, bool(asked.goes_on), bool(asked.temporary), asked.made_title, row)


def write_parts(parts: Sequence[Part]) -> None:
    """New parts, and known ones brought forward."""
    sql.insert(parts, _PART_KNOWN)


def add(rows: Sequence[Model]) -> None:
    """New rows of one model: an import writes tens of thousands."""
    sql.insert(rows)


def write_entries(entries: Sequence[SearchEntry]) -> None:
    """The words of messages, in the place of those that were kept before."""
    sql.insert(entries, _ENTRY_KNOWN)


def write_title_entry(entry: SearchEntry) -> None:
    sql.insert([entry], _TITLE_KNOWN)


# --- turns ------------------------------------------------------------------------


# The first half of the key by which those stand in line who begin an answer for one person.
_IN_LINE = 17


def stand_in_line(user_id: int) -> None:
    """Whoever begins an answer for this person at the same moment, anywhere, waits until the
    transaction ends, and counts what it has written. SQLite has one writer at a time anyway."""
    if sql.for_update():
        sql.fetch("SELECT 1 FROM pg_advisory_xact_lock(%s, %s)", _IN_LINE, user_id)


class Standing(NamedTuple):
    """Where a conversation stands, as far as it matters to whoever wants to take a turn."""

    # The run that this request has started already.
    started: UUID | None
    active: UUID | None
    active_tab: str | None
    # Whether the running answer was told to stop.
    stopping: bool
    # The last message that is shown.
    last: UUID | None
    head: int
    # Who gave the latest answer, versions out of sight included.
    answered_by: ModelRef | None
    # How many answers are being written for this person.
    running: int
    # How many messages wait in this conversation.
    queued: int
    # The oldest and the newest form of the messages that are shown; none where there are none.
    oldest_form: int | None
    newest_form: int | None
    # What this person asks of every agent, and of those that answer in this folder.
    instructions: str
    folder_instructions: str
    catalog_stamp: str


def standing(conversation: Conversation, user_id: int, client_id: str) -> Standing:
    key = conversation.pk
    [found] = sql.fetch(
        """SELECT started.id, active.id, active.tab_id, active.stop_requested_by IS NOT NULL,
                shown.id, shown.position, answer.provider_id, answer.model_id,
                (SELECT COUNT(*) FROM chat_generation WHERE status = 'active' AND +user_id = %s),
                (SELECT COUNT(*) FROM chat_queuedmessage WHERE conversation_id = %s),
                forms.oldest, forms.newest,
                (SELECT instructions FROM chat_profile WHERE user_id = %s),
                (SELECT instructions FROM chat_folder WHERE id = %s),
                (SELECT stamp FROM chat_catalogstamp)
            FROM (SELECT MIN(format_version) AS oldest, MAX(format_version) AS newest
                FROM chat_message WHERE conversation_id = %s AND archived_at IS NULL) AS forms
            LEFT JOIN chat_generation started ON started.conversation_id = %s
                AND started.client_id = %s AND started.client_id <> ''
            LEFT JOIN chat_generation active ON active.conversation_id = %s
                AND active.status = 'active'
            LEFT JOIN chat_message shown ON shown.conversation_id = %s
                AND shown.position = (SELECT MAX(position) FROM chat_message
                    WHERE conversation_id = %s AND archived_at IS NULL)
            LEFT JOIN chat_message answer ON answer.conversation_id = %s
                AND answer.position = (SELECT MAX(position) FROM chat_message
                    WHERE conversation_id = %s AND role = 'assistant')""",
        *(user_id, key, user_id, conversation.folder_id, key),
        *(key, client_id, key, key, key, key, key),
    )
    started, active, tab, stopping, last, head, provider_id, model_id = found[:8]
    running, queued, oldest, newest, instructions, folder_instructions, stamp = found[8:]
    return Standing(
        started=sql.as_uuid(started) if started else None,
        active=sql.as_uuid(active) if active else None,
        active_tab=tab,
        stopping=bool(stopping),
        last=sql.as_uuid(last) if last else None,
        head=head or 0,
        answered_by=None
        if model_id is None
        else ModelRef(provider_id=provider_id, model_id=model_id),
        running=running,
        queued=queued,
        oldest_form=oldest,
        newest_form=newest,
        instructions=instructions or "",
        folder_instructions=folder_instructions or "",
        catalog_stamp=stamp or "",
    )


def answers_to(key: UUID) -> tuple[int, int]:
    """How many answers a message has, versions out of sight included, and the highest version."""
    [(number, highest)] = sql.fetch(
        """SELECT COUNT(*), COALESCE(MAX(version), 0) FROM chat_message
            WHERE parent_id = %s AND role = 'assistant'""",
        key,
    )
    return number, highest


# --- runs -------------------------------------------------------------------------


def activity(key: UUID) -> tuple[tuple[UUID, int] | None, bool]:
    """The id of the run that answers a conversation and how far it is stored, if there is one;
    and whether messages wait for its end."""
    [(run, seq, queued)] = sql.fetch(
        """SELECT run.id, run.flushed_seq,
                EXISTS (SELECT 1 FROM chat_queuedmessage WHERE conversation_id = %s)
            FROM (SELECT 1) AS one
            LEFT JOIN chat_generation run
                ON run.conversation_id = %s AND run.status = 'active'""",
        key,
        key,
    )
    return (sql.as_uuid(run), seq) if run else None, bool(queued)


def write_background_call(call: BackgroundCall) -> None:
    """Keep what a title or a summary took, unless its conversation is gone meanwhile."""
    if sql.fetch("SELECT 1 FROM chat_conversation WHERE id = %s", call.conversation_id):
        sql.insert([call])


def note_flushed(seqs: Mapping[UUID, int]) -> None:
    """How far these runs are stored, unless they have ended."""
    sql.change_each(
        "UPDATE chat_generation SET flushed_seq = %s WHERE id = %s AND status = 'active'",
        [(seq, key) for key, seq in seqs.items()],
    )


def held_runs(attempts: Mapping[UUID, int]) -> dict[UUID, JsonObject | None]:
    """Those of these runs that have not ended and that no other process has taken up since this
    attempt, held until the transaction ends; and who asked each to stop."""
    found = sql.fetch(
        f"""SELECT id, attempt, stop_requested_by FROM chat_generation
            WHERE status = 'active' AND id IN {sql.places(list(attempts))} {sql.for_update()}""",
        *attempts,
    )
    runs = ((sql.as_uuid(key), attempt, by) for key, attempt, by in found)
    return {
        key: json.loads(by) if by else None for key, attempt, by in runs if attempt == attempts[key]
    }


def leave_run(key: UUID, attempt: int, seq: int) -> bool:
    """Leave a run to whoever takes it up; whether it was still this attempt's."""
    return bool(
        sql.change(
            """UPDATE chat_generation SET process_id = NULL, flushed_seq = %s
                WHERE id = %s AND status = 'active' AND attempt = %s
                    AND stop_requested_by IS NULL""",
            *(seq, key, attempt),
        )
    )


def end_run(key: UUID, status: str, now: datetime, attempt: int = 0) -> bool:
    """Whether it was this call that ended the run: of all who try, one succeeds."""
    return bool(
        sql.change(
            """UPDATE chat_generation SET status = %s, finished = %s
                WHERE id = %s AND status = 'active' AND attempt = %s""",
            *(status, now, key, attempt),
        )
    )


# --- views ------------------------------------------------------------------------


# Views that need not be kept: in temporary chats they say how long the chat lives.
_LEFT_FOR_GOOD = """left_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM chat_generation run
        WHERE run.conversation_id = chat_view.conversation_id AND run.status = 'active')
    AND NOT EXISTS (SELECT 1 FROM chat_conversation
        WHERE chat_conversation.id = chat_view.conversation_id AND temporary)"""


def write_view(view: View) -> None:
    """A new view, or what a known socket shows now."""
    sql.insert([view], _VIEW_KNOWN)


def leave_views(user_id: int, tab_id: str, socket: str, *, closed: bool) -> None:
    """A socket of a tab is gone; what the tab showed before is left with it, in the same way.
    Those in which nothing is being written go."""
    sql.change(
        f"""UPDATE chat_view SET left_at = {sql.now()}, closed = %s
            WHERE user_id = %s AND tab_id = %s AND (socket = %s OR left_at IS NOT NULL)""",
        *(closed, user_id, tab_id, socket),
    )
    sql.change(
        f"DELETE FROM chat_view WHERE user_id = %s AND tab_id = %s AND {_LEFT_FOR_GOOD}",
        *(user_id, tab_id),
    )


def forget_left_views() -> None:
    sql.change(f"DELETE FROM chat_view WHERE {_LEFT_FOR_GOOD}")
