"""What was sent to a provider and what came back, kept for a few days."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.conversation import Conversation
from chat.models.message import Message


class RequestLog(Row):
    """One request. The texts are compressed; no key is in them."""

    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="requests", verbose_name=_("conversation")
    )
    # The answer that it was made for; one for a title has none.
    message = models.ForeignKey(
        Message, models.CASCADE, null=True, blank=True, related_name="requests",
        verbose_name=_("message"),
    )  # fmt: skip
    kind = models.CharField(_("kind"), max_length=10, default="answer", db_default="answer")
    model_id = models.CharField(_("model"), max_length=200, blank=True)
    url = models.CharField(_("address"), max_length=1000)
    headers = models.JSONField(_("headers"), default=dict)
    sent = models.BinaryField(_("what was sent"))
    received = models.BinaryField(_("what came back"))
    status = models.PositiveSmallIntegerField(_("status"), null=True, blank=True)
    error_key = models.CharField(_("error"), max_length=100, blank=True)
    began = models.DateTimeField(_("sent at"), db_index=True)
    first_ms = models.PositiveIntegerField(_("first byte after (ms)"), null=True, blank=True)
    took_ms = models.PositiveIntegerField(_("took (ms)"), null=True, blank=True)

    class Meta:
        verbose_name = _("request")
        verbose_name_plural = _("what was sent")
        ordering = ("-id",)
        default_permissions = ("view", "delete")

    def __str__(self) -> str:
        return f"{self.model_id} · {self.began:%Y-%m-%d %H:%M:%S}"
