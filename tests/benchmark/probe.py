"""What a server process knows of itself: its CPU time, its memory, how late its loop is."""

import asyncio
import json
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

EVERY = 0.010


class Probe:
    """Wraps an ASGI application; answers on standard output to each line on standard input."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self._late: list[float] = []
        self._timer: asyncio.TimerHandle | None = None
        threading.Thread(target=self._answer, daemon=True).start()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if self._timer is None:
            self._wait(asyncio.get_running_loop())
        await self._application(scope, receive, send)

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        due = loop.time() + EVERY
        self._timer = loop.call_at(due, self._note, loop, due)

    def _note(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        self._late.append(loop.time() - due)
        self._wait(loop)

    def _answer(self) -> None:
        for _ in sys.stdin:
            late, self._late = self._late, []
            told = {
                "cpu": time.process_time(), "rss": _rss("VmHWM"), "held": _rss("VmRSS"),
                "late": late, "counts": _counts(),
            }  # fmt: skip
            print(json.dumps(told), flush=True)


def _counts() -> dict[str, float]:
    """What Parley counts of its frames and sockets; another application counts nothing."""
    pace = getattr(sys.modules.get("chat.services.runs.pace"), "pace", None)
    metrics = sys.modules.get("chat.services.telemetry.metrics")
    if pace is None or metrics is None:
        return {}
    caught_up = {f"catch_ups_{why[0]}": n for why, n in metrics.CATCH_UPS.counted().items()}
    _, dropped = metrics.messages_waiting()
    names = ("lengthened", "lengthened_by")
    return {name: getattr(pace, name) for name in names} | caught_up | {"dropped": dropped}


def _rss(line: str) -> float:
    """The memory of this process in megabytes: now (VmRSS), or the most there was (VmHWM)."""
    status = Path("/proc/self/status")
    if status.exists():
        told = (each.partition(":") for each in status.read_text().splitlines())
        return int({name: value for name, _, value in told}[line].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_048_576
