"""A file that somebody attached to a message, stored under a name of ours."""

from pathlib import PurePath

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.conversation import Conversation
from chat.models.message import Message
from chat.models.queued import QueuedMessage


def stored_name(attachment: "Attachment", _filename: str) -> str:
    """Where the file is stored: by our id, never by the sender's name for it."""
    return str(PurePath("attachments") / str(attachment.pk))


class Attachment(Row):
    """One file; it has no message until the message it was uploaded for is sent."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("owner"))
    message = models.ForeignKey(
        Message, models.CASCADE, null=True, blank=True, related_name="attachments",
        verbose_name=_("message"),
    )  # fmt: skip
    queued = models.ForeignKey(
        QueuedMessage, models.CASCADE, null=True, blank=True, related_name="attachments",
        verbose_name=_("queued message"),
    )  # fmt: skip
    # The temporary chat that it was uploaded in: it goes with it, sent or not.
    temporary_in = models.ForeignKey(
        Conversation, models.CASCADE, null=True, editable=False, related_name="+"
    )
    file = models.FileField(_("file"), upload_to=stored_name)
    mime = models.CharField(_("type"), max_length=100)
    size = models.PositiveIntegerField(_("size"))
    filename = models.CharField(_("file name"), max_length=255, blank=True)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("attachment")
        verbose_name_plural = _("attachments")
        ordering = ("created",)

    def __str__(self) -> str:
        return self.filename or str(self.pk)
