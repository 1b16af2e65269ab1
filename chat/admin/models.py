"""Language models: what they can do and what they cost."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.admin.provider_checks import test_model
from chat.models import LanguageModel


@admin.register(LanguageModel)
class LanguageModelAdmin(admin.ModelAdmin[LanguageModel]):
    actions = ("test",)
    list_display = (
        "model_id", "label", "provider", "native_tools", "reasoning", "vision", "enabled",
    )  # fmt: skip
    list_filter = ("enabled", "provider", "native_tools", "vision")
    list_select_related = ("provider",)
    search_fields = ("model_id", "label", "provider__name")
    fieldsets = (
        (None, {"fields": ("provider", "model_id", "label", "enabled")}),
        (
            _("What it can do"),
            {
                "fields": (
                    "native_tools",
                    "vision",
                    "reasoning",
                    "efforts",
                    "thinking",
                    "context_window",
                    "max_output",
                ),
            },
        ),
        (
            _("Prices per million tokens"),
            {"fields": ("input_price", "output_price", "cache_read_price", "cache_write_price")},
        ),
    )

    @admin.action(description=_("Test: ask for one word"), permissions=["change"])
    def test(self, request: HttpRequest, models: QuerySet[LanguageModel]) -> None:
        for model in models.select_related("provider"):
            test_model(request, model)
