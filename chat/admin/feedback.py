"""What people think of their answers."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Conversation, Feedback


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin[Feedback]):
    conversations = ("message__conversation__temporary",)
    list_display = (
        "verdict",
        "comment",
        "conversation",
        "agent",
        "model_used",
        "person",
        "updated",
    )
    list_filter = ("verdict", "updated", "message__agent", "message__model_id")
    list_select_related = ("message__conversation", "person")
    search_fields = ("comment", "=id", "person__username", "message__conversation__title")
    fields = ("verdict", "comment", "conversation", "message", "agent", "model_used", "person",
              "created", "updated")  # fmt: skip
    readonly_fields = ("conversation", "agent", "model_used")

    @admin.display(description=_("conversation"), ordering="message__conversation__title")
    def conversation(self, row: Feedback) -> Conversation:
        return row.message.conversation

    @admin.display(description=_("agent"), ordering="message__agent")
    def agent(self, row: Feedback) -> str:
        return row.message.agent

    @admin.display(description=_("model"), ordering="message__model_id")
    def model_used(self, row: Feedback) -> str:
        return row.message.model_id
