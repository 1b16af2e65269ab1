"""The messages of a conversation in the administration, each with what is stored of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from chat import services
from chat.admin.conversation_list import cost_of, tokens_of
from chat.models import Conversation, Message, Part, RequestLog
from chat.rendering.page.messages import message_html
from chat.rendering.page.usage import money
from chat.rendering.reader import Reader
from chat.views.reader import ZONE_COOKIE, make_reader

# How many messages a page draws; earlier ones are a link away.
DRAWN = 100


@dataclass(frozen=True, slots=True)
class StoredPart:
    row: Part
    label: str


@dataclass(frozen=True, slots=True)
class StoredMessage:
    row: Message
    html: str
    parts: tuple[StoredPart, ...]
    # How many requests it took, as far as they are kept, and where they are.
    sent_count: int
    sent_url: str


@dataclass(frozen=True, slots=True)
class Transcript:
    messages: tuple[StoredMessage, ...]
    older_url: str
    # Whether it ends before the conversation does.
    is_earlier: bool


def admin_reader(request: HttpRequest) -> Reader:
    """Whoever reads in the administration, where nothing can be done to a message."""
    zone = request.COOKIES.get(ZONE_COOKIE, "")
    return _in_admin(make_reader(request.user, get_language() or "en", zone=zone))


def _in_admin(reader: Reader) -> Reader:
    return replace(reader, may_act=False, in_admin=True)


def transcript(conversation: Conversation, request: HttpRequest, reader: Reader) -> Transcript:
    """The latest messages in their order, archived ones too, or those before `?before=`."""
    reader = _in_admin(reader)
    before = request.GET.get("before", "")
    found: QuerySet[Message] = conversation.messages.prefetch_related("parts")
    if before.isdecimal():
        found = found.filter(position__lt=min(int(before), 2**31))
    rows = list(found.order_by("-position")[: DRAWN + 1])
    has_older, rows = len(rows) > DRAWN, rows[:DRAWN]
    sent = _requests_of(rows, request)
    return Transcript(
        tuple(_stored(row, reader, sent) for row in reversed(rows)),
        older_url=f"?before={rows[-1].position}" if has_older else "",
        is_earlier=before.isdecimal(),
    )


def _stored(row: Message, reader: Reader, sent: Mapping[UUID, int]) -> StoredMessage:
    listed = reverse("admin:chat_requestlog_changelist")
    return StoredMessage(
        row,
        message_html(services.as_value(row), reader),
        tuple(StoredPart(part, _label(part, reader)) for part in row.parts.all()),
        sent_count=sent.get(row.pk, 0),
        sent_url=f"{listed}?message__id={row.pk}",
    )


def _label(part: Part, reader: Reader) -> str:
    """What a part is called below its message: a tool by its name, and how it stands."""
    words = [reader.names.tools.get(part.tool, part.tool) or part.get_type_display()]
    if part.tool_status not in ("", "completed"):
        words.append(part.get_tool_status_display())
    if part.ignored:
        words.append(_("ignored"))
    return " · ".join(words)


def _requests_of(rows: Iterable[Message], request: HttpRequest) -> dict[UUID, int]:
    """How many requests are kept of each message, for whoever may see them."""
    assert isinstance(request.user, User), "the administration lets nobody else in"
    if not request.user.has_perm("chat.view_requestlog"):
        return {}
    kept = RequestLog.objects.filter(message__in=[row.pk for row in rows]).order_by()
    return dict(kept.values_list("message").annotate(Count("pk")))


def facts_of(
    request: HttpRequest, row: Conversation, sums: Mapping[str, Any], state: str
) -> list[tuple[str, str, str]]:
    """What the list says of a conversation, above its messages: name, value, and where it leads."""
    assert isinstance(request.user, User), "the administration lets nobody else in"
    sees_people = request.user.has_perm("auth.view_user")
    owner = reverse("admin:auth_user_change", args=[row.owner_id]) if sees_people else ""
    facts = [
        (_("Owner"), str(row.owner), owner),
        (_("Agent"), str(row.agent or ""), ""),
        (_("Model"), str(row.model or ""), ""),
        (_("State"), state, ""),
        (_("Messages"), str(sums.get("count", 0)), ""),
        (_("Tokens"), number_format(tokens_of(sums), force_grouping=True), ""),
        (_("Cost"), money(cost_of(sums)), ""),
    ]
    return [fact for fact in facts if fact[1] not in ("", "–")]
