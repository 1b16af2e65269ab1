"""`python -m tests.benchmark`: Parley beside a bare relay, with real servers and sockets.

It measures the code, not this installation: everything runs in a folder of its own.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.benchmark.load import (
    FULL_LOAD,
    QUICK_LOAD,
    load_table,
    measure_doubled,
    measure_load,
)
from tests.benchmark.measures import FULL, MEASURES, QUICK, Figures, Sizes, bytes_by_shape
from tests.benchmark.measures import measure as measure_servers
from tests.benchmark.report import bars, table
from tests.benchmark.stage import running_stage

BYTES = "bytes"
NAMES = (*MEASURES, BYTES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; with `--check` the exit code says whether every promise is kept.

    A promise that nothing was measured of is not, unless that was not asked for."""
    options = _options().parse_args(arguments)
    if options.load:
        return _load(options)
    sizes = QUICK if options.quick else FULL
    figures = measure(options.only or NAMES, sizes, options.server)
    promises = list(bars(figures, everything=not options.only))
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        print("\n".join([*table(figures), "", *map(str, promises)]))
    missed = [bar for bar in promises if not bar.is_kept]
    if options.check and missed:
        _say(f"{len(missed)} of {len(promises)} promises are not kept:")
        _say("\n".join(map(str, missed)))
        return 1
    return 0


def _load(options: argparse.Namespace) -> int:
    """Everything at once, on several processes and with one thing after the other doubled."""
    sizes = QUICK_LOAD if options.quick else FULL_LOAD
    found = measure_load(options.server, options.processes, sizes, _say)
    doubled = measure_doubled(options.server, QUICK_LOAD, _say)
    if options.json:
        print(json.dumps({"load": found, "doubled": doubled}, indent=2))
    else:
        print("\n".join([*load_table(found), "", *load_table(doubled)]))
    return 0


def measure(names: Sequence[str], sizes: Sizes, server: str) -> Figures:
    """Bytes need no server: they are counted while the servers start, before any clock runs."""
    with ThreadPoolExecutor(1) as aside:
        counting = aside.submit(bytes_by_shape, sizes) if BYTES in names else None
        if counting:
            _say("Counting bytes …")
        served = [name for name in names if name != BYTES]
        if not served:
            return counting.result() if counting else {}
        _say(f"Starting a provider, a relay and Parley on {server} …")
        with running_stage(server) as stage:
            counted = counting.result() if counting else {}
            return measure_servers(stage, sizes, served, _say) | counted


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything: under 5 minutes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="fail when a promise is not kept")
    parser.add_argument("--server", choices=("daphne", "uvicorn"), default="daphne")
    parser.add_argument(
        "--only", nargs="+", choices=NAMES, metavar="NAME", help=f"some of: {', '.join(NAMES)}"
    )
    parser.add_argument("--load", action="store_true", help="tabs, streams, questions and pages")
    parser.add_argument(
        "--processes", type=int, nargs="+", default=[1, 2, 4], help="with --load: on so many"
    )
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
