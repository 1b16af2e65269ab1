"""Saved prompts. One without an owner is everybody's."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from chat.models import Prompt


@admin.register(Prompt)
class PromptAdmin(admin.ModelAdmin[Prompt]):
    list_display = ("name", "owner", "updated")
    list_filter = (("owner", admin.EmptyFieldListFilter),)
    list_select_related = ("owner",)
    search_fields = ("name", "owner__username", "=id")

    def get_fields(self, request: HttpRequest, obj: Prompt | None = None) -> Any:
        """Of somebody's own prompts not what they wrote."""
        return ("name", "owner") if _is_somebodys(request, obj) else ("name", "text", "owner")

    def has_change_permission(self, request: HttpRequest, obj: Prompt | None = None) -> bool:
        return super().has_change_permission(request, obj) and not _is_somebodys(request, obj)


def _is_somebodys(request: HttpRequest, prompt: Prompt | None) -> bool:
    return prompt is not None and prompt.owner_id not in (None, request.user.pk)
