from argparse import ArgumentTypeError
from datetime import date
from typing import Any

from django.core.management import BaseCommand
from django.core.management.base import CommandParser

from chat import services
from chat.rendering.page import usage as drawing
from chat.services import UsageFilter


def a_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text} is no day such as 2026-01-31") from None


class Command(BaseCommand):
    help = "Says what was used: tokens, cost, errors, tool calls and the time to the first word."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--by", choices=services.USAGE_WAYS, default="day")
        parser.add_argument("--since", type=a_day, metavar="DAY", help="default: 30 days ago")
        parser.add_argument("--until", type=a_day, metavar="DAY", help="default: today")
        for name in ("person", "group", "agent", "model"):
            parser.add_argument(f"--{name}", default="", metavar="NAME", help="of this one only")
        parser.add_argument("--kind", choices=tuple(drawing.KINDS), default="")
        parser.add_argument("--csv", action="store_true", help="for programs")

    def handle(self, *, by: services.By, csv: bool, **options: Any) -> None:
        usual = services.last_days()
        asked = UsageFilter(
            since=options["since"] or usual.since,
            until=options["until"] or usual.until,
            **{name: options[name] for name in ("person", "group", "agent", "model", "kind")},
        )
        report = services.report_usage(asked, by)
        if csv:
            for line in drawing.csv_lines(by, report.lines, services.USAGE_SUMS):
                self.stdout.write(line, ending="")
            return
        used = [line for line in report.lines if line.requests]
        rows = [*drawing.rows_of(by, used, {}), drawing.total_row(report.total)]
        table = [(str(drawing.WAYS[by]), *drawing.headings())]
        table += [(row.name, *row.cells) for row in rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for name, *cells in table:
            numbers = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
            self.stdout.write("  ".join((name.ljust(widths[0]), *numbers)))
