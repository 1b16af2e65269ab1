"""Saved prompts. One without an owner is everybody's."""

from django.contrib import admin

from chat.models import Prompt


@admin.register(Prompt)
class PromptAdmin(admin.ModelAdmin[Prompt]):
    list_display = ("name", "owner", "updated")
    list_filter = (("owner", admin.EmptyFieldListFilter),)
    list_select_related = ("owner",)
    search_fields = ("name", "text", "owner__username", "=id")
    autocomplete_fields = ("owner",)
    fields = ("name", "text", "owner")
