"""Tools: on or off for everybody, and what they are called."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from modeltranslation.admin import TranslationAdmin

from chat.models import ToolSetting
from chat.tools import registry
from chat.views.model_form import ModelForm


def tool_choices(chosen: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Every tool there is, by the name it has here, and the chosen ones that are not there."""
    names = {row.tool: str(row) for row in ToolSetting.objects.all()}
    installed = [tool.name for tool in registry]
    missing = [tool for tool in chosen if tool not in installed]
    return [(tool, names.get(tool, tool)) for tool in installed] + [
        (tool, _("%(tool)s (not installed)") % {"tool": tool}) for tool in missing
    ]


class ToolSettingForm(ModelForm[ToolSetting]):
    tool = forms.ChoiceField(label=_("Tool"))

    class Meta:
        model = ToolSetting
        fields = ("tool", "enabled", "name", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "tool" in self.fields:
            known = [self.instance.tool] if self.instance.tool else []
            self.fields["tool"].choices = tool_choices(known)  # type: ignore[attr-defined]


@admin.register(ToolSetting)
class ToolSettingAdmin(TranslationAdmin[ToolSetting]):
    form = ToolSettingForm
    list_display = ("tool", "name", "enabled", "installed")
    list_editable = ("enabled",)
    list_filter = ("enabled",)
    search_fields = ("tool", "name", "name_en", "name_zh_hans", "description")
    fields = ("tool", "enabled", "name", "description")

    @admin.display(description=_("installed"), boolean=True)
    def installed(self, row: ToolSetting) -> bool:
        return row.tool in registry

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("tool",) if obj else ()
