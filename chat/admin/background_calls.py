"""What titles and summaries took."""

from django.contrib import admin

from chat.admin.read_only import ReadOnlyAdmin
from chat.models import BackgroundCall


@admin.register(BackgroundCall)
class BackgroundCallAdmin(ReadOnlyAdmin[BackgroundCall]):
    conversations = ("conversation__temporary",)
    list_display = ("purpose", "conversation", "model_id", "input_tokens", "output_tokens", "cost",
                    "created")  # fmt: skip
    list_filter = ("purpose", "model_id", "created")
    list_select_related = ("conversation",)
    search_fields = ("=id", "=conversation__id", "conversation__title", "model_id")
