"""What people think of their answers."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Feedback


class AgentFilter(admin.SimpleListFilter):
    """By the agents there are; to list those that have answered takes reading all messages."""

    title = _("agent")
    parameter_name = column = "message__agent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        agents = services.current_catalog().agents.values()
        return sorted({(agent.key, services.spoken(agent.names)) for agent in agents})

    def queryset(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> QuerySet[Feedback]:
        return queryset.filter(**{self.column: self.value()}) if self.value() else queryset


class ModelFilter(AgentFilter):
    title = _("model")
    parameter_name = column = "message__model_id"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        models = services.current_catalog().models.values()
        return sorted({(model.choice.ref.model_id, model.name) for model in models})


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin[Feedback]):
    conversations = ("message__conversation__temporary",)
    list_display = (
        "verdict",
        "comment",
        "conversation_key",
        "agent",
        "model_used",
        "person",
        "updated",
    )
    list_filter = ("verdict", "updated", AgentFilter, ModelFilter)
    list_select_related = ("message", "person")
    # The latest first, by their index.
    ordering = ("-id",)
    search_fields = ("comment", "=id", "=message__conversation__id", "person__username")
    fields = ("verdict", "comment", "conversation_link", "message", "agent", "model_used", "person",
              "created", "updated")  # fmt: skip
    readonly_fields = ("conversation_link", "agent", "model_used")

    @admin.display(description=_("conversation"), ordering="message__conversation_id")
    def conversation_key(self, row: Feedback) -> str:
        return super().conversation_key(row)

    @admin.display(description=_("agent"), ordering="message__agent")
    def agent(self, row: Feedback) -> str:
        return row.message.agent

    @admin.display(description=_("model"), ordering="message__model_id")
    def model_used(self, row: Feedback) -> str:
        return row.message.model_id
