"""Usage in words and bars: what a report is drawn from."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final, Protocol

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from chat.rendering.page.times import delay

WAYS: Final = {
    "day": gettext_lazy("Day"),
    "person": gettext_lazy("Person"),
    "group": gettext_lazy("Group"),
    "agent": gettext_lazy("Agent"),
    "model": gettext_lazy("Model"),
    "kind": gettext_lazy("Kind"),
}
KINDS: Final = {
    "answer": gettext_lazy("Answers"),
    "title": gettext_lazy("Titles"),
    "summary": gettext_lazy("Summaries"),
}
# The chart, in units of its own: it is as wide as its place.
WIDTH, HEIGHT = 720, 120
# What begins a formula in a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Line(Protocol):
    """A line of a report, as `services.report_usage` makes it."""

    @property
    def name(self) -> str: ...
    @property
    def provider_id(self) -> str: ...
    @property
    def tokens(self) -> int: ...
    @property
    def cost(self) -> Decimal: ...
    @property
    def first_word(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Days as bars: how many tokens each took, or what it cost."""

    width: int
    height: int
    bars: tuple[Bar, ...]
    most: str
    first: str
    last: str
    of_cost: bool


@dataclass(frozen=True, slots=True)
class OwnUsage:
    name: str
    tokens: str
    cost: str


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    cells: tuple[str, ...]
    # Nothing was asked then, or of it.
    is_idle: bool = False

    @property
    def named_cells(self) -> list[tuple[str, str]]:
        """Each value with the name of its column, for those who see the rows one by one."""
        return list(zip(headings(), self.cells, strict=True))


def own_usage(today: Line, month: Line) -> tuple[OwnUsage, ...]:
    """What a person used, for themselves."""
    return tuple(
        OwnUsage(name, number_format(line.tokens, force_grouping=True), money(line.cost))
        for name, line in ((_("Today"), today), (_("This month"), month))
    )


def headings() -> tuple[str, ...]:
    return (
        _("Requests"),
        _("Errors"),
        _("Stopped"),
        _("Tool calls"),
        _("Input"),
        _("Output"),
        _("Cached"),
        _("Tokens"),
        _("Cost"),
        _("First word"),
    )


def rows_of(by: str, lines: Sequence[Any], names: Mapping[str, str]) -> list[Row]:
    """The lines of a report; `names` are those of models, by provider and model."""
    return [
        Row(line_name(by, line, names), _cells(line), is_idle=not line.requests) for line in lines
    ]


def line_name(by: str, line: Line, names: Mapping[str, str]) -> str:
    match by:
        case "day":
            return date_format(date.fromisoformat(line.name), "DATE_FORMAT")
        case "kind":
            return str(KINDS.get(line.name, line.name))
        case "model":
            return names.get(f"{line.provider_id}/{line.name}") or line.name or _("(none)")
        case "person":
            return line.name or _("(deleted)")
        case _:
            return line.name or _("(none)")


def total_row(line: Any) -> Row:
    return Row(_("Together"), _cells(line))


def _cells(line: Any) -> tuple[str, ...]:
    counts = (
        line.requests,
        line.errors,
        line.stopped,
        line.tool_calls,
        line.input_tokens,
        line.output_tokens + line.reasoning_tokens,
        line.cache_read_tokens + line.cache_write_tokens,
        line.tokens,
    )
    waited = line.first_word
    return (
        *(number_format(count, force_grouping=True) for count in counts),
        money(line.cost),
        "–" if waited is None else delay(waited),
    )


def money(amount: Decimal) -> str:
    """A price in dollars, with as many digits as it takes to be more than nothing."""
    if not amount:
        return "–"
    digits = 2 if amount >= 1 else 4
    if amount < Decimal("0.0001"):
        return "< $0.0001"
    return f"${number_format(amount, decimal_pos=digits, force_grouping=True)}"


def charts_of(days: Sequence[Line]) -> tuple[Chart, ...]:
    """The tokens of these days, and below them what they cost, as far as there is any."""
    charts = (_chart(days, of_cost=of_cost) for of_cost in (False, True))
    return tuple(chart for chart in charts if chart)


def _chart(days: Sequence[Line], *, of_cost: bool) -> Chart | None:
    sizes = [float(line.cost) if of_cost else float(line.tokens) for line in days]
    most = max(sizes, default=0.0)
    if not most:
        return None
    step = WIDTH / len(days)
    bars = (
        Bar(
            x=round(place * step + step * 0.1, 2),
            y=round(HEIGHT - HEIGHT * size / most, 2),
            width=round(step * 0.8, 2),
            height=round(HEIGHT * size / most, 2),
            title=f"{line_name('day', line, {})}: {_size(line, of_cost)}",
        )
        for place, (line, size) in enumerate(zip(days, sizes, strict=True))
    )
    highest = max(days, key=lambda line: line.cost if of_cost else line.tokens)
    return Chart(
        width=WIDTH,
        height=HEIGHT,
        bars=tuple(bars),
        most=_size(highest, of_cost),
        first=line_name("day", days[0], {}),
        last=line_name("day", days[-1], {}),
        of_cost=of_cost,
    )


def _size(line: Line, of_cost: bool) -> str:
    if of_cost:
        return money(line.cost)
    return _("%(count)s tokens") % {"count": number_format(line.tokens, force_grouping=True)}


class _Echo:
    """Hands on what is written to it."""

    def write(self, text: str) -> str:
        return text


def csv_lines(by: str, lines: Sequence[Any], sums: Sequence[str]) -> Iterator[str]:
    """The report as a table for programs: names as they are, plain numbers, in no language."""
    writer = csv.writer(_Echo())
    yield writer.writerow([by, *(["provider_id"] if by == "model" else []), *sums])
    for line in lines:
        named = [line.name, *([line.provider_id] if by == "model" else [])]
        numbers = (_plain(getattr(line, name)) for name in sums)
        yield writer.writerow([*map(_harmless, named), *numbers])


def _harmless(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(_FORMULA) else name


def _plain(value: int | Decimal) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)
