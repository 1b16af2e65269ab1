"""Search engines other than DuckDuckGo. Their keys go in and never come out, as providers' do."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.provider_form import ProviderForm
from chat.models import SearchEngine
from chat.models.secrets import Secret
from chat.protocol.errors import ToolFailure
from chat.rendering.reasons import reasons_text
from chat.views.model_form import ModelForm


class SearchEngineForm(ModelForm[SearchEngine]):
    new_key = ProviderForm.base_fields["new_key"]
    forget_key = ProviderForm.base_fields["forget_key"]

    class Meta:
        model = SearchEngine
        # Not the key: its field is no column.
        fields = ("kind", "base_url", "in_use")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("kind") == SearchEngine.Kind.SEARXNG:
            if not given.get("base_url"):
                self.add_error("base_url", _("SearXNG has no address of its own: enter yours."))
        elif not given.get("new_key") and (given.get("forget_key") or not self.instance.api_key):
            self.add_error("new_key", _("This engine answers only with a key."))
        return given

    def _get_validation_exclusions(self) -> set[str]:
        """Another engine that is in use is no fault: saving this one takes it out of use."""
        return {*super()._get_validation_exclusions(), "in_use"}  # type: ignore[misc]


@admin.register(SearchEngine)
class SearchEngineAdmin(admin.ModelAdmin[SearchEngine]):
    form = SearchEngineForm
    actions = ("test",)
    list_display = ("kind", "base_url", "key_hint", "in_use")
    search_fields = ("kind", "base_url")
    readonly_fields = ("key_hint",)
    fieldsets = (
        (None, {"fields": ("kind", "base_url", "in_use")}),
        (_("API key"), {"fields": ("key_hint", "new_key", "forget_key")}),
    )

    @admin.display(description=_("API key"))
    def key_hint(self, engine: SearchEngine | None) -> str:
        return Secret(engine.api_key).hint if engine and engine.api_key else "–"

    def save_model(
        self, request: HttpRequest, obj: SearchEngine, form: ModelForm[SearchEngine], change: bool
    ) -> None:
        given = form.cleaned_data
        new_key, forget_key = given["new_key"], given["forget_key"]
        if services.save_search_engine(obj, new_key=new_key, forget_key=forget_key):
            messages.warning(request, _("The address has changed, so the key was forgotten."))
        self._test(request, obj)

    @admin.action(description=_("Test: search for one word"), permissions=["change"])
    def test(self, request: HttpRequest, engines: QuerySet[SearchEngine]) -> None:
        for engine in engines:
            self._test(request, engine)

    def _test(self, request: HttpRequest, engine: SearchEngine) -> None:
        try:
            count = services.try_search_engine(engine)
        except ToolFailure as failure:
            sentence = _("%(engine)s finds nothing. %(reason)s")
            values = {"engine": engine, "reason": reasons_text(failure.reasons) or str(failure)}
            messages.error(request, sentence % values)
        else:
            sentence = _("%(engine)s answers: %(count)s pages for one word.")
            messages.success(request, sentence % {"engine": engine, "count": count})
