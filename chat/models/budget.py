"""How much somebody may use, and what running answers have set aside of it."""

from decimal import Decimal

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.generation import Generation


class Budget(Row):
    """Limits of a person, of a group, or of everybody; empty ones are no limits.

    Of the limits for one person, the one of their own counts; else the largest that one of their
    groups has; else that of everybody. What counts together is another budget, beside those.
    """

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="budget",
        verbose_name=_("person"),
    )  # fmt: skip
    group = models.ForeignKey(
        "auth.Group", models.CASCADE, null=True, blank=True, related_name="budgets",
        verbose_name=_("group"), help_text=_("Without a person and a group it is for everybody."),
    )  # fmt: skip
    together = models.BooleanField(
        _("counted together"), default=False,
        help_text=_("What all of them use is added up. Otherwise each has it for themselves."),
    )  # fmt: skip
    messages_per_minute = models.PositiveIntegerField(
        _("messages a minute"), null=True, blank=True, help_text=_("For each person.")
    )
    running_answers = models.PositiveIntegerField(
        _("answers at once"), null=True, blank=True, help_text=_("For each person.")
    )
    tokens_per_day = models.PositiveBigIntegerField(_("tokens a day"), null=True, blank=True)
    tokens_per_month = models.PositiveBigIntegerField(_("tokens a month"), null=True, blank=True)
    cost_per_day = models.DecimalField(
        _("cost a day"), max_digits=12, decimal_places=4, null=True, blank=True,
        validators=[MinValueValidator(Decimal(0))],
    )  # fmt: skip
    cost_per_month = models.DecimalField(
        _("cost a month"), max_digits=12, decimal_places=4, null=True, blank=True,
        validators=[MinValueValidator(Decimal(0))],
    )  # fmt: skip

    class Meta:
        verbose_name = _("budget")
        verbose_name_plural = _("budgets")
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=Q(person=None) | Q(group=None, together=False),
                name="budget_of_whom",
                violation_error_message=_("A budget is for a person or for a group, not for both."),
            ),
            models.UniqueConstraint(
                fields=("group", "together"),
                name="one_budget_of_a_group",
                violation_error_message=_("This group has such a budget already."),
            ),
            models.UniqueConstraint(
                fields=("together",),
                condition=Q(person=None, group=None),
                name="one_budget_of_everybody",
                violation_error_message=_("There is such a budget for everybody already."),
            ),
        )

    def __str__(self) -> str:
        return str(self.person or self.group or _("Everybody"))


class Reservation(models.Model):
    """What a running answer has used and will about use; it counts while the answer runs.

    Only of people who have a budget. When the answer has ended, its usage is among that of the day.
    """

    generation = models.OneToOneField(
        Generation, models.CASCADE, primary_key=True, related_name="reservation"
    )
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=18, decimal_places=8, default=Decimal(0))

    def __str__(self) -> str:
        return str(self.generation_id)
