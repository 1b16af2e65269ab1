"""Budgets as values: which of them concern a person, and which limits that makes."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from chat.models import Budget

Amount = TypeVar("Amount", int, Decimal)


@dataclass(frozen=True, slots=True)
class Amounts:
    """What may be used, or was used: tokens and cost, of a day and of a month."""

    tokens_per_day: int | None = None
    tokens_per_month: int | None = None
    cost_per_day: Decimal | None = None
    cost_per_month: Decimal | None = None


@dataclass(frozen=True, slots=True)
class KnownBudget:
    """A budget as the catalog keeps it: one person's, a group's, or everybody's."""

    id: str
    person_id: int | None
    group_id: int | None
    together: bool
    amounts: Amounts
    messages_per_minute: int | None = None
    running_answers: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What holds for one person by themselves."""

    amounts: Amounts
    messages_per_minute: int | None = None
    running_answers: int | None = None


def read_budgets() -> tuple[KnownBudget, ...]:
    return tuple(
        KnownBudget(
            id=str(row.pk),
            person_id=row.person_id,
            group_id=row.group_id,
            together=row.together,
            amounts=Amounts(
                row.tokens_per_day, row.tokens_per_month, row.cost_per_day, row.cost_per_month
            ),
            messages_per_minute=row.messages_per_minute,
            running_answers=row.running_answers,
        )
        for row in Budget.objects.order_by("pk")
    )


def limits_of(budgets: Sequence[KnownBudget], person_id: int, groups: Collection[int]) -> Limits:
    """One's own limit, else the largest of one's groups, else everybody's: each by itself."""
    alone = [each for each in budgets if not each.together]
    own = [each for each in alone if each.person_id == person_id]
    of_groups = [each for each in alone if each.group_id in groups]
    of_all = [each for each in alone if each.person_id is None and each.group_id is None]
    ranks = (own, of_groups, of_all)
    return Limits(
        Amounts(
            _first(ranks, lambda each: each.amounts.tokens_per_day),
            _first(ranks, lambda each: each.amounts.tokens_per_month),
            _first(ranks, lambda each: each.amounts.cost_per_day),
            _first(ranks, lambda each: each.amounts.cost_per_month),
        ),
        _first(ranks, lambda each: each.messages_per_minute),
        _first(ranks, lambda each: each.running_answers),
    )


def _first(
    ranks: Iterable[Sequence[KnownBudget]], limit: Callable[[KnownBudget], Amount | None]
) -> Amount | None:
    for budgets in ranks:
        set_ones = [found for each in budgets if (found := limit(each)) is not None]
        if set_ones:
            return max(set_ones)
    return None


def shared_by(budgets: Iterable[KnownBudget], groups: Collection[int]) -> list[KnownBudget]:
    """What a person draws on together with others."""
    return [
        each
        for each in budgets
        if each.together and (each.group_id is None or each.group_id in groups)
    ]
