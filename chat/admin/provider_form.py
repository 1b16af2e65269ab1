"""The form of a provider: its key goes in and never comes out."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.models import Provider
from chat.views.model_form import ModelForm

# Stands for the value of a header that is kept.
HIDDEN = "••••"


class ProviderForm(ModelForm[Provider]):
    new_key = forms.CharField(
        label=_("New API key"),
        required=False,
        strip=True,
        # `render_value=False`: also after an error the key is not sent back.
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text=_("It is stored encrypted and never shown again. Empty keeps the key there is."),
    )
    forget_key = forms.BooleanField(label=_("Remove the API key"), required=False)

    class Meta:
        model = Provider
        # Not the key: its field is no column.
        fields = (
            "name", "kind", "base_url", "enabled", "wire", "tool_style", "extra_headers",
            "extra_body",
        )  # fmt: skip

    def clean_extra_headers(self) -> dict[str, str]:
        headers = self.cleaned_data["extra_headers"] or {}
        sound = isinstance(headers, dict) and all(
            isinstance(value, str) and "\n" not in f"{name}{value}" and "\r" not in f"{name}{value}"
            for name, value in headers.items()
        )
        if not sound:
            raise forms.ValidationError(_('Headers are an object of texts: {"name": "value"}.'))
        return headers

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        headers = given.get("extra_headers") or {}
        kept = {name for name, value in headers.items() if value == HIDDEN}
        # The row as it was: what was entered is not in it yet.
        before = self.instance
        if kept - before.extra_headers.keys():
            self.add_error("extra_headers", _("A new header needs its value."))
        elif kept and services.is_another_server(before.base_url, given.get("base_url", "")):
            text = _("The address has changed: enter the values of these headers anew.")
            self.add_error("extra_headers", text)
        else:
            given["extra_headers"] = headers | {name: before.extra_headers[name] for name in kept}
        return given

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        # Values are often keys: like the key, they go in and do not come out.
        self.initial["extra_headers"] = dict.fromkeys(self.instance.extra_headers, HIDDEN)
        if "kind" in self.fields:
            # What runs on this machine has a form of its own.
            kinds = [each for each in Provider.Kind.choices if each[0] != Provider.Kind.CLAUDE_CODE]
            self.fields["kind"].choices = [("", "---------"), *kinds]  # type: ignore[attr-defined]
