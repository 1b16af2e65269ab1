"""What people used, summed up by day: it outlives the conversations in which they did."""

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class DailyUsage(models.Model):
    """One row for each day, person, agent, model and kind of request, which is added to."""

    class Kind(models.TextChoices):
        ANSWER = "answer", _("answer")
        TITLE = "title", _("title")
        SUMMARY = "summary", _("summary")

    day = models.DateField(_("day"))
    # Without one when the person was deleted: what was paid for stays paid for.
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="usage",
        verbose_name=_("person"),
    )  # fmt: skip
    agent = models.CharField(_("agent"), max_length=100, blank=True, default="")
    provider_id = models.CharField(_("provider"), max_length=200, blank=True, default="")
    model_id = models.CharField(_("model"), max_length=200, blank=True, default="")
    kind = models.CharField(_("kind"), max_length=10, choices=Kind)

    requests = models.PositiveIntegerField(_("requests"), default=0)
    errors = models.PositiveIntegerField(_("errors"), default=0)
    stopped = models.PositiveIntegerField(_("stopped"), default=0)
    steps = models.PositiveIntegerField(_("steps"), default=0)
    tool_calls = models.PositiveIntegerField(_("tool calls"), default=0)
    input_tokens = models.PositiveBigIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveBigIntegerField(_("output tokens"), default=0)
    reasoning_tokens = models.PositiveBigIntegerField(_("reasoning tokens"), default=0)
    cache_read_tokens = models.PositiveBigIntegerField(_("cache read tokens"), default=0)
    cache_write_tokens = models.PositiveBigIntegerField(_("cache write tokens"), default=0)
    cost = models.DecimalField(_("cost"), max_digits=18, decimal_places=8, default=Decimal(0))
    # Of the answers that came to a first word: how many, and how long they took to it together.
    first_words = models.PositiveIntegerField(_("answers with a word"), default=0)
    first_word_ms = models.PositiveBigIntegerField(_("time to the first word"), default=0)

    class Meta:
        verbose_name = _("usage")
        verbose_name_plural = _("usage")
        ordering = ("-day", "id")
        constraints = (
            # The person first: budgets ask for one person's days.
            models.UniqueConstraint(
                fields=("person", "day", "agent", "provider_id", "model_id", "kind"),
                name="usage_once",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["answer", "title", "summary"]), name="usage_kind"
            ),
        )
        indexes = (models.Index(fields=("day",), name="usage_by_day"),)

    def __str__(self) -> str:
        return f"{self.day} · {self.get_kind_display()}"
