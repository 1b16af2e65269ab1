"""The list of conversations: whose they are, who answers, how they stand, what they took.

Sums are read for the rows of one page, not for all: the list is as fast with ten thousand.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import Conversation, Generation, Message

TOKENS = (
    "input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "cache_write_tokens",
)  # fmt: skip
RUNNING = Generation.objects.filter(conversation=OuterRef("pk"), status="active")
FAILED = Message.objects.filter(
    conversation=OuterRef("pk"), status="error", archived_at__isnull=True
)


class ConversationList(ChangeList):
    """Rows of one page, with what was counted of their messages."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows = list(self.result_list)
        sums = sums_of([row.pk for row in rows])
        for row in rows:
            row.sums = sums.get(row.pk, {})
        self.result_list = rows


def sums_of(ids: list[Any]) -> dict[Any, dict[str, Any]]:
    counted = (
        Message.objects.filter(conversation__in=ids)
        .order_by()
        .values("conversation")
        .annotate(
            count=Count("pk", filter=Q(archived_at__isnull=True)),
            cost=Sum("cost"),
            running=Count("pk", filter=Q(status__in=("pending", "streaming"))),
            **{name: Sum(name) for name in TOKENS},
        )
    )
    return {row["conversation"]: dict(row) for row in counted}


def tokens_of(sums: Mapping[str, Any]) -> int:
    return sum(sums.get(name) or 0 for name in TOKENS)


def cost_of(sums: Mapping[str, Any]) -> Decimal:
    return sums.get("cost") or Decimal(0)


class StateFilter(admin.SimpleListFilter):
    """How a conversation stands."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterator[tuple[str, Any]]:
        yield "running", _("running")
        yield "failed", _("with a failed answer")
        yield "archived", _("archived")
        yield "deleted", _("deleted")

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Conversation]
    ) -> QuerySet[Conversation]:
        match self.value():
            case "running":
                return queryset.filter(Exists(RUNNING))
            case "failed":
                return queryset.filter(Exists(FAILED))
            case "archived":
                return queryset.filter(archived_at__isnull=False, deleted_at__isnull=True)
            case "deleted":
                return queryset.filter(deleted_at__isnull=False)
            case _:
                return queryset
