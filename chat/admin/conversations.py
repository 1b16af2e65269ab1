"""Conversations, with all that was said drawn as on the page."""

from dataclasses import replace
from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.forms.models import ModelForm
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from chat.admin.reading import WrittenByProgram
from chat.models import Conversation
from chat.readers import make_reader
from chat.rendering.messages import message_html
from chat.services.amend import amend_conversation
from chat.services.reading import as_value

# The latest messages are drawn; the others are in the list of messages.
DRAWN = 100


@admin.register(Conversation)
class ConversationAdmin(WrittenByProgram):
    change_form_template = "admin/chat/conversation/change_form.html"
    editable = ("title", "agent", "model", "pinned", "archived_at", "deleted_at")
    list_display = ("__str__", "owner", "agent", "message_count", "updated", "archived_at")
    list_filter = ("updated", "agent", "pinned")
    list_select_related = ("owner", "agent")
    search_fields = ("title", "owner__username", "=id", "external_session_id")
    raw_id_fields = ("agent", "model")
    date_hierarchy = "created"
    fieldsets = (
        (None, {"fields": ("title", "owner", "agent", "model", "pinned")}),
        (_("State"), {"fields": ("rev", "tool_style", "prompt_language", "external_session_id")}),
        (_("Times"), {"fields": ("created", "updated", "archived_at", "deleted_at")}),
    )

    class Media:
        css = {"all": ("css/admin.css",)}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        return super().get_queryset(request).annotate(message_count=Count("messages"))

    @admin.display(description=_("messages"), ordering="message_count")
    def message_count(self, row: Conversation) -> int:
        return row.message_count  # type: ignore[attr-defined]  # counted in the query

    def save_model(
        self, request: HttpRequest, obj: Conversation, form: ModelForm, change: bool
    ) -> None:
        if form.changed_data:
            amend_conversation(obj, form.changed_data)

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


def transcript(conversation: Conversation, request: HttpRequest) -> list[dict[str, Any]]:
    """The latest messages in their order, archived ones too, each with its rows."""
    reader = replace(make_reader(request.user, get_language() or "en"), may_act=False)
    rows = conversation.messages.prefetch_related("parts").order_by("-position")[:DRAWN]
    return [
        {"row": row, "html": message_html(as_value(row), reader), "parts": row.parts.all()}
        for row in reversed(rows)
    ]
