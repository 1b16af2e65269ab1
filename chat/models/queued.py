"""A message that waits until the running answer has ended."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.conversation import Conversation


class QueuedMessage(Row):
    """It becomes a message with the same id; whether the queue is held is the conversation's."""

    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="queued", verbose_name=_("conversation")
    )
    place = models.PositiveIntegerField(_("place"))
    text = models.TextField(_("text"), blank=True)
    # What its file parts will say; the files themselves point here until they are sent.
    files = models.JSONField(_("files"), default=list, blank=True)
    # Goes up whenever the text is changed, so that open pages notice.
    revision = models.PositiveIntegerField(_("revision"), default=0)
    tab_id = models.CharField(_("tab"), max_length=100, blank=True)
    client_id = models.CharField(_("client id"), max_length=64, blank=True)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("queued message")
        verbose_name_plural = _("queued messages")
        ordering = ("conversation", "place")
        constraints = (
            models.UniqueConstraint(fields=("conversation", "place"), name="queued_place_once"),
            models.UniqueConstraint(
                fields=("conversation", "client_id"),
                condition=~Q(client_id=""),
                name="queued_client_id_once",
            ),
        )

    def __str__(self) -> str:
        # Not its words: lists and logs have this.
        return str(self.pk)
