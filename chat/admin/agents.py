"""Agents: instructions, a model, and the tools it may use."""

from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from modeltranslation.admin import TranslationAdmin, TranslationStackedInline

from chat import services
from chat.admin.plain_widgets import plain
from chat.admin.tool_form import tool_choices
from chat.models import Agent, Example
from chat.views.model_form import ModelForm
from chat.views.responses import caller


class AgentForm(ModelForm[Agent]):
    tools = forms.MultipleChoiceField(
        label=_("Allowed tools"), required=False, widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = Agent
        fields = (
            "name", "description", "system_prompt", "model", "tools", "temperature", "effort",
            "max_steps", "tool_style", "unwatched", "enabled", "is_default",
            "for_everybody", "groups",
        )  # fmt: skip
        widgets: ClassVar = {"groups": forms.CheckboxSelectMultiple}
        help_texts: ClassVar = {
            "temperature": _(
                "From 0, always alike, to 2. Empty leaves it to the model. It is not sent to "
                "models of Anthropic, OpenAI and xAI that think, which take none."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A tool whose app is away for now stays allowed until somebody unticks it.
        self.fields["tools"].choices = tool_choices(self.instance.tools)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """What would leave somebody without an answer is refused where it is entered."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("is_default"):
            if not given.get("enabled"):
                self.add_error("enabled", _("The default agent answers new chats: leave it on."))
            if not given.get("for_everybody"):
                self.add_error("for_everybody", _("The default agent is for everybody."))
        model = given.get("model")
        if model and given.get("enabled") and not (model.enabled and model.provider.enabled):
            self.add_error("model", _("This model is switched off, or its provider is."))
        return given


class ExampleInline(TranslationStackedInline[Example, Agent]):
    """What the empty page offers to ask; an empty text is not offered."""

    model = Example
    fields = ("position", "icon", "title", "text")
    extra = 0

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        return plain(db_field, super().formfield_for_dbfield(db_field, request, **kwargs))


@admin.register(Agent)
class AgentAdmin(TranslationAdmin[Agent]):
    form = AgentForm
    change_form_template = "admin/chat/agent/change_form.html"
    actions = ("archive", "bring_back")
    list_display = ("name", "model", "for_whom", "max_steps", "unwatched", "enabled", "is_default")
    list_filter = ("enabled", "groups", "unwatched")
    list_select_related = ("model",)
    search_fields = ("name", "name_en", "name_zh_hans", "description")
    inlines = (ExampleInline,)
    fieldsets = (
        (None, {"fields": ("name", "description", "enabled", "is_default")}),
        (_("Who may use it"), {"fields": ("for_everybody", "groups")}),
        (_("Instructions"), {"fields": ("system_prompt",)}),
        (_("Model"), {"fields": ("model", "effort", "temperature", "tool_style")}),
        (_("Tools"), {"fields": ("tools", "max_steps", "unwatched")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Agent]:
        return super().get_queryset(request).prefetch_related("groups")

    @admin.display(description=_("who may use it"))
    def for_whom(self, agent: Agent) -> str:
        if agent.for_everybody:
            return gettext("everybody")
        return ", ".join(group.name for group in agent.groups.all()) or "–"

    # --- trying it out --------------------------------------------------------------

    def response_add(
        self, request: HttpRequest, obj: Agent, post_url_continue: str | None = None
    ) -> HttpResponse:
        return _tried(request, obj) or super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Agent) -> HttpResponse:
        return _tried(request, obj) or super().response_change(request, obj)

    # --- copies, and putting away ---------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        duplicate = self.admin_site.admin_view(self.duplicate)
        return [
            path("<uuid:agent_id>/duplicate/", duplicate, name="chat_agent_duplicate"),
            *super().get_urls(),
        ]

    def duplicate(self, request: HttpRequest, agent_id: UUID) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        agent = self.get_queryset(request).filter(pk=agent_id).first()
        if agent is None:
            raise Http404
        copy = services.duplicate_agent(caller(request), agent, gettext("copy"))
        messages.success(request, _("This is the copy. It is switched off until you want it."))
        return HttpResponseRedirect(reverse("admin:chat_agent_change", args=[copy.pk]))

    @admin.action(description=_("Archive"), permissions=["change"])
    def archive(self, request: HttpRequest, agents: QuerySet[Agent]) -> None:
        self._archive(request, agents, archived=True)

    @admin.action(description=_("Bring back"), permissions=["change"])
    def bring_back(self, request: HttpRequest, agents: QuerySet[Agent]) -> None:
        self._archive(request, agents, archived=False)

    def _archive(self, request: HttpRequest, agents: QuerySet[Agent], *, archived: bool) -> None:
        ids = [agent.pk for agent in agents]
        count = services.archive_agents(caller(request), ids, archived=archived)
        words = ngettext("%(count)s agent was changed.", "%(count)s agents were changed.", count)
        messages.success(request, words % {"count": count})
        if archived and any(agent.is_default for agent in agents):
            messages.warning(request, _("The default agent answers new chats: leave it on."))


def _tried(request: HttpRequest, agent: Agent) -> HttpResponse | None:
    """A chat with it that is kept nowhere, for whoever has saved it to see what it says now."""
    if "_try" not in request.POST:
        return None
    return HttpResponseRedirect(f"{reverse('chat:home')}?agent={agent.pk}&temporary=1")
