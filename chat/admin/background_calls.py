"""What titles and summaries took."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chat.admin.read_only import ReadOnlyAdmin
from chat.models import BackgroundCall
from chat.rendering.page.usage import money


@admin.register(BackgroundCall)
class BackgroundCallAdmin(ReadOnlyAdmin[BackgroundCall]):
    conversations = ("conversation__temporary",)
    list_display = ("purpose", "conversation_key", "model_id", "input_tokens", "output_tokens",
                    "price", "created")  # fmt: skip
    list_filter = ("purpose", "model_id", "created")
    search_fields = ("=id", "=conversation__id", "conversation__owner__username", "model_id")
    readonly_fields = ("conversation_link",)
    fields = ("purpose", "conversation_link", "provider_id", "model_id", "input_tokens",
              "output_tokens", "reasoning_tokens", "cache_read_tokens", "cache_write_tokens",
              "cost", "created")  # fmt: skip

    @admin.display(description=_("cost"), ordering="cost")
    def price(self, row: BackgroundCall) -> str:
        return money(row.cost)
