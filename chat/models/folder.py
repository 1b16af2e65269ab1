"""A folder of conversations, and what is asked of the answers in it."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.profile import LONGEST_INSTRUCTIONS

LONGEST_NAME = 80


class Folder(Row):
    """A person's own; a conversation is in one of them, or in none."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="folders",
        verbose_name=_("owner"),
    )
    name = models.CharField(_("name"), max_length=LONGEST_NAME)
    # Given to every agent that answers in it, after the person's own.
    instructions = models.TextField(
        _("instructions"), blank=True, default="", max_length=LONGEST_INSTRUCTIONS
    )
    # Whether the column shows its name alone.
    collapsed = models.BooleanField(_("collapsed"), default=False)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("folder")
        verbose_name_plural = _("folders")
        ordering = ("owner", "name")
        constraints = (models.UniqueConstraint("owner", Lower("name"), name="folder_name_once"),)

    def __str__(self) -> str:
        return self.name
