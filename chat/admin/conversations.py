"""Conversations: one's page shows it as its reader sees it, with all that is stored of it."""

from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.urls import URLPattern, path, reverse
from django.utils.formats import number_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.conversation_list import (
    ConversationList,
    StateFilter,
    cost_of,
    sums_of,
    tokens_of,
)
from chat.admin.read_only import ReadOnlyAdmin
from chat.admin.reading import ask_and_keep, ask_for_reason, reason_given
from chat.admin.transcript import admin_reader, facts_of, transcript
from chat.models import Conversation
from chat.protocol.errors import ChatError
from chat.rendering.errors import error_text
from chat.rendering.page.export_choices import export_choices
from chat.rendering.page.usage import money
from chat.views.model_form import ModelForm
from chat.views.responses import caller

# What can be done to a conversation, and the right that it takes.
VERBS = {
    "stop": "chat.stop_generation",
    "delete": "chat.delete_conversation",
    "restore": "chat.delete_conversation",
    "redact": "chat.redact_conversation",
}


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin[Conversation]):
    conversations = ("temporary",)
    shows_words = True
    change_form_template = "admin/chat/conversation/change_form.html"
    editable = ("title", "agent", "model", "pinned", "archived_at")
    list_display = (
        "__str__", "owner", "agent", "model", "state", "message_count", "tokens", "cost", "updated",
    )  # fmt: skip
    list_filter = (StateFilter, "updated", "agent", "model", "pinned")
    list_per_page = 50
    search_fields = ("title", "owner__username", "=id", "external_session_id")
    fieldsets = (
        (None, {"fields": ("title", "owner", "agent", "model", "pinned", "folder")}),
        (_("State"), {"fields": ("rev", "tool_style", "prompt_language", "external_session_id")}),
        (_("Times"), {"fields": ("created", "updated", "archived_at", "deleted_at")}),
    )

    # --- the list -------------------------------------------------------------------

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ConversationList]:
        return ConversationList

    @admin.display(description=_("state"))
    def state(self, row: Conversation) -> str:
        if row.deleted_at:
            return gettext("deleted")
        if _is_running(row):
            return gettext("running")
        return gettext("archived") if row.archived_at else "–"

    @admin.display(description=_("messages"))
    def message_count(self, row: Conversation) -> int:
        return int(_sums(row).get("count", 0))

    @admin.display(description=_("tokens"))
    def tokens(self, row: Conversation) -> str:
        return number_format(tokens_of(_sums(row)), force_grouping=True)

    @admin.display(description=_("cost"))
    def cost(self, row: Conversation) -> str:
        return money(cost_of(_sums(row)))

    # --- one of them ----------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        return super().get_queryset(request).select_related("owner", "agent", "model")

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Conversation | None:
        """Messages of an older form are brought forward first."""
        row = super().get_object(request, object_id, from_field)
        if row is not None and services.upgrade(row.pk):
            return super().get_object(request, object_id, from_field)
        return row

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
            conversation.sums = sums_of([conversation.pk]).get(conversation.pk, {})
            context["transcript"] = transcript(conversation, request, context["reader"])
            context["message_list"] = (
                f"{reverse('admin:chat_message_changelist')}?conversation__id={conversation.pk}"
            )
            context["may"] = {verb: request.user.has_perm(right) for verb, right in VERBS.items()}
            context["facts"] = facts_of(
                request, conversation, conversation.sums, self.state(conversation)
            )
            context["is_running"] = _is_running(conversation)
            context["exports"] = (
                [each for each in export_choices(of_all=False) if each.value in services.FORMATS]
                if request.user.has_perm("chat.export_conversation")
                else []
            )
            # For good is another thing than out of its owner's list: offered for what is deleted.
            context["may_remove"] = self.has_delete_permission(request, conversation)
            context["show_delete"] = False
        return super().render_change_form(request, context, *args, **kwargs)

    # --- what can be done to it -----------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        act = self.admin_site.admin_view(self.act)
        export = self.admin_site.admin_view(self.export)
        return [
            path("<uuid:conversation_id>/act/<slug:verb>/", act, name="chat_conversation_act"),
            path(
                "<uuid:conversation_id>/export/<slug:form>/",
                export,
                name="chat_conversation_export",
            ),
            *super().get_urls(),
        ]

    def act(self, request: HttpRequest, conversation_id: UUID, verb: str) -> HttpResponse:
        """Stop, delete, restore or redact, and back to its page."""
        if not request.user.has_perm(VERBS.get(verb, "chat.redact_conversation")):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        row = self._row(request, conversation_id, verb in VERBS)
        asked = ask_and_keep(self.admin_site, request, row) if verb == "redact" else None
        if asked is not None:
            return asked
        try:
            messages.success(request, self._do(request, row, verb))
        except ChatError as error:
            messages.warning(request, error_text(error.key, error.data))
        return HttpResponseRedirect(reverse("admin:chat_conversation_change", args=[row.pk]))

    def _do(self, request: HttpRequest, row: Conversation, verb: str) -> str:
        asking, reason = caller(request), reason_given(request, row)
        match verb:
            case "stop":
                run = row.generations.filter(status="active").first()
                if run is None:
                    raise ChatError("error.chat_no_active_generation")
                async_to_sync(services.stop_as_admin)(asking, run, reason=reason)
                return gettext("The answer is stopping.")
            case "redact":
                words = request.POST.get("text", "")
                count = services.redact(asking, row.pk, words, reason=reason)
                return gettext("Replaced in %(count)s places.") % {"count": count}
            case _:
                deleted = verb == "delete"
                services.put_away(asking, row, deleted=deleted, reason=reason)
                return gettext("It is deleted.") if deleted else gettext("It is back.")

    def export(
        self, request: HttpRequest, conversation_id: UUID, form: str
    ) -> HttpResponse | StreamingHttpResponse:
        """The conversation as a file, as its owner exports it."""
        if not request.user.has_perm("chat.export_conversation"):
            raise PermissionDenied
        row = self._row(request, conversation_id, form in services.FORMATS)
        asked = ask_for_reason(request, row)
        if asked is not None:
            return asked
        written = services.FORMATS[form]
        chat = services.open_export_of(caller(request), row, reason=reason_given(request, row))
        names = admin_reader(request).names.agents
        response = HttpResponse("".join(written.write(chat, names)), content_type=written.mime)
        name = f"parley-{str(row.pk)[:8]}.{written.ending}"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    def _row(self, request: HttpRequest, conversation_id: UUID, is_known: bool) -> Conversation:
        row = self.get_queryset(request).select_related("owner").filter(pk=conversation_id).first()
        if row is None or not is_known:
            raise Http404
        return row


def _sums(row: Conversation) -> dict[str, Any]:
    return getattr(row, "sums", {})


def _is_running(row: Conversation) -> bool:
    return bool(_sums(row).get("running"))
