"""What was sent to providers, and what came back."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.read_only import ReadOnlyAdmin
from chat.admin.reading import note_once
from chat.models import RequestLog
from chat.rendering.errors import error_text
from chat.rendering.page.requests import as_curl, readable


@admin.register(RequestLog)
class RequestLogAdmin(ReadOnlyAdmin[RequestLog]):
    conversations = ("conversation__temporary",)
    shows_words = True
    change_form_template = "admin/chat/requestlog/change_form.html"
    list_display = ("began", "owner", "model_id", "kind", "status", "error", "first_ms", "took_ms",
                    "conversation_key")  # fmt: skip
    list_select_related = ("conversation__owner",)
    list_filter = ("began", "kind", "error_key", "model_id")
    search_fields = ("=id", "=conversation__id", "=message__id", "model_id", "error_key")
    date_hierarchy = "began"
    readonly_fields = ("conversation_link", "owner", "error")
    fieldsets = (
        (None, {"fields": ("conversation_link", "owner", "message", "kind", "model_id", "url")}),
        (_("Answer"), {"fields": ("status", "error", "began", "first_ms", "took_ms")}),
    )

    @admin.display(description=_("owner"), ordering="conversation__owner__username")
    def owner(self, row: RequestLog) -> User:
        return row.conversation.owner

    @admin.display(description=_("error"), ordering="error_key")
    def error(self, row: RequestLog) -> str:
        return error_text(row.error_key) if row.error_key else ""

    def has_change_permission(self, request: HttpRequest, obj: RequestLog | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[RequestLog]:
        rows = super().get_queryset(request)
        # A list needs none of the texts.
        in_list = request.resolver_match and "object_id" not in request.resolver_match.kwargs
        return rows.defer("sent", "received") if in_list else rows

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = kwargs.get("obj")
        if row is not None:
            note_once(request, row.conversation, services.Verb.REQUESTS)
            sent = services.sent_text(row)
            context["sent"] = readable(sent)
            context["received"] = services.received_text(row)
            context["curl"] = as_curl(row.url, row.headers, sent)
        return super().render_change_form(request, context, *args, **kwargs)
