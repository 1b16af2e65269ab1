"""Providers. Their keys go in and never come out: only the last four characters are shown."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from modeltranslation.admin import TranslationAdmin

from chat import services
from chat.admin.provider_checks import list_models_of, tell_new_chats, test_provider
from chat.models import LanguageModel, Provider
from chat.models.secrets import Secret
from chat.protocol.ids import is_uuid
from chat.providers.presets import CUSTOM, PRESETS
from chat.views.model_form import ModelForm


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


class ModelInline(admin.TabularInline[LanguageModel, Provider]):
    model = LanguageModel
    fields = ("model_id", "label", "context_window", "native_tools", "vision", "enabled")
    extra = 0
    show_change_link = True


@admin.register(Provider)
class ProviderAdmin(TranslationAdmin[Provider]):
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
        (_("Requests"), {"fields": ("wire", "tool_style", "extra_headers", "extra_body")}),
    )

    @admin.display(description=_("API key"))
    def key_hint(self, provider: Provider | None) -> str:
        return Secret(provider.api_key).hint if provider and provider.api_key else "–"

    def save_model(
        self, request: HttpRequest, obj: Provider, form: ModelForm[Provider], change: bool
    ) -> None:
        given = form.cleaned_data
        if services.save_provider(obj, new_key=given["new_key"], forget_key=given["forget_key"]):
            messages.warning(request, _("The address has changed, so the key was forgotten."))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """A model that is written down by hand counts as one that was listed."""
        first = services.only_demo()
        super().save_related(request, form, formsets, change)
        if first and not services.only_demo():
            services.use_provider(form.instance)
            tell_new_chats(request, form.instance)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        for model, names in formset.changed_objects:
            services.note_set_by_hand(model, names)

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
            list_models_of(request, provider)

    @admin.action(description=_("Test: ask for one word"), permissions=["change"])
    def test(self, request: HttpRequest, providers: QuerySet[Provider]) -> None:
        for provider in providers:
            test_provider(request, provider)

    def response_add(
        self, request: HttpRequest, obj: Provider, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self._asked(request, obj) or super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Provider) -> HttpResponse:
        return self._asked(request, obj) or super().response_change(request, obj)

    def _asked(self, request: HttpRequest, provider: Provider) -> HttpResponse | None:
        """The buttons beside Save: what they asked for, on the same page again."""
        tested: LanguageModel | None = None
        if "_list_models" in request.POST:
            list_models_of(request, provider)
        elif "_test" in request.POST:
            tested = test_provider(request, provider)
        elif is_uuid(request.POST.get("_use", "")):
            model = provider.models.filter(pk=request.POST["_use"]).first()
            if model is not None:
                services.use_for_new_chats(model)
                messages.success(request, _("New chats use %(model)s now.") % {"model": model})
        else:
            return None
        address = reverse("admin:chat_provider_change", args=[provider.pk])
        if tested is not None and not services.is_for_new_chats(tested):
            address += f"?tested={tested.pk}"
        return HttpResponseRedirect(address)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """After a test, the model that has answered is offered for new chats."""
        wanted = request.GET.get("tested", "")
        tested = LanguageModel.objects.filter(pk=wanted).first() if is_uuid(wanted) else None
        context = {**(extra_context or {}), "tested": tested}
        return super().change_view(request, object_id, form_url, context)
