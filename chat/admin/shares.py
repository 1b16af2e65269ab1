"""Share links: who shows what to everybody, and the end of it. What they show is not here."""

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat import services
from chat.admin.read_only import ReadOnlyAdmin
from chat.models import ShareLink
from chat.views.responses import caller


@admin.register(ShareLink)
class ShareLinkAdmin(ReadOnlyAdmin[ShareLink]):
    conversations = ("conversation__temporary",)
    actions = ("revoke",)
    list_display = ("conversation_key", "owner", "live", "created", "expires_at", "is_open",
                    "revoked_by")  # fmt: skip
    list_filter = ("live", "created", "expires_at", "revoked_at")
    list_select_related = ("conversation__owner", "revoked_by")
    search_fields = ("=id", "=conversation__id", "conversation__owner__username")
    fields = ("conversation_link", "owner", "live", "with_thinking", "with_tools", "created",
              "expires_at", "revoked_at", "revoked_by")  # fmt: skip
    readonly_fields = ("conversation_link", "owner")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ShareLink]:
        still = ShareLink.objects.open().filter(pk=OuterRef("pk"))
        rows = super().get_queryset(request).defer("messages", "token")
        return rows.annotate(is_open_now=Exists(still))

    @admin.display(description=_("owner"), ordering="conversation__owner__username")
    def owner(self, row: ShareLink) -> User:
        return row.conversation.owner

    @admin.display(description=_("open"), boolean=True)
    def is_open(self, row: ShareLink) -> bool:
        return bool(getattr(row, "is_open_now", False))

    @admin.action(description=_("Revoke the selected links"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ShareLink]) -> None:
        count = 0
        for row in queryset.filter(revoked_at=None):
            services.revoke_as_admin(caller(request), row)
            count += 1
        told = ngettext("%(count)s link was revoked.", "%(count)s links were revoked.", count)
        self.message_user(request, told % {"count": count}, messages.SUCCESS)
