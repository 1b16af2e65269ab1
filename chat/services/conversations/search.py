"""Search: a person's own conversations by title, text and what tools answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Case, F, IntegerField, Max, Q, QuerySet, When
from django.db.models.expressions import RawSQL
from django.utils import timezone

from chat.formats.search_filters import PERIODS, Filters
from chat.formats.search_query import Clause, parse_query
from chat.formats.search_snippet import Piece, marked, snippet
from chat.models import Attachment, Message, Part, SearchEntry
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.services.caller import Caller
from chat.services.catalog.known import current_catalog
from chat.services.conversations.search_index import text_of

PAGE = 20
LAST_PAGE = 50
ALL = Filters()
_TALK = "message__conversation_id"


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation, and the latest of its messages that has all that was asked for.

    `title` and `snippet` are pieces that are marked or not.
    """

    id: str
    title: tuple[Piece, ...]
    # When the message was written, or else when the conversation was last changed.
    when: datetime
    snippet: tuple[Piece, ...] = ()
    # Of the message the snippet is from, and of the last there is.
    position: int | None = None
    last_position: int = 0


@dataclass(frozen=True, slots=True)
class Results:
    found: tuple[Found, ...] = ()
    # How many there are up to the end of this page.
    count: int = 0
    # The number of the page after this one, if there is more.
    next_page: int | None = None


def search(
    caller: Caller,
    query: str,
    page: int = 1,
    filters: Filters = ALL,
    now: datetime | None = None,
) -> Results:
    """Titles first, then the latest; two queries, whatever is asked, and one more to know an agent.

    `now` is by the clock of whoever asks: it says when their day began.
    """
    _check(filters)
    clauses = parse_query(query)
    page = min(max(page, 1), LAST_PAGE)
    if not clauses:
        return Results()
    begin = (page - 1) * PAGE
    wanted = _wanted(caller.user_id, filters, now or timezone.localtime())
    rows = list(_matching(caller.user_id, clauses, wanted)[begin : begin + PAGE + 1])
    texts = _texts(rows[:PAGE])
    more = len(rows) > PAGE and page < LAST_PAGE
    return Results(
        tuple(_found(row, clauses, texts) for row in rows[:PAGE]),
        begin + len(rows[:PAGE]),
        page + 1 if more else None,
    )


def _check(filters: Filters) -> None:
    known = filters.period in PERIODS
    ids = [key for key in (filters.agent, filters.folder) if key]
    if not known or not all(is_uuid(key) for key in ids):
        raise ChatError("error.chat_bad_command")


def _wanted(user_id: int, filters: Filters, now: datetime) -> Q:
    """What the filters ask of an entry. Whose agent and which files is asked once for all of a
    person's conversations, not for every entry that is found."""
    wanted = _within(*filters.span(now))
    if filters.agent:
        agent = current_catalog().agents.get(UUID(filters.agent))
        answers = Message.objects.shown().filter(
            conversation__owner_id=user_id, agent=agent.key if agent else None
        )
        wanted &= Q(conversation_id__in=answers.values("conversation_id"))
    if filters.folder:
        wanted &= Q(conversation__folder_id=filters.folder)
    if filters.files:
        files = Attachment.objects.filter(owner_id=user_id, message__archived_at=None)
        wanted &= Q(conversation_id__in=files.filter(message__isnull=False).values(_TALK))
    return wanted


def _within(since: datetime | None, until: datetime | None) -> Q:
    """A message by when it was written, a title by when its conversation was last changed."""
    message, title = Q(message__isnull=False), Q(message=None)
    if since:
        message &= Q(message__created__gte=since)
        title &= Q(conversation__updated__gte=since)
    if until:
        message &= Q(message__created__lt=until)
        title &= Q(conversation__updated__lt=until)
    return message | title if since or until else Q()


def _matching(user_id: int, clauses: Sequence[Clause], wanted: Q) -> QuerySet[Any, Any]:
    entries = SearchEntry.objects.filter(
        Q(message=None) | Q(message__archived_at=None),
        wanted,
        pk__in=_INDEXES[connection.vendor](user_id, clauses),
        conversation__owner_id=user_id,
        conversation__deleted_at=None,
        conversation__temporary=False,
    )
    titled = Case(When(message=None, then=1), default=0, output_field=IntegerField())
    # The columns of a conversation are the same in all its rows: the greatest of them is any,
    # and grouping by one column costs half of grouping by four.
    grouped = entries.values("conversation_id").annotate(
        titled=Max(titled),
        position=Max("message__position"),
        written=Max("message__created"),
        title=Max("conversation__title"),
        updated=Max("conversation__updated"),
        last_position=Max("conversation__last_position"),
    )
    return grouped.order_by("-titled", "-updated", "conversation_id")


def _sqlite(user_id: int, clauses: Sequence[Clause]) -> RawSQL:
    # Words have no quotes in them, so nothing typed is read as syntax.
    phrases = (f'"{" ".join(clause.words)}"{" *" if clause.open else ""}' for clause in clauses)
    match = f'owner_id : "{user_id}" AND words : ({" AND ".join(phrases)})'
    return RawSQL("SELECT rowid FROM chat_search WHERE chat_search MATCH %s", [match])


def _postgresql(user_id: int, clauses: Sequence[Clause]) -> RawSQL:
    """The index knows words and not their order; that is looked up in what it finds."""
    lexemes = " & ".join(lexeme for clause in clauses for lexeme in _lexemes(clause))
    sql = (
        "SELECT id FROM chat_searchentry WHERE owner_id = %s"
        " AND array_to_tsvector(string_to_array(words, ' ')) @@ %s::tsquery"
    )
    values: list[Any] = [user_id, lexemes]
    for clause in clauses:
        if len(clause.words) > 1:
            sql += " AND ' ' || words || ' ' LIKE %s"
            values.append(f"% {' '.join(clause.words)}{'%' if clause.open else ' %'}")
    return RawSQL(sql, values)


def _lexemes(clause: Clause) -> list[str]:
    last = f"'{clause.words[-1]}'{':*' if clause.open else ''}"
    return [*(f"'{word}'" for word in clause.words[:-1]), last]


_INDEXES = {"sqlite": _sqlite, "postgresql": _postgresql}


def _texts(rows: Sequence[dict[str, Any]]) -> dict[tuple[UUID, int], list[str]]:
    """The texts of the messages that were found, part by part; what people and models wrote comes
    before what tools answered."""
    wanted = Q()
    for row in rows:
        if row["position"] is not None:
            wanted |= Q(
                message__conversation_id=row["conversation_id"], message__position=row["position"]
            )
    if not wanted:
        return {}
    parts = Part.objects.filter(wanted).annotate(at=F("message__position"))
    texts: dict[tuple[UUID, int], list[str]] = {}
    for part in sorted(parts, key=lambda part: (part.type != Part.Type.TEXT, part.position)):
        texts.setdefault((part.conversation_id, part.at), []).append(text_of(part))
    return texts


def _found(
    row: dict[str, Any],
    clauses: Sequence[Clause],
    texts: dict[tuple[UUID, int], list[str]],
) -> Found:
    position = row["position"]
    pieces = texts.get((row["conversation_id"], position), []) if position is not None else []
    return Found(
        id=str(row["conversation_id"]),
        title=marked(row["title"], clauses),
        when=row["written"] or row["updated"],
        snippet=snippet(pieces, clauses),
        position=position,
        last_position=row["last_position"],
    )
