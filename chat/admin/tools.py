"""Tools: on or off for everybody, what they are called, their limits and settings of their own."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from modeltranslation.admin import TranslationAdmin

from chat import services
from chat.admin.tool_form import ToolSettingForm, own_fields
from chat.models import ToolSetting
from chat.tools import registry
from chat.views.model_form import ModelForm


@admin.register(ToolSetting)
class ToolSettingAdmin(TranslationAdmin[ToolSetting]):
    form = ToolSettingForm
    list_display = ("tool", "name", "timeout", "output_limit", "enabled", "installed")
    list_editable = ("enabled",)
    list_filter = ("enabled",)
    search_fields = ("tool", "name", "name_en", "name_zh_hans", "description")
    fieldsets = (
        (None, {"fields": ("tool", "enabled", "name", "description")}),
        (_("Limits"), {"fields": ("timeout", "output_limit")}),
    )

    @admin.display(description=_("installed"), boolean=True)
    def installed(self, row: ToolSetting) -> bool:
        return row.tool in registry

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("tool",) if obj else ()

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **given: Any
    ) -> type[ModelForm[ToolSetting]]:
        # Which tool it is is chosen once.
        fields = {"tool": None, **own_fields(obj)} if obj else {}
        given["form"] = type("OwnForm", (ToolSettingForm,), fields)
        return super().get_form(request, obj, change=change, **given)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        own = list(own_fields(obj))
        asked = super().get_fieldsets(request, obj)
        return [*asked, (_("Settings of its own"), {"fields": own})] if own else asked

    def save_model(self, request: HttpRequest, obj: ToolSetting, form: Any, change: bool) -> None:
        # The boxes of the list have a form without these fields.
        entered = form.entered() if isinstance(form, ToolSettingForm) else None
        services.save_tool(obj, entered)
