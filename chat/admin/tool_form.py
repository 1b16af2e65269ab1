"""The form of a tool: a field for each setting that the tool itself has, by its type hints."""

from collections.abc import Iterable
from typing import Any, Final

from django import forms
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.models import ToolSetting
from chat.tools import registry
from chat.tools.own_settings import OwnSetting, is_valid
from chat.views.model_form import ModelForm

# Names of fields, apart from the columns. A secret has one of its own, so that the audit log tells
# a key from another setting, and a box that forgets it.
OWN: Final = "own_"
SECRET: Final = "secret_"
FORGET: Final = "forget_"

# The plain rooms speak English; these are what the tools that ship with Parley ask for.
LABELS: Final = (
    gettext_noop("Region"),
    gettext_noop("Of DuckDuckGo, such as us-en, de-de or cn-zh. Empty is everywhere."),
    gettext_noop("Only addresses that were named"),
    gettext_noop(
        "By the person, a search or a page that was read, in the same conversation. A page can "
        "then not talk a model into carrying words of the conversation elsewhere in an address."
    ),
)


def tool_choices(chosen: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Every tool there is, by the name it has here, and the chosen ones that are not there."""
    names = {row.tool: str(row) for row in ToolSetting.objects.all()}
    installed = [tool.name for tool in registry]
    missing = [tool for tool in chosen if tool not in installed]
    return [(tool, names.get(tool, tool)) for tool in installed] + [
        (tool, gettext("%(tool)s (not installed)") % {"tool": tool}) for tool in missing
    ]


class ToolSettingForm(ModelForm[ToolSetting]):
    tool = forms.ChoiceField(label=_("Tool"))

    class Meta:
        model = ToolSetting
        fields = ("tool", "enabled", "name", "description", "timeout", "output_limit")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "tool" in self.fields:
            known = [self.instance.tool] if self.instance.tool else []
            self.fields["tool"].choices = tool_choices(known)  # type: ignore[attr-defined]
        tool = registry.get(self.instance.tool)
        if tool is not None and "timeout" in self.fields:
            # What counts while nothing is entered.
            self.fields["timeout"].widget.attrs["placeholder"] = f"{tool.timeout:g}"
            self.fields["output_limit"].widget.attrs["placeholder"] = tool.output_limit

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        tool = registry.get(self.instance.tool)
        if tool is not None and tool.takes.settings is not None:
            kind = tool.takes.settings[1]
            for setting in tool.settings:
                name = field_name(setting)
                value = given.get(name)
                if value not in (None, "") and not is_valid(kind, setting.name, value):
                    self.add_error(name, _("The tool does not take this value."))
        return given

    def entered(self) -> dict[str, Any]:
        """What is to be kept of the tool's own settings; None where one is to be forgotten."""
        given = self.cleaned_data
        tool = registry.get(self.instance.tool)
        entered: dict[str, Any] = {}
        for setting in tool.settings if tool else ():
            value = given.get(field_name(setting))
            if setting.kind != "secret":
                entered[setting.name] = None if value in (None, "") else value
            elif value:
                entered[setting.name] = value
            elif given.get(FORGET + setting.name):
                entered[setting.name] = None
        return entered


def field_name(setting: OwnSetting) -> str:
    return (SECRET if setting.kind == "secret" else OWN) + setting.name


def own_fields(row: ToolSetting | None) -> dict[str, forms.Field]:
    """One for each setting; of a secret that is there, also a box that forgets it."""
    fields: dict[str, forms.Field] = {}
    tool = registry.get(row.tool) if row else None
    if row is None or tool is None:
        return fields
    stored = services.own_settings(row)
    for setting in tool.settings:
        label = gettext(setting.label)
        fields[field_name(setting)] = _field(setting, label, stored.get(setting.name))
        if setting.kind == "secret" and stored.get(setting.name):
            fields[FORGET + setting.name] = forms.BooleanField(
                label=gettext("Remove: %(label)s") % {"label": label}, required=False
            )
    return fields


def _field(setting: OwnSetting, label: str, stored: Any) -> forms.Field:
    help_text = gettext(setting.help) if setting.help else ""
    common: dict[str, Any] = {
        "label": label, "required": False, "initial": stored, "help_text": help_text,
    }  # fmt: skip
    bounds: dict[str, Any] = {"min_value": setting.least, "max_value": setting.most}
    hint = {"placeholder": "" if setting.default is None else str(setting.default)}
    match setting.kind:
        case "secret":
            return forms.CharField(
                label=label,
                required=False,
                widget=forms.PasswordInput(
                    render_value=False, attrs={"autocomplete": "new-password"}
                ),
                help_text=_(
                    "It is stored encrypted and never shown again. Empty keeps what there is."
                )
                if stored
                else _("It is stored encrypted and never shown again."),
            )
        case "whole":
            return forms.IntegerField(**common, **bounds, widget=forms.NumberInput(attrs=hint))
        case "number":
            return forms.FloatField(**common, **bounds, widget=forms.NumberInput(attrs=hint))
        case "switch":
            common["initial"] = setting.default if stored is None else stored
            return forms.BooleanField(**common)
        case "choice":
            usual = gettext("As the tool has it (%(value)s)") % {"value": setting.default}
            choices = [("", usual), *((each, each) for each in setting.choices)]
            return forms.ChoiceField(**common, choices=choices)
        case "text":
            return forms.CharField(**common, widget=forms.TextInput(attrs=hint))
