"""The audit log: to be read, and by nobody to be changed."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from chat.admin.read_only import ReadOnlyAdmin
from chat.admin.reading import reason_page
from chat.models import AuditEntry


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin[AuditEntry]):
    list_display = ("at", "actor", "verb", "thing", "name", "owner", "reason")
    list_filter = ("verb", "at", "kind")
    search_fields = ("actor", "owner", "name", "reason", "=object_id")
    date_hierarchy = "at"
    fields = ("at", "actor", "verb", "kind", "object_id", "name", "owner", "reason", "details")

    @admin.display(description=_("kind"), ordering="kind")
    def thing(self, entry: AuditEntry) -> str:
        return entry.thing

    def get_urls(self) -> list[URLPattern]:
        asking = self.admin_site.admin_view(self.reason)
        return [
            path("reason/<uuid:conversation_id>/", asking, name="chat_auditentry_reason"),
            *super().get_urls(),
        ]

    def reason(self, request: HttpRequest, conversation_id: UUID) -> HttpResponse:
        return reason_page(self.admin_site, request, conversation_id)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
