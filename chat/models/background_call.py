"""A request to a model that wrote no answer: for a title, or to sum up older turns."""

from decimal import Decimal

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.conversation import Conversation


class BackgroundCall(Row):
    """What it took: nobody reads what was written, but somebody pays for it."""

    class Purpose(models.TextChoices):
        TITLE = "title", _("title")
        SUMMARY = "summary", _("summary")

    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="background_calls",
        verbose_name=_("conversation"),
    )  # fmt: skip
    purpose = models.CharField(_("purpose"), max_length=10, choices=Purpose)
    provider_id = models.CharField(_("provider"), max_length=200, blank=True)
    model_id = models.CharField(_("model"), max_length=200, blank=True)
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    reasoning_tokens = models.PositiveIntegerField(_("reasoning tokens"), default=0)
    cache_read_tokens = models.PositiveIntegerField(_("cache read tokens"), default=0)
    cache_write_tokens = models.PositiveIntegerField(_("cache write tokens"), default=0)
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=8, default=Decimal(0))
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("background request")
        verbose_name_plural = _("background requests")
        ordering = ("-created",)
        constraints = (
            models.CheckConstraint(
                condition=Q(purpose__in=["title", "summary"]), name="background_call_purpose"
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_purpose_display()} · {self.model_id}"
