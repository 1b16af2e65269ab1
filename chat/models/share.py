"""A link under which anybody can read a conversation."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.conversation import Conversation
from chat.models.secrets import EncryptedField


class ShareLinkQuerySet(models.QuerySet["ShareLink"]):
    def open(self) -> "ShareLinkQuerySet":
        """The links that lead somewhere."""
        return self.filter(
            Q(expires_at=None) | Q(expires_at__gt=timezone.now()),
            revoked_at=None,
            conversation__deleted_at=None,
            conversation__temporary=False,
            conversation__owner__is_active=True,
        )


class ShareLink(Row):
    """It is found by the hash of its token. The token itself is encrypted beside it, so that its
    owner can copy the link again, and a dump of the database opens nothing."""

    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="shares", verbose_name=_("conversation")
    )
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    token = EncryptedField(editable=False)
    live = models.BooleanField(_("shows later messages too"))
    with_thinking = models.BooleanField(_("with thinking"))
    with_tools = models.BooleanField(_("with tools"))
    # What is shown, of a link that shows the conversation as it was; gone with the link.
    title = models.CharField(max_length=200, blank=True, editable=False)
    messages = models.JSONField(null=True, editable=False)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    revoked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+",
        verbose_name=_("revoked by"),
    )  # fmt: skip

    objects = ShareLinkQuerySet.as_manager()

    class Meta:
        verbose_name = _("share link")
        verbose_name_plural = _("share links")
        ordering = ("-id",)

    def __str__(self) -> str:
        # Not the title, which is made of what was said: lists and logs have this.
        return str(self.pk)
