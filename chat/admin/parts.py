"""Parts: the one thing of an answer that may be amended, and only under the rules of parts."""

from typing import Any, Final
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.text import smart_split
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.part_form import PartForm, boxes_of
from chat.admin.part_inspector import inspect_part
from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Part
from chat.protocol.ids import is_uuid
from chat.views.model_form import ModelForm

IS_CALL: Final = Q(type=Part.Type.TOOL)


@admin.register(Part)
class PartAdmin(ReadOnlyAdmin[Part]):
    conversations = ("conversation__temporary",)
    shows_words = True
    form = PartForm
    editable = ("text", "data", "ignored")
    list_display = ("__str__", "message", "tool", "tool_status", "size", "conversation_key")
    # Not by tool: to list all there are takes reading all parts.
    list_filter = ("type", "tool_status")
    # The latest first, by their index.
    ordering = ("-id",)
    list_select_related = ("message",)
    # What `meant_by` looks for: among all parts only what an index leads to.
    search_fields = ("=id", "=message__id", "=conversation__id", "tool", "=call_id")
    search_help_text = _("The name of a tool, or the id of a part, message, conversation or call.")

    def get_fieldsets(self, request: HttpRequest, obj: Part | None = None) -> Any:
        """Boxes for what is mostly amended, for whoever may."""
        may_edit = obj is not None and self.has_change_permission(request, obj)
        boxes = boxes_of(obj) if obj is not None and may_edit else ("ignored",)
        return (
            (None, {"fields": ("conversation", "message", "position", "type")}),
            (_("Tool"), {"fields": ("tool", "call_id", "tool_status", "parent_call_id")}),
            (_("Content"), {"fields": ("text", *boxes, "data")}),
            (_("Marks"), {"fields": ("synthetic", "started_at", "ended_at")}),
        )

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Part | None:
        """An older message is brought forward first; what it consists of may be others then."""
        row = super().get_object(request, object_id, from_field)
        if row is not None and services.upgrade(row.conversation_id):
            return super().get_object(request, object_id, from_field)
        return row

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Part], search_term: str
    ) -> tuple[QuerySet[Part], bool]:
        words = {word.strip("\"'") for word in smart_split(search_term)}
        wanted = meant_by(words) if words else Q()
        return (queryset.none() if wanted is None else queryset.filter(wanted)), False

    def get_urls(self) -> list[URLPattern]:
        inspect = self.admin_site.admin_view(self.inspect)
        return [
            path("<uuid:part_id>/inspect/", inspect, name="chat_part_inspect"),
            *super().get_urls(),
        ]

    def inspect(self, request: HttpRequest, part_id: UUID) -> HttpResponse:
        return inspect_part(self, request, part_id, PartForm)

    @admin.display(description=_("characters"))
    def size(self, row: Part) -> int:
        """Not the words: reading them takes a reason."""
        return len(row.text)

    def has_change_permission(self, request: HttpRequest, obj: Part | None = None) -> bool:
        return request.user.has_perm("chat.edit_conversation")

    def save_model(
        self, request: HttpRequest, obj: Part, form: ModelForm[Part], change: bool
    ) -> None:
        if form.changed_data:
            services.amend_part(obj, form.cleaned_data["text"], form.cleaned_data["data"])

    def has_delete_permission(self, request: HttpRequest, obj: Part | None = None) -> bool:
        """Not while its answer is being written: the run would go on writing it."""
        is_running = obj is not None and obj.message.is_running
        return not is_running and super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: Part) -> None:
        services.remove_part(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Part]) -> None:
        for part in queryset.select_related("message"):
            services.remove_part(part)


def meant_by(words: set[str]) -> Q | None:
    """The parts that all of these words name: by an id, a piece of a tool’s name, or the id of a
    call. Nothing where none can be: with many words a statement would be too long."""
    ids = {word for word in words if is_uuid(word)}
    # Its own id, and those of its message, conversation and call.
    if len(ids) > 4:
        return None
    wanted = Q()
    for word in ids:
        own = Q(pk=word) | Q(message=word) | Q(conversation=word)
        wanted &= own | (IS_CALL & Q(call_id=word))
    return _meant_by_names(words - ids, wanted) if words - ids else wanted


def _meant_by_names(words: set[str], wanted: Q) -> Q | None:
    used = services.used_tools()
    tools, call_ids = used, set()
    for word in words:
        if any(word.lower() in tool.lower() for tool in used):
            tools = [tool for tool in tools if word.lower() in tool.lower()]
        else:
            call_ids.add(word)
        if not tools or len(call_ids) > 1:
            return None
    if len(call_ids) < len(words):
        wanted &= IS_CALL & Q(tool__in=tools)
    for word in call_ids:
        # Of very many names some are not looked through, but each is found as a whole.
        is_tool = Part.objects.filter(IS_CALL, tool=word).exists()
        wanted &= IS_CALL & (Q(tool=word) if is_tool else Q(call_id=word))
    return wanted
