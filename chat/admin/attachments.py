"""Files that people put on their messages."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Attachment


@admin.register(Attachment)
class AttachmentAdmin(ReadOnlyAdmin[Attachment]):
    conversations = (
        "message__conversation__temporary",
        "queued__conversation__temporary",
        "temporary_in__temporary",
    )
    list_display = ("__str__", "owner", "mime", "size", "message", "created")
    list_filter = ("mime", "created")
    list_select_related = ("owner", "message")
    # The latest first, by their index.
    ordering = ("-id",)
    search_fields = ("filename", "=id", "owner__username", "mime")
    readonly_fields = ("stored_as",)
    fields = ("filename", "mime", "size", "owner", "message", "queued", "stored_as", "created")

    @admin.display(description=_("stored as"))
    def stored_as(self, row: Attachment) -> str:
        """A name and no link: a file is only served through its conversation."""
        return row.file.name or ""
