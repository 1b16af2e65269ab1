"""Providers. Their keys go in and never come out: only the last four characters are shown."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from modeltranslation.admin import TranslationAdmin

from chat import services
from chat.admin.agents_left import TellsAgents
from chat.admin.model_table import ModelTable
from chat.admin.program_form import FIELDSETS as PROGRAM_FIELDSETS
from chat.admin.program_form import ProgramForm, begin_with, program_named
from chat.admin.provider_checks import list_models_of, may_ask, tell_new_chats, test_provider
from chat.admin.provider_form import HIDDEN, ProviderForm
from chat.admin.rights import NOT_ALLOWED, is_superuser, may_run, may_use_for_new_chats
from chat.models import LanguageModel, Provider
from chat.models.secrets import Secret
from chat.protocol.ids import is_uuid
from chat.providers.presets import CUSTOM, PRESETS, PROGRAMS, Preset, Program
from chat.views.model_form import ModelForm
from chat.views.responses import caller


@admin.register(Provider)
class ProviderAdmin(TellsAgents[Provider], TranslationAdmin[Provider]):
    form = ProviderForm
    change_form_template = "admin/chat/provider/change_form.html"
    actions = ("list_models", "test")
    list_display = ("name", "kind", "base_url", "key_hint", "enabled")
    list_filter = ("kind", "enabled")
    search_fields = ("name", "name_en", "name_zh_hans", "base_url")
    readonly_fields = ("key_hint", "header_names")
    inlines = (ModelTable,)
    fieldsets = (
        (None, {"fields": ("name", "kind", "base_url", "enabled")}),
        (_("API key"), {"fields": ("key_hint", "new_key", "forget_key")}),
        (_("Requests"), {"fields": ("wire", "tool_style", "extra_headers", "extra_body")}),
    )

    @admin.display(description=_("API key"))
    def key_hint(self, provider: Provider | None) -> str:
        return Secret(provider.api_key).hint if provider and provider.api_key else "–"

    @admin.display(description=_("extra headers"))
    def header_names(self, provider: Provider) -> str:
        """For who may only look: the values are often keys."""
        return ", ".join(f"{name}: {HIDDEN}" for name in provider.extra_headers) or "–"

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
            services.use_provider(form.instance, caller(request))
            tell_new_chats(request, form.instance)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        for model, names in formset.changed_objects:
            services.note_set_by_hand(model, names)

    # --- known providers ------------------------------------------------------------

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """`?preset=deepseek` fills in what is known of it."""
        slug = request.GET.get("preset")
        program = program_named(slug)
        if program is not None:
            return begin_with(program)
        preset = next((preset for preset in PRESETS if preset.slug == slug), None)
        if preset is None:
            return super().get_changeform_initial_data(request)
        return {"name_en": preset.name, "kind": preset.wire, "base_url": preset.base_url}

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        known: list[Preset | Program] = [preset for preset in PRESETS if preset is not CUSTOM]
        if is_superuser(request):
            known += PROGRAMS
        return super().add_view(request, form_url, {**(extra_context or {}), "presets": known})

    # --- programs: whoever sets one can run anything on this machine ------------------

    def _is_program(self, request: HttpRequest, provider: Provider | None) -> bool:
        if provider is not None:
            return provider.kind == Provider.Kind.CLAUDE_CODE
        return is_superuser(request) and program_named(request.GET.get("preset")) is not None

    def get_form(
        self, request: HttpRequest, obj: Provider | None = None, change: bool = False, **given: Any
    ) -> type[ModelForm[Provider]]:
        if self._is_program(request, obj):
            given["form"] = ProgramForm
        return super().get_form(request, obj, change=change, **given)

    def get_fieldsets(self, request: HttpRequest, obj: Provider | None = None) -> Any:
        if self._is_program(request, obj):
            return self._patch_fieldsets(PROGRAM_FIELDSETS)
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        return [(title, _shown(options)) for title, options in fieldsets]

    def has_change_permission(self, request: HttpRequest, obj: Provider | None = None) -> bool:
        return super().has_change_permission(request, obj) and may_run(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Provider | None = None) -> bool:
        return super().has_delete_permission(request, obj) and may_run(request, obj)

    # --- asking them ----------------------------------------------------------------

    @admin.action(description=_("List models"), permissions=["change"])
    def list_models(self, request: HttpRequest, providers: QuerySet[Provider]) -> None:
        for provider in providers:
            if may_ask(request, provider):
                list_models_of(request, provider)

    @admin.action(description=_("Test: ask for one word"), permissions=["change"])
    def test(self, request: HttpRequest, providers: QuerySet[Provider]) -> None:
        for provider in providers:
            if may_ask(request, provider):
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
                _use(request, model)
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
        if tested is not None and not may_use_for_new_chats(request, tested):
            tested = None
        context = {**(extra_context or {}), "tested": tested}
        return super().change_view(request, object_id, form_url, context)


def _use(request: HttpRequest, model: LanguageModel) -> None:
    if not may_use_for_new_chats(request, model):
        messages.error(request, NOT_ALLOWED)
        return
    services.use_for_new_chats(caller(request), model)
    messages.success(request, _("New chats use %(model)s now.") % {"model": model})


def _shown(options: Any) -> dict[str, Any]:
    """A group of fields as somebody sees it who may not change them."""
    names = ("header_names" if name == "extra_headers" else name for name in options["fields"])
    return {**options, "fields": tuple(names)}
