"""An invitation: a link by which somebody makes themselves an account, once."""

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.secrets import EncryptedField


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> "InvitationQuerySet":
        """Those that still let somebody in."""
        return self.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())


class Invitation(Row):
    """Found by the hash of its token; the token itself is encrypted beside it, so that whoever
    invites can copy the link again, and a dump of the database opens nothing."""

    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    token = EncryptedField(editable=False)
    email = models.EmailField(
        _("e-mail address"), blank=True, help_text=_("Of the new account, if it is known.")
    )
    groups = models.ManyToManyField(
        Group, blank=True, related_name="+", verbose_name=_("groups"),
        help_text=_("Whoever is in a group with rights may open the administration."),
    )  # fmt: skip
    note = models.CharField(
        _("for whom"), max_length=200, blank=True, help_text=_("Only administrators see this.")
    )
    created = models.DateTimeField(_("made"), default=timezone.now, editable=False)
    expires_at = models.DateTimeField(_("expires"))
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+",
        editable=False, verbose_name=_("made by"),
    )  # fmt: skip
    used_at = models.DateTimeField(_("used"), null=True, blank=True, editable=False)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+",
        editable=False, verbose_name=_("used by"),
    )  # fmt: skip
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.note or self.email or str(self.pk)
