from typing import Any

from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser

from chat import services

MARKS = {"ok": "ok  ", "look": "look", "bad": "BAD "}


class Command(BaseCommand):
    help = "Looks at everything that Parley needs, and says what to do where it is amiss."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--offline", action="store_true", help="ask no provider whether it answers"
        )

    def handle(self, *, offline: bool, **options: Any) -> None:
        bad = 0
        for finding in services.examine(asks_providers=not offline):
            self.stdout.write(f"{MARKS[finding.state]}  {finding.about}: {finding.words}")
            if finding.remedy:
                self.stdout.write(f"      → {finding.remedy}")
            bad += finding.state == "bad"
        if bad:
            raise CommandError(f"Things that must be mended: {bad}.")
