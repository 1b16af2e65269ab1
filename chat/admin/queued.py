"""Messages that wait for the end of an answer."""

from django.contrib import admin

from chat.admin.read_only import ReadOnlyAdmin
from chat.models import QueuedMessage


@admin.register(QueuedMessage)
class QueuedMessageAdmin(ReadOnlyAdmin[QueuedMessage]):
    conversations = ("conversation__temporary",)
    shows_words = True
    list_display = ("created", "conversation_key", "place")
    list_filter = ("created",)
    search_fields = ("=id", "=conversation__id", "conversation__owner__username")
    readonly_fields = ("conversation_link",)
    fields = ("conversation_link", "place", "text", "files", "revision", "client_id", "created")
