import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from chat.benchmark.measures import FULL, QUICK, bytes_by_shape, measure
from chat.benchmark.report import bars, table
from chat.benchmark.stage import running_stage


class Command(BaseCommand):
    help = "Measures Parley beside a bare relay: real servers, sockets and a loopback provider."
    # It measures the code, not this installation: everything runs in a folder of its own.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--quick", action="store_true", help="less of everything: under 50 s")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument("--check", action="store_true", help="fail when a promise is not kept")
        parser.add_argument("--server", choices=("daphne", "uvicorn"), default="daphne")

    def handle(self, **options: Any) -> None:
        sizes = QUICK if options["quick"] else FULL
        self.stderr.write("Starting a provider, a relay and Parley; counting bytes meanwhile …")
        with ThreadPoolExecutor(1) as aside:
            counting = aside.submit(bytes_by_shape, sizes)
            with running_stage(options["server"], sizes.people) as stage:
                # Nothing else runs while the clock does.
                counted = counting.result()
                figures = measure(stage, sizes, self.stderr.write) | counted
        promises = list(bars(figures))
        if options["json"]:
            self.stdout.write(json.dumps(figures, indent=2))
        else:
            self.stdout.write("\n".join([*table(figures), "", *map(str, promises)]))
        missed = [bar for bar in promises if not bar.is_kept]
        if options["check"] and missed:
            raise CommandError(f"{len(missed)} of {len(promises)} promises are not kept.")
