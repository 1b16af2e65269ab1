"""Conversations, with their messages drawn as on the page."""

from dataclasses import replace
from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Conversation
from chat.rendering.page.messages import message_html
from chat.rendering.reader import Reader
from chat.views.model_form import ModelForm
from chat.views.reader import ZONE_COOKIE, make_reader

# The latest messages are drawn; the others are in the list of messages.
DRAWN = 100


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin[Conversation]):
    conversations = ("temporary",)
    change_form_template = "admin/chat/conversation/change_form.html"
    editable = ("title", "agent", "model", "pinned", "archived_at", "deleted_at")
    list_display = ("__str__", "owner", "agent", "message_count", "updated", "archived_at")
    list_filter = ("updated", "agent", "pinned")
    list_select_related = ("owner", "agent")
    search_fields = ("title", "owner__username", "=id", "external_session_id")
    raw_id_fields = ("agent", "model")
    date_hierarchy = "created"
    fieldsets = (
        (None, {"fields": ("title", "owner", "agent", "model", "pinned", "folder")}),
        (_("State"), {"fields": ("rev", "tool_style", "prompt_language", "external_session_id")}),
        (_("Times"), {"fields": ("created", "updated", "archived_at", "deleted_at")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        return super().get_queryset(request).annotate(message_count=Count("messages"))

    @admin.display(description=_("messages"), ordering="message_count")
    def message_count(self, row: Conversation) -> int:
        count: int = row.message_count  # type: ignore[attr-defined]  # counted in the query
        return count

    def save_model(
        self, request: HttpRequest, obj: Conversation, form: ModelForm[Conversation], change: bool
    ) -> None:
        if form.changed_data:
            services.amend_conversation(obj, form.changed_data)

    def delete_model(self, request: HttpRequest, obj: Conversation) -> None:
        services.remove_conversation(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> None:
        for conversation in queryset:
            services.remove_conversation(conversation)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        conversation = kwargs.get("obj")
        if conversation is not None:
            context["transcript"] = transcript(conversation, request)
            context["message_list"] = (
                f"{reverse('admin:chat_message_changelist')}?conversation__id={conversation.pk}"
            )
        return super().render_change_form(request, context, *args, **kwargs)


def admin_reader(request: HttpRequest) -> Reader:
    """Whoever reads in the administration, where nothing can be done to a message."""
    zone = request.COOKIES.get(ZONE_COOKIE, "")
    reader = make_reader(request.user, get_language() or "en", zone=zone)
    return replace(reader, may_act=False, in_admin=True)


def transcript(conversation: Conversation, request: HttpRequest) -> list[dict[str, Any]]:
    """The latest messages in their order, archived ones too, each with its rows."""
    reader = admin_reader(request)
    rows = conversation.messages.prefetch_related("parts").order_by("-position")[:DRAWN]
    return [
        {"row": row, "html": message_html(services.as_value(row), reader), "parts": row.parts.all()}
        for row in reversed(rows)
    ]
