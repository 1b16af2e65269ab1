"""What is left of a budget, in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.template.loader import render_to_string
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from chat.rendering.page.times import moment
from chat.rendering.reader import Reader

# From here on a line beside the composer says how much is left.
TOLD_FROM = 0.75


@dataclass(frozen=True, slots=True)
class LimitLine:
    name: str
    used: str
    limit: str
    percent: int
    # When there is new.
    when: str
    shared: bool


def left_html(limits: Sequence[Any], reader: Reader) -> str:
    """The line beside the composer: nothing while there is plenty."""
    with reader.speaking():
        scarce = [each for each in limits if each.share >= TOLD_FROM]
        if not scarce:
            return ""
        worst = max(scarce, key=lambda each: (each.share, each.until))
        values = {
            "left": _amount(worst.what, worst.left),
            "limit": _amount(worst.what, worst.limit),
        }
        context = {
            "sentence": _sentences()[worst.what] % values,
            "when": moment(worst.until, reader.now),
        }
        return render_to_string("chat/left.html", context)


def limit_lines(limits: Sequence[Any], reader: Reader) -> list[LimitLine]:
    """All limits, for the settings."""
    return [
        LimitLine(
            name=_names()[each.what],
            used=_amount(each.what, each.used),
            limit=_amount(each.what, each.limit),
            percent=round(each.share * 100),
            when=moment(each.until, reader.now).text,
            shared=each.shared,
        )
        for each in limits
    ]


def _sentences() -> dict[str, str]:
    return {
        "tokens_per_day": _("%(left)s of %(limit)s tokens left today"),
        "tokens_per_month": _("%(left)s of %(limit)s tokens left this month"),
        "cost_per_day": _("%(left)s of %(limit)s left today"),
        "cost_per_month": _("%(left)s of %(limit)s left this month"),
    }


def _names() -> dict[str, str]:
    return {
        "tokens_per_day": _("Tokens today"),
        "tokens_per_month": _("Tokens this month"),
        "cost_per_day": _("Cost today"),
        "cost_per_month": _("Cost this month"),
    }


def _amount(what: str, amount: Decimal) -> str:
    if what.startswith("tokens"):
        return number_format(int(amount), force_grouping=True)
    return f"${number_format(amount, decimal_pos=2, force_grouping=True)}"
