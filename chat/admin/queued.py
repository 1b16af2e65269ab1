"""Messages that wait for the end of an answer."""

from django.contrib import admin

from chat.admin.read_only import ReadOnlyAdmin
from chat.models import QueuedMessage


@admin.register(QueuedMessage)
class QueuedMessageAdmin(ReadOnlyAdmin[QueuedMessage]):
    conversations = ("conversation__temporary",)
    list_display = ("__str__", "conversation", "place", "created")
    list_filter = ("created",)
    list_select_related = ("conversation",)
    search_fields = ("text", "=id", "conversation__title")
    fields = ("conversation", "place", "text", "files", "revision", "client_id", "created")
