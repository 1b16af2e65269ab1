"""Generations: what runs now and what ran before, and a way to stop it."""

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat import services
from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Generation
from chat.protocol.errors import ChatError
from chat.rendering.errors import error_text
from chat.views.responses import caller


@admin.register(Generation)
class GenerationAdmin(ReadOnlyAdmin[Generation]):
    conversations = ("conversation__temporary",)
    list_display = ("started", "conversation_key", "user", "status", "process", "finished")
    list_filter = ("status", "started")
    list_select_related = ("user", "process")
    search_fields = ("=id", "=conversation__id", "user__username")
    readonly_fields = ("conversation_link",)
    fields = ("status", "conversation_link", "message", "user", "process", "attempt", "tab_id",
              "client_id", "stop_requested_by", "started", "finished")  # fmt: skip
    actions = ("stop",)

    def has_stop_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("chat.stop_generation")

    @admin.action(description=_("Stop the selected generations"), permissions=["stop"])
    def stop(self, request: HttpRequest, queryset: QuerySet[Generation]) -> None:
        stopped = 0
        asker = caller(request)
        for generation in queryset.filter(status=Generation.Status.ACTIVE):
            try:
                async_to_sync(services.stop_as_admin)(asker, generation)
                stopped += 1
            except ChatError as error:
                # It ended by itself meanwhile.
                self.message_user(request, error_text(error.key, error.data), messages.WARNING)
        self.message_user(
            request,
            ngettext("%(n)d generation is stopping.", "%(n)d generations are stopping.", stopped)
            % {"n": stopped},
        )
