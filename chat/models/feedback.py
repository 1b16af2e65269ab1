"""What a person thinks of an answer."""

from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.conversation import Conversation
from chat.models.message import Message
from chat.protocol.feedback import LONGEST_COMMENT


class Feedback(Row):
    class Verdict(models.TextChoices):
        UP = "up", _("good")
        DOWN = "down", _("bad")

    message = models.ForeignKey(
        Message, models.CASCADE, related_name="verdicts", verbose_name=_("answer")
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("person")
    )
    verdict = models.CharField(_("verdict"), max_length=4, choices=Verdict)
    comment = models.CharField(_("comment"), max_length=LONGEST_COMMENT, blank=True)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    updated = models.DateTimeField(_("updated"), default=timezone.now)

    class Meta:
        verbose_name = _("feedback")
        verbose_name_plural = _("feedback")
        ordering = ("-updated",)
        constraints = (
            models.UniqueConstraint(fields=("message", "person"), name="feedback_once"),
            models.CheckConstraint(
                condition=Q(verdict__in=["up", "down"]), name="feedback_verdict"
            ),
        )

    def __str__(self) -> str:
        # Not the comment: lists and logs have this.
        return self.get_verdict_display()

    @property
    def conversation(self) -> Conversation:
        return self.message.conversation

    @property
    def conversation_id(self) -> UUID:
        return self.message.conversation_id
