"""Spend: nobody is asked for an answer before it is known that its budget allows it.

Nothing of this is done while there is no budget at all; the catalog in memory knows. What running
answers will about take is set aside in a row, under a lock of whoever shares the budget: of many
that begin in one moment each sees what the others took.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Literal, get_args
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from chat.engine.usage import Prices, cost_of
from chat.protocol.errors import ChatError
from chat.protocol.parts import Tokens
from chat.services import sql
from chat.services.catalog.known import current_catalog
from chat.services.people.attempts import count_turn
from chat.services.usage.budgets import (
    Amounts,
    KnownBudget,
    Limits,
    limits_of,
    shared_by,
)
from chat.services.usage.count import today

# What an answer is taken to write, before it has.
EXPECTED_OUTPUT: Final = 500
# In seconds.
MINUTE: Final = 60

What = Literal["tokens_per_day", "cost_per_day", "tokens_per_month", "cost_per_month"]
WHATS: Final[tuple[What, ...]] = get_args(What)
_KEYS: Final[dict[What, str]] = {
    "tokens_per_day": "error.chat_budget_tokens_day",
    "cost_per_day": "error.chat_budget_cost_day",
    "tokens_per_month": "error.chat_budget_tokens_month",
    "cost_per_month": "error.chat_budget_cost_month",
}

_TOKENS: Final = """input_tokens + output_tokens + reasoning_tokens
    + cache_read_tokens + cache_write_tokens"""
# What was used this month, today apart, and what is set aside: read in one moment.
_USED: Final = f"""SELECT used.*, aside.* FROM
    (SELECT COALESCE(SUM(CASE WHEN day = %s THEN {_TOKENS} ELSE 0 END), 0),
            COALESCE(SUM({_TOKENS}), 0),
            COALESCE(SUM(CASE WHEN day = %s THEN cost ELSE 0 END), 0),
            COALESCE(SUM(cost), 0)
        FROM chat_dailyusage WHERE day >= %s AND {{whose}}) AS used,
    (SELECT COALESCE(SUM(tokens), 0), COALESCE(SUM(cost), 0)
        FROM chat_reservation JOIN chat_generation run
            ON run.id = generation_id AND run.status = 'active'
        WHERE generation_id <> %s AND {{whose}}) AS aside"""
_NOBODY: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Left:
    """A limit, how much of it is used, and when there is new."""

    what: What
    limit: Decimal
    used: Decimal
    # In milliseconds.
    until: int
    # Whether others draw on it, too.
    shared: bool = False

    @property
    def left(self) -> Decimal:
        return max(self.limit - self.used, Decimal(0))

    @property
    def share(self) -> float:
        """How much of it is used, from 0 to 1."""
        return min(float(self.used / self.limit), 1.0) if self.limit else 1.0


def refuse_overspending(person_id: int, running: int, stamp: str) -> None:
    """Raise the reason why this person may not begin another answer, if there is one; within the
    transaction that begins it."""
    budgets = current_catalog(stamp).budgets
    if not budgets:
        return
    groups = _groups_of(person_id, budgets)
    limits = limits_of(budgets, person_id, groups)
    _refuse_pace(person_id, running, limits)
    _refuse_used_up(_left(person_id, budgets, groups, limits))


def is_affordable(person_id: int) -> bool:
    """Whether something may be asked for that nobody waits for, such as a title."""
    try:
        _refuse_used_up(budget_left(person_id))
    except ChatError:
        return False
    return True


def budget_left(person_id: int) -> list[Left]:
    """All limits that hold for a person, and how much of each is used."""
    budgets = current_catalog().budgets
    if not budgets:
        return []
    groups = _groups_of(person_id, budgets)
    return _left(person_id, budgets, groups, limits_of(budgets, person_id, groups))


@transaction.atomic
def reserve(request_id: UUID, person_id: int, spent: Tokens, cost: Decimal, aside: Tokens,
            prices: Prices) -> None:  # fmt: skip
    """Set aside what the next step of a running answer will about take, unless there is nothing
    left; `spent` is what its steps so far have taken."""
    budgets = current_catalog().budgets
    if not budgets:
        return
    groups = _groups_of(person_id, budgets)
    _lock(person_id, shared_by(budgets, groups))
    own = spent.total
    left = _left(
        person_id, budgets, groups, limits_of(budgets, person_id, groups), request_id, own, cost
    )
    _refuse_used_up(left)
    if left:
        sql.change(
            """INSERT INTO chat_reservation (generation_id, person_id, tokens, cost)
                VALUES (%s, %s, %s, %s) ON CONFLICT (generation_id)
                DO UPDATE SET tokens = excluded.tokens, cost = excluded.cost""",
            *(request_id, person_id, own + aside.total),
            round(cost + cost_of(aside, prices), 8),
        )


def forget_reservations() -> None:
    """Those of answers that have ended count for nothing."""
    sql.change(
        """DELETE FROM chat_reservation WHERE generation_id NOT IN
            (SELECT id FROM chat_generation WHERE status = 'active')"""
    )


# --- what holds for whom ------------------------------------------------------------


def _groups_of(person_id: int, budgets: Sequence[KnownBudget]) -> list[int]:
    """Asked only where a group has a budget."""
    if all(each.group_id is None for each in budgets):
        return []
    rows = sql.fetch("SELECT group_id FROM auth_user_groups WHERE user_id = %s", person_id)
    return [group for (group,) in rows]


def _left(
    person_id: int,
    budgets: Sequence[KnownBudget],
    groups: Sequence[int],
    limits: Limits,
    request_id: UUID = _NOBODY,
    tokens: int = 0,
    cost: Decimal = Decimal(0),
) -> list[Left]:
    """How much is left of every limit; `tokens` and `cost` are what this run has used so far."""
    own = (tokens, cost)
    found = _of(limits.amounts, "person_id = %s", [person_id], request_id, own)
    for each in shared_by(budgets, groups):
        whose, values = _members(each)
        found += _of(each.amounts, whose, values, request_id, own, shared=True)
    return found


def _members(budget: KnownBudget) -> tuple[str, list[Any]]:
    if budget.group_id is None:
        return "1 = 1", []
    members = "person_id IN (SELECT user_id FROM auth_user_groups WHERE group_id = %s)"
    return members, [budget.group_id]


def _of(
    amounts: Amounts,
    whose: str,
    values: list[Any],
    request_id: UUID,
    own: tuple[int, Decimal],
    *,
    shared: bool = False,
) -> list[Left]:
    wanted = {what: limit for what in WHATS if (limit := getattr(amounts, what)) is not None}
    if not wanted:
        return []
    day = today()
    of_day = day.isoformat()
    since = day.replace(day=1).isoformat()
    [found] = sql.fetch(
        _USED.format(whose=whose), of_day, of_day, since, *values, request_id, *values
    )
    a, b, c, d, tokens, cost = (Decimal(str(value)) for value in found)
    tokens, cost = tokens + own[0], cost + own[1]
    used: dict[What, Decimal] = {
        "tokens_per_day": a + tokens,
        "tokens_per_month": b + tokens,
        "cost_per_day": c + cost,
        "cost_per_month": d + cost,
    }
    return [
        Left(what, Decimal(limit), used[what], _renewed(what, day), shared)
        for what, limit in wanted.items()
    ]


def _renewed(what: What, day: date) -> int:
    """When a day or a month begins anew, in milliseconds."""
    if what.endswith("_day"):
        begin = day + timedelta(days=1)
    else:
        begin = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    zone = timezone.get_default_timezone()
    return int(datetime(begin.year, begin.month, begin.day, tzinfo=zone).timestamp() * 1000)


def _lock(person_id: int, shared: Sequence[KnownBudget]) -> None:
    """Who draws on the same budget waits. SQLite has one writer at a time anyway."""
    if not sql.for_update():
        return
    sql.fetch(f"SELECT id FROM auth_user WHERE id = %s {sql.for_update()}", person_id)
    if shared:
        keys = [UUID(each.id) for each in shared]
        sql.fetch(
            f"""SELECT id FROM chat_budget WHERE id IN {sql.places(keys)}
                ORDER BY id {sql.for_update()}""",
            *keys,
        )


# --- refusals -----------------------------------------------------------------------


def _refuse_used_up(limits: Sequence[Left]) -> None:
    used_up = [each for each in limits if each.used >= each.limit]
    if not used_up:
        return
    # What is used up the longest keeps one waiting.
    worst = max(used_up, key=lambda each: each.until)
    limit = int(worst.limit) if worst.what.startswith("tokens") else float(worst.limit)
    raise ChatError(_KEYS[worst.what], limit=limit, until=worst.until)


def _refuse_pace(person_id: int, running: int, limits: Limits) -> None:
    if limits.running_answers is not None and running >= limits.running_answers:
        raise ChatError("error.chat_too_many_generations", limit=limits.running_answers)
    most = limits.messages_per_minute
    if most is None:
        return
    sent, seconds = count_turn(person_id, MINUTE)
    if sent > most:
        raise ChatError("error.chat_too_many_messages", limit=most, seconds=seconds)
