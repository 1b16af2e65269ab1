"""Messages: everything that is known of one, and its parts."""

from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.plain_widgets import PlainTable
from chat.admin.read_only import ReadOnlyAdmin
from chat.admin.reading import ask_for_reason
from chat.admin.transcript import admin_reader
from chat.models import Message, Part
from chat.views.details import details_response


class PartInline(PlainTable):
    model = Part
    fields = readonly_fields = ("position", "type", "tool", "tool_status", "text")
    ordering = ("position",)
    extra = 0
    show_change_link = True
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Message | None = None) -> bool:
        return False


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin[Message]):
    conversations = ("conversation__temporary",)
    shows_words = True
    list_display = (
        "__str__", "conversation_key", "status", "model_id", "created", "archived_at",
    )  # fmt: skip
    list_filter = ("role", "status", "created")
    # The latest first, by their index.
    ordering = ("-id",)
    search_fields = ("=id", "=conversation__id", "error_key", "model_id")
    inlines = (PartInline,)
    fieldsets = (
        (None, {"fields": ("conversation", "position", "role", "status", "parent")}),
        (_("Answer"), {"fields": ("agent", "provider_id", "model_id", "finish_reason", "variant")}),
        (_("Error"), {"fields": ("error_key", "error_data")}),
        (
            _("Tokens"),
            {
                "fields": (
                    "input_tokens",
                    "output_tokens",
                    "reasoning_tokens",
                    "cache_read_tokens",
                    "cache_write_tokens",
                    "cost",
                )
            },
        ),
        (
            _("Details"),
            {"fields": ("system", "tools", "summary", "path", "format_version", "client_id")},
        ),
        (_("Times"), {"fields": ("created", "updated", "completed_at", "archived_at")}),
    )

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Message | None:
        """One of an older form is brought forward first."""
        row = super().get_object(request, object_id, from_field)
        if row is not None and services.upgrade(row.conversation_id):
            return super().get_object(request, object_id, from_field)
        return row

    def get_urls(self) -> list[URLPattern]:
        details = self.admin_site.admin_view(self.details)
        return [
            path("<uuid:answer_id>/details/", details, name="chat_message_details"),
            *super().get_urls(),
        ]

    def details(self, request: HttpRequest, answer_id: UUID) -> HttpResponse:
        """What is known of an answer, as its owner reads it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_queryset(request).filter(pk=answer_id, role=Message.Role.ASSISTANT).first()
        if row is None:
            raise Http404
        asked = ask_for_reason(request, row.conversation)
        if asked is not None:
            return asked
        return details_response(request, services.details_of(row), admin_reader(request))

    def has_delete_permission(self, request: HttpRequest, obj: Message | None = None) -> bool:
        """Not while it is being written: the run would go on writing it."""
        is_running = obj is not None and obj.is_running
        return not is_running and super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: Message) -> None:
        services.remove_message(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Message]) -> None:
        for message in queryset:
            services.remove_message(message)
