"""Generations: what runs now and what ran before, and a way to stop it."""

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.admin.reading import WrittenByProgram
from chat.models import Generation
from chat.protocol.errors import ChatError
from chat.rendering.errors import error_text
from chat.services.stop import stop_generation


@admin.register(Generation)
class GenerationAdmin(WrittenByProgram):
    list_display = ("id", "conversation", "user", "status", "process", "started", "finished")
    list_filter = ("status", "started")
    list_select_related = ("conversation", "user", "process")
    search_fields = ("=id", "=conversation__id", "user__username", "conversation__title")
    actions = ("stop",)

    @admin.action(description=_("Stop the selected generations"), permissions=["change"])
    def stop(self, request: HttpRequest, queryset: QuerySet[Generation]) -> None:
        stopped = 0
        for generation in queryset.filter(status=Generation.Status.ACTIVE):
            # An administrator stops it in the owner's name: only they have the conversation.
            owner = generation.conversation.owner_id
            try:
                async_to_sync(stop_generation)(
                    owner,
                    str(generation.conversation_id),
                    request.user.get_username(),
                    request_id=str(generation.pk),
                )
                stopped += 1
            except ChatError as error:
                # It ended by itself meanwhile.
                self.message_user(request, error_text(error.key, error.data), messages.WARNING)
        self.message_user(
            request,
            ngettext("%(n)d generation is stopping.", "%(n)d generations are stopping.", stopped)
            % {"n": stopped},
        )
