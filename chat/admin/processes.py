"""Server processes and the sockets they hold open."""

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Process, View


@admin.register(Process)
class ProcessAdmin(ReadOnlyAdmin[Process]):
    list_display = ("__str__", "alive", "running", "watching", "started", "lease")
    list_filter = ("started",)
    search_fields = ("host", "=id", "=pid")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Process]:
        running = Count("generations", Q(generations__status="active"), distinct=True)
        watching = Count("views", distinct=True)
        return super().get_queryset(request).annotate(running=running, watching=watching)

    @admin.display(description=_("alive"), boolean=True)
    def alive(self, row: Process) -> bool:
        return row.lease > timezone.now()

    @admin.display(description=_("running generations"), ordering="running")
    def running(self, row: Process) -> int:
        count: int = row.running  # type: ignore[attr-defined]  # counted in the query
        return count

    @admin.display(description=_("open views"), ordering="watching")
    def watching(self, row: Process) -> int:
        count: int = row.watching  # type: ignore[attr-defined]  # counted in the query
        return count


@admin.register(View)
class ViewAdmin(ReadOnlyAdmin[View]):
    conversations = ("conversation__temporary",)
    list_display = ("created", "user", "conversation_key", "process")
    list_filter = ("created",)
    list_select_related = ("user", "process")
    search_fields = ("socket", "tab_id", "user__username", "=conversation__id")
    readonly_fields = ("conversation_link",)
    fields = ("user", "conversation_link", "process", "socket", "tab_id", "created", "hidden",
              "left_at", "closed")  # fmt: skip
