"""All that a process has started, wherever it went: found in `/proc`, and ended.

A group of processes is not enough: shells that the program starts make groups of their own, and
what is started in the background is nobody's child when its parent is gone. All of them have
inherited one variable of the environment. Where there is no `/proc`, the group alone is ended.
"""

import contextlib
import os
import signal
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep
from typing import Final

_PROC: Final = Path("/proc")
# Each round finds what was started since the last one.
_ROUNDS: Final = 50
_ROUND_SECONDS: Final = 0.01


@dataclass(frozen=True, slots=True)
class Found:
    pid: int
    parent: int = field(compare=False)
    group: int = field(compare=False)
    # With it a pid that was given to another process is told apart.
    started: str


def signal_group(pid: int, number: int) -> None:
    """To the group that a process leads, which must not have been waited for yet."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def find_started(mark: str, leader: int | None = None) -> set[Found]:
    """What has the mark, and what belongs to the group or the tree of a process that has not been
    waited for: until then its number is given to no other."""
    everything = {process.pid: process for process in _all()}
    found = {process for process in everything.values() if _has(process.pid, mark)}
    if leader is not None:
        found |= {p for p in everything.values() if leader in (p.pid, p.group)}
    while True:
        known = {process.pid for process in found}
        more = {p for p in everything.values() if p.parent in known and p.pid not in known}
        if not more:
            return found
        found |= more


def kill_started(mark: str, known: Set[Found]) -> bool:
    """End these, and what has the mark, until nothing is left; whether something is."""
    for _ in range(_ROUNDS):
        left = [process for process in _all() if process in known or _has(process.pid, mark)]
        if not left:
            return False
        for process in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
        sleep(_ROUND_SECONDS)
    return True


def _has(pid: int, mark: str) -> bool:
    try:
        return mark.encode() in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _all() -> Iterator[Found]:
    try:
        names = [path.name for path in _PROC.iterdir() if path.name.isdigit()]
    except OSError:
        return
    for name in names:
        try:
            # The name of the program, in brackets, may hold anything.
            stat = (_PROC / name / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        if stat[0] not in "ZX":
            yield Found(int(name), int(stat[1]), int(stat[2]), stat[19])
