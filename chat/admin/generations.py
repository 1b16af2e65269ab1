"""Generations: what runs now and what ran before, and a way to stop it."""

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat import services
from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Generation
from chat.protocol.errors import ChatError
from chat.rendering.errors import error_text
from chat.services import Caller


@admin.register(Generation)
class GenerationAdmin(ReadOnlyAdmin[Generation]):
    conversations = ("conversation__temporary",)
    list_display = ("id", "conversation", "user", "status", "process", "started", "finished")
    list_filter = ("status", "started")
    list_select_related = ("conversation", "user", "process")
    search_fields = ("=id", "=conversation__id", "user__username", "conversation__title")
    actions = ("stop",)

    @admin.action(description=_("Stop the selected generations"), permissions=["change"])
    def stop(self, request: HttpRequest, queryset: QuerySet[Generation]) -> None:
        stopped = 0
        assert isinstance(request.user, User), "the administration lets nobody else in"
        name = request.user.get_short_name() or request.user.get_username()
        caller = Caller(request.user.pk, name)
        for generation in queryset.filter(status=Generation.Status.ACTIVE):
            try:
                async_to_sync(services.stop_as_admin)(caller, generation)
                stopped += 1
            except ChatError as error:
                # It ended by itself meanwhile.
                self.message_user(request, error_text(error.key, error.data), messages.WARNING)
        self.message_user(
            request,
            ngettext("%(n)d generation is stopping.", "%(n)d generations are stopping.", stopped)
            % {"n": stopped},
        )
