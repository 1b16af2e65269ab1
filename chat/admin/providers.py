"""Providers. Their keys go in and never come out: only the last four characters are shown."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms.models import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from modeltranslation.admin import TranslationAdmin

from chat.admin.asking import tell_models, tell_word_of_provider
from chat.models import LanguageModel, Provider
from chat.models.secrets import Secret
from chat.providers.presets import CUSTOM, PRESETS


class ProviderForm(forms.ModelForm):
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
        fields = ("name", "kind", "base_url", "enabled", "tool_style", "extra_headers")

    def clean_extra_headers(self) -> dict[str, str]:
        headers = self.cleaned_data["extra_headers"] or {}
        sound = isinstance(headers, dict) and all(
            isinstance(value, str) and "\n" not in f"{name}{value}" and "\r" not in f"{name}{value}"
            for name, value in headers.items()
        )
        if not sound:
            raise forms.ValidationError(_('Headers are an object of texts: {"name": "value"}.'))
        return headers


class ModelInline(admin.TabularInline):
    model = LanguageModel
    fields = ("model_id", "label", "context_window", "native_tools", "vision", "enabled")
    extra = 0
    show_change_link = True


@admin.register(Provider)
class ProviderAdmin(TranslationAdmin):
    form = ProviderForm
    change_form_template = "admin/chat/provider/change_form.html"
    actions = ("list_models", "test")
    list_display = ("name", "kind", "base_url", "key_hint", "enabled")
    list_filter = ("kind", "enabled")
    search_fields = ("name", "name_en", "name_zh_hans", "base_url")
    readonly_fields = ("key_hint",)
    inlines = (ModelInline,)
    fieldsets = (
        (None, {"fields": ("name", "kind", "base_url", "enabled")}),
        (_("API key"), {"fields": ("key_hint", "new_key", "forget_key")}),
        (_("Requests"), {"fields": ("tool_style", "extra_headers")}),
    )

    @admin.display(description=_("API key"))
    def key_hint(self, provider: Provider | None) -> str:
        return Secret(provider.api_key).hint if provider and provider.api_key else "–"

    def save_model(
        self, request: HttpRequest, obj: Provider, form: ModelForm, change: bool
    ) -> None:
        given: dict[str, Any] = form.cleaned_data
        if given["new_key"] or given["forget_key"] or not change:
            obj.api_key = given["new_key"]
            obj.save()
            return
        if moved(form.initial.get("base_url"), obj.base_url):
            # Sent to another address, a key would come out again.
            obj.api_key = ""
            obj.save()
            messages.warning(request, _("The address has changed, so the key was forgotten."))
            return
        # A key that cannot be opened at the moment reads as empty: it must not be written back.
        columns = (field.name for field in obj._meta.concrete_fields if not field.primary_key)
        obj.save(update_fields=[name for name in columns if name != "api_key"])

    # --- known providers ------------------------------------------------------------

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """`?preset=deepseek` fills in what is known of it."""
        slug = request.GET.get("preset")
        preset = next((preset for preset in PRESETS if preset.slug == slug), None)
        if preset is None:
            return super().get_changeform_initial_data(request)
        return {"name_en": preset.name, "kind": preset.wire, "base_url": preset.base_url}

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        known = [preset for preset in PRESETS if preset is not CUSTOM]
        return super().add_view(request, form_url, {**(extra_context or {}), "presets": known})

    # --- asking them ----------------------------------------------------------------

    @admin.action(description=_("List models"), permissions=["change"])
    def list_models(self, request: HttpRequest, providers: QuerySet[Provider]) -> None:
        for provider in providers:
            tell_models(request, provider)

    @admin.action(description=_("Test: ask for one word"), permissions=["change"])
    def test(self, request: HttpRequest, providers: QuerySet[Provider]) -> None:
        for provider in providers:
            tell_word_of_provider(request, provider)

    def response_add(
        self, request: HttpRequest, obj: Provider, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self._asked(request, obj) or super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Provider) -> HttpResponse:
        return self._asked(request, obj) or super().response_change(request, obj)

    def _asked(self, request: HttpRequest, provider: Provider) -> HttpResponse | None:
        """The buttons beside Save: what they asked for, on the same page again."""
        if "_list_models" in request.POST:
            tell_models(request, provider)
        elif "_test" in request.POST:
            tell_word_of_provider(request, provider)
        else:
            return None
        return HttpResponseRedirect(reverse("admin:chat_provider_change", args=[provider.pk]))


def moved(before: str | None, after: str) -> bool:
    """Whether a key would go to another server than the one it was given for."""
    old, new = urlsplit(before or ""), urlsplit(after)
    return (old.scheme, old.netloc) != (new.scheme, new.netloc)
