"""Budgets: how much a person, a group or everybody may use."""

from decimal import Decimal

from django.contrib import admin
from django.utils.formats import number_format
from django.utils.translation import gettext_lazy as _

from chat.models import Budget
from chat.rendering.page.usage import money


@admin.register(Budget)
class BudgetAdmin(admin.ModelAdmin[Budget]):
    list_display = (
        "__str__", "together", "messages_per_minute", "running_answers", "day_tokens",
        "month_tokens", "day_cost", "month_cost",
    )  # fmt: skip
    list_filter = ("together", "group")
    list_select_related = ("person", "group")
    search_fields = ("person__username", "group__name")
    fieldsets = (
        (
            None,
            {
                "fields": ("person", "group", "together"),
                "description": _(
                    "One’s own limit counts; else the largest of one’s groups; else that of "
                    "everybody. What is counted together holds besides."
                ),
            },
        ),
        (_("Pace"), {"fields": ("messages_per_minute", "running_answers")}),
        (_("Tokens"), {"fields": ("tokens_per_day", "tokens_per_month")}),
        (
            _("Cost in dollars, by the prices of the models"),
            {"fields": ("cost_per_day", "cost_per_month")},
        ),
    )

    @admin.display(description=_("tokens a day"), ordering="tokens_per_day")
    def day_tokens(self, budget: Budget) -> str:
        return _count(budget.tokens_per_day)

    @admin.display(description=_("tokens a month"), ordering="tokens_per_month")
    def month_tokens(self, budget: Budget) -> str:
        return _count(budget.tokens_per_month)

    @admin.display(description=_("cost a day"), ordering="cost_per_day")
    def day_cost(self, budget: Budget) -> str:
        return _cost(budget.cost_per_day)

    @admin.display(description=_("cost a month"), ordering="cost_per_month")
    def month_cost(self, budget: Budget) -> str:
        return _cost(budget.cost_per_month)


def _count(limit: int | None) -> str:
    return "–" if limit is None else number_format(limit, force_grouping=True)


def _cost(limit: Decimal | None) -> str:
    """Nothing at all is a limit too."""
    return "–" if limit is None else money(limit) if limit else "$0"
