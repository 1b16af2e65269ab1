"""Language models: what they can do and what they cost."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.agents_left import TellsAgents
from chat.admin.model_entry import abilities, entry_of
from chat.admin.plain_widgets import PlainTable
from chat.admin.provider_checks import may_ask, test_model
from chat.models import LanguageModel, ModelAdjustment
from chat.protocol.server_tools import ServerTool
from chat.rendering.adjustments import adjustment_text
from chat.rendering.page.models import retirement_text
from chat.views.model_form import ModelForm

# What an administrator can allow a provider, in words.
SERVER_TOOLS: dict[ServerTool, Promise] = {
    "web_search": _("search the web"),
    "web_fetch": _("read pages of the web"),
    "code_execution": _("run code on its own machines"),
}


_ABILITIES = _("What it can do")
_PRICES = _("Prices per million tokens")
# What is not only an administrator's to say.
_KNOWN = (_ABILITIES, _PRICES)


# The fields of them.
PRICES = ("input_price", "output_price", "cache_read_price", "cache_write_price")


class LanguageModelForm(ModelForm[LanguageModel]):
    server_tools = forms.MultipleChoiceField(
        label=_("The provider may"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=tuple(SERVER_TOOLS.items()),
        help_text=LanguageModel._meta.get_field("server_tools").help_text,
    )

    class Meta:
        model = LanguageModel
        fields = "__all__"

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("free") and any(given.get(name) for name in PRICES):
            self.add_error("free", _("It has prices. Set them to 0, or take this mark away."))
        return given


class AdjustmentInline(PlainTable):
    """What its server has refused. To be read, and taken back one by one."""

    model = ModelAdjustment
    fields = readonly_fields = ("what", "refusal", "created")
    extra = 0
    verbose_name_plural = _("Adjusted after refusals")

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    @admin.display(description=_("how it is asked"))
    def what(self, row: ModelAdjustment) -> str:
        return adjustment_text(services.adjustment_of(row))


@admin.register(LanguageModel)
class LanguageModelAdmin(TellsAgents[LanguageModel], admin.ModelAdmin[LanguageModel]):
    form = LanguageModelForm
    actions = ("test",)
    inlines = (AdjustmentInline,)
    list_display = ("model_id", "label", "provider", "abilities", "price", "end", "enabled")
    # Of hundreds somebody chooses what is offered.
    list_editable = ("enabled",)
    list_filter = ("enabled", "provider", "native_tools", "vision", "reasoning")
    list_select_related = ("provider",)
    search_fields = ("model_id", "label", "provider__name")
    fieldsets = (
        (None, {"fields": ("provider", "model_id", "label", "enabled")}),
        (
            _ABILITIES,
            {
                "fields": (
                    "native_tools",
                    "vision",
                    "reasoning",
                    "efforts",
                    "thinking",
                    "documents",
                    "context_window",
                    "max_output",
                    "server_tools",
                    "retires_on",
                ),
            },
        ),
        (_("Requests"), {"fields": ("wire", "output_limit", "extra_body")}),
        (
            _PRICES,
            {"fields": ("free", *PRICES)},
        ),
    )

    def get_fieldsets(self, request: HttpRequest, obj: LanguageModel | None = None) -> Any:
        """With a word on where this comes from, and of which day it is."""
        known = _(
            "As the provider lists it, else as it was known on %(date)s. What you change stays."
        ) % {"date": date_format(services.models_checked_on())}
        return [
            (name, {**options, "description": known} if name in _KNOWN else options)
            for name, options in super().get_fieldsets(request, obj)
        ]

    def save_model(
        self,
        request: HttpRequest,
        obj: LanguageModel,
        form: ModelForm[LanguageModel],
        change: bool,
    ) -> None:
        super().save_model(request, obj, form, change)
        if form.changed_data:
            services.note_set_by_hand(obj, form.changed_data)

    @admin.display(description=_("what it can do"))
    def abilities(self, model: LanguageModel) -> str:
        return abilities(entry_of(model)) or "–"

    @admin.display(description=_("price, in and out"), ordering="output_price")
    def price(self, model: LanguageModel) -> str:
        return entry_of(model).price_text or "–"

    @admin.display(description=_("end"), ordering="retires_on")
    def end(self, model: LanguageModel) -> str:
        return retirement_text(model.retires_on) or "–"

    @admin.action(description=_("Test: ask for one word"), permissions=["change"])
    def test(self, request: HttpRequest, models: QuerySet[LanguageModel]) -> None:
        for model in models.select_related("provider"):
            if may_ask(request, model.provider):
                test_model(request, model)
