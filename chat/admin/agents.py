"""Agents: instructions, a model, and the tools it may use."""

from typing import Any

from django import forms
from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from modeltranslation.admin import TranslationAdmin, TranslationStackedInline

from chat.admin.tools import tool_choices
from chat.models import Agent, Example
from chat.views.model_form import ModelForm


class AgentForm(ModelForm[Agent]):
    tools = forms.MultipleChoiceField(
        label=_("Allowed tools"), required=False, widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = Agent
        fields = (
            "name", "description", "system_prompt", "model", "tools", "temperature", "effort",
            "max_steps", "tool_style", "unwatched", "enabled", "is_default",
        )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A tool whose app is away for now stays allowed until somebody unticks it.
        self.fields["tools"].choices = tool_choices(self.instance.tools)  # type: ignore[attr-defined]


class ExampleInline(TranslationStackedInline[Example, Agent]):
    """What the empty page offers to ask; an empty text is not offered."""

    model = Example
    fields = ("position", "icon", "title", "text")
    extra = 0


@admin.register(Agent)
class AgentAdmin(TranslationAdmin[Agent]):
    form = AgentForm
    list_display = ("name", "model", "max_steps", "unwatched", "enabled", "is_default")
    list_filter = ("enabled", "unwatched")
    list_select_related = ("model",)
    search_fields = ("name", "name_en", "name_zh_hans", "description")
    autocomplete_fields = ("model",)
    inlines = (ExampleInline,)
    fieldsets = (
        (None, {"fields": ("name", "description", "enabled", "is_default")}),
        (_("Instructions"), {"fields": ("system_prompt",)}),
        (_("Model"), {"fields": ("model", "effort", "temperature", "tool_style")}),
        (_("Tools"), {"fields": ("tools", "max_steps", "unwatched")}),
    )
