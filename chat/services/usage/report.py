"""Report: what was used between two days, in all and by whatever one wants to know it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final, Literal, get_args

from django.db.models import QuerySet, Sum

from chat.models import DailyUsage
from chat.services.usage.count import today

By = Literal["day", "person", "group", "agent", "model", "kind"]
WAYS: Final[tuple[By, ...]] = get_args(By)
# How many days a report has unless somebody says otherwise.
DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class UsageFilter:
    """Which usage is meant: empty is all of it."""

    since: date
    until: date
    person: str = ""
    group: str = ""
    agent: str = ""
    model: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class UsageLine:
    """What was used of one day, by one person, through one model …; in all where it has no name."""

    name: str = ""
    # Whose model it is, where lines are by model.
    provider_id: str = ""
    requests: int = 0
    errors: int = 0
    stopped: int = 0
    steps: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: Decimal = Decimal(0)
    first_words: int = 0
    first_word_ms: int = 0

    @property
    def tokens(self) -> int:
        """All of them: read, written and thought, cached or not."""
        cached = self.cache_read_tokens + self.cache_write_tokens
        return self.input_tokens + self.output_tokens + self.reasoning_tokens + cached

    @property
    def first_word(self) -> int | None:
        """How long people waited for the first word, on the average, in milliseconds."""
        return round(self.first_word_ms / self.first_words) if self.first_words else None


@dataclass(frozen=True, slots=True)
class UsageReport:
    asked: UsageFilter
    by: By
    lines: Sequence[UsageLine] = ()
    total: UsageLine = field(default_factory=UsageLine)


# The columns by which lines are told apart. Who is in two groups is counted in both of them.
_COLUMNS: Final[Mapping[By, tuple[str, ...]]] = {
    "day": ("day",),
    "person": ("person__username",),
    "group": ("person__groups__name",),
    "agent": ("agent",),
    "model": ("provider_id", "model_id"),
    "kind": ("kind",),
}
_WHERE: Final = {
    "person": "person__username",
    "group": "person__groups__name",
    "agent": "agent",
    "model": "model_id",
    "kind": "kind",
}
SUMS: Final = tuple(
    each.name for each in fields(UsageLine) if each.name not in ("name", "provider_id")
)


def last_days(days: int = DAYS) -> UsageFilter:
    """The last so many days, today among them."""
    until = today()
    return UsageFilter(until - timedelta(days=days - 1), until)


def this_month() -> UsageFilter:
    """From the first of the month until today."""
    until = today()
    return UsageFilter(until.replace(day=1), until)


def report_usage(asked: UsageFilter, by: By = "day") -> UsageReport:
    """What was used, line by line: days in their order and without a gap, all else by its cost."""
    rows = _rows(asked)
    columns = _COLUMNS[by]
    found = rows.order_by().values(*columns).annotate(**_sums())
    lines = [_line(row, columns) for row in found]
    if by == "day":
        lines = _every_day(lines, asked)
    else:
        lines.sort(key=lambda line: (-line.cost, -line.tokens, -line.requests, line.name))
    total = _line(rows.aggregate(**_sums()), ())
    return UsageReport(asked, by, lines, total)


def usage_choices() -> dict[str, list[str]]:
    """What there is to filter by."""
    used = DailyUsage.objects.order_by()
    return {
        name: sorted(filter(None, used.values_list(column, flat=True).distinct()))
        for name, column in _WHERE.items()
        if name != "kind"
    }


def _rows(asked: UsageFilter) -> QuerySet[DailyUsage]:
    rows = DailyUsage.objects.filter(day__range=(asked.since, asked.until))
    for name, column in _WHERE.items():
        if wanted := getattr(asked, name):
            rows = rows.filter(**{column: wanted})
    return rows


def _sums() -> dict[str, Sum]:
    return {f"sum_{name}": Sum(name) for name in SUMS}


def _line(row: Mapping[str, Any], columns: tuple[str, ...]) -> UsageLine:
    sums: dict[str, Any] = {name: row[f"sum_{name}"] or 0 for name in SUMS}
    line = UsageLine(**sums)
    if not columns:
        return line
    provider = row["provider_id"] if "provider_id" in columns else ""
    return replace(line, name=str(row[columns[-1]] or ""), provider_id=provider)


def _every_day(lines: Sequence[UsageLine], asked: UsageFilter) -> list[UsageLine]:
    known = {line.name: line for line in lines}
    span = (asked.until - asked.since).days + 1
    days = [(asked.since + timedelta(days=place)).isoformat() for place in range(span)]
    return [known.get(day, UsageLine(name=day)) for day in days]
