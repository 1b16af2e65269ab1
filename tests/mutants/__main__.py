"""`make mutants`: plants each fault in a copy of the tree and runs the tests that must find it.

It fails when a fault survives, and when the tests fail without any.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

from tests.mutants.mutant import Mutant
from tests.mutants.table import MUTANTS

ROOT = Path(__file__).resolve().parents[2]
# More than any of these tests takes, in seconds: a fault may also show as a test that hangs.
LONGEST = 900
# What pytest ends with: all green; some red. Anything else is no judgement.
GREEN, RED = 0, 1


def copy_tree(folder: Path) -> Path:
    """The files that git knows, and those that it will."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    for name in filter(None, names.split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return folder


@contextmanager
def planted(tree: Path, mutant: Mutant) -> Iterator[None]:
    """The tree with this fault, for as long as it takes."""
    path = tree / mutant.path
    source = path.read_text("utf-8")
    if source.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.path} has not exactly once: {mutant.old}")
    path.write_text(source.replace(mutant.old, mutant.new), "utf-8")
    try:
        yield
    finally:
        path.write_text(source, "utf-8")


def run_tests(tree: Path, tests: tuple[str, ...], stop_at_first: bool) -> tuple[int, str]:
    """How pytest ends with these tests, and the first that failed."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    words += ["-m", "not full and not browser", *(["-x"] if stop_at_first else []), *tests]
    # Nothing compiled is kept: two versions of a file within a second would look alike.
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tree)}
    try:
        ended = subprocess.run(
            words, cwd=tree, env=env, capture_output=True, text=True, timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return RED, "they hung"
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    first = failed[0].split(" - ")[0] if failed else ended.stdout[-1500:] + ended.stderr[-500:]
    return ended.returncode, first


def judge(trees: "Queue[Path]", mutant: Mutant) -> bool:
    """Whether the tests have found it."""
    tree, began = trees.get(), time.monotonic()
    try:
        with planted(tree, mutant):
            code, first = run_tests(tree, mutant.tests, stop_at_first=True)
    finally:
        trees.put(tree)
    verdict = {RED: "killed  ", GREEN: "SURVIVED"}.get(code, "UNJUDGED")
    shown = first if code == RED else "" if code == GREEN else f"\n{first}"
    took = f"{time.monotonic() - began:4.0f} s"
    print(f"{verdict} {took}  {mutant.name} ({mutant.path})  {shown}", flush=True)
    return code == RED


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", help="those whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--no-baseline", action="store_true", help="do not run the tests unharmed")
    given = parser.parse_args()
    wanted = given.only or [""]
    chosen = [mutant for mutant in MUTANTS if any(words in mutant.name for words in wanted)]
    with tempfile.TemporaryDirectory(prefix="parley-mutants-") as name:
        trees: Queue[Path] = Queue()
        for number in range(min(given.jobs, len(chosen)) or 1):
            trees.put(copy_tree(Path(name, str(number))))
        if not given.no_baseline:
            print("The tests without a fault …", flush=True)
            tree = trees.get()
            tests = tuple(dict.fromkeys(test for mutant in chosen for test in mutant.tests))
            code, first = run_tests(tree, tests, stop_at_first=False)
            trees.put(tree)
            if code != GREEN:
                print(f"They fail without any: {first}")
                return 1
        with ThreadPoolExecutor(trees.qsize()) as pool:
            found = list(pool.map(lambda mutant: judge(trees, mutant), chosen))
    print(f"{sum(found)} of {len(chosen)} faults were found by the tests.")
    return 0 if all(found) and chosen else 1


if __name__ == "__main__":
    sys.exit(main())
