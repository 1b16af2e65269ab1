"""The form of a provider that is a program on this machine: for superusers, and for it alone."""

import shutil
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from chat.admin.provider_form import ProviderForm
from chat.models import Provider
from chat.providers.presets import PROGRAMS, Program


class LinesField(forms.CharField):
    """A list of texts, one in each line."""

    widget = forms.Textarea(attrs={"rows": 4, "class": "vLargeTextField"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        return [line.strip() for line in text.splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != list(self.to_python(data))


class ProgramForm(ProviderForm):
    program_arguments = LinesField(
        label=_("More arguments"),
        required=False,
        help_text=Provider._meta.get_field("program_arguments").help_text,
    )
    allowed_tools = LinesField(
        label=_("Allowed tools"),
        required=False,
        help_text=Provider._meta.get_field("allowed_tools").help_text,
    )

    class Meta:
        model = Provider
        fields = (
            "name", "base_url", "enabled", "program", "program_arguments", "permission_mode",
            "allowed_tools",
        )  # fmt: skip

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.instance.kind = self.instance.kind or Provider.Kind.CLAUDE_CODE
        self.fields["program"].required = True
        self.fields["base_url"].help_text = _("Empty for Anthropic’s own.")
        self.fields["new_key"].help_text = _(
            "A key of Anthropic’s API, or a token of “claude setup-token”. It is stored encrypted "
            "and never shown again. Empty keeps the key there is."
        )


FIELDSETS: Any = (
    (None, {"fields": ("name", "program", "enabled")}),
    (_("API key"), {"fields": ("key_hint", "new_key", "forget_key", "base_url")}),
    (
        _("What it may do"),
        {
            "fields": ("permission_mode", "allowed_tools", "program_arguments"),
            "description": _(
                "The program runs as the same user as the server, in an empty folder for each "
                "conversation. Its models are offered to those who have the permission “Can use "
                "models of Claude Code”, and to superusers."
            ),
        },
    ),
)


def program_named(slug: str | None) -> Program | None:
    return next((program for program in PROGRAMS if program.slug == slug), None)


def begin_with(program: Program) -> dict[str, Any]:
    """What a new form is filled in with; the path only where the program is found."""
    return {"name_en": program.name, "program": shutil.which(program.command) or ""}
