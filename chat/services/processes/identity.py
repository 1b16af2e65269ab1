"""Which process this is among those of the same machine, and whether another is known to be dead.

A pid means something only where it was given: in one boot of one kernel and in one pid namespace
(a container has its own, so two containers may each have a process 1). Both together are the
*place* of a process. Only of a process of the same place can it be said that it is dead: its pid
is free, or belongs to a process that began at another moment. Of all others, and where the kernel
does not tell its place, nothing is known, and their leases decide.
"""

import os
from pathlib import Path

PROC = Path("/proc")


def place() -> str:
    """The boot and the pid namespace of this process; empty where the kernel does not say."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        namespace = (PROC / "self/ns/pid").readlink()
        # A /proc of another namespace (a host's, seen from a container) counts other pids.
        if str((PROC / "self").readlink()) != str(os.getpid()):
            return ""
    except OSError:
        return ""
    return f"{boot} {namespace}"


def born() -> int:
    """When this process began; 0 where the kernel does not say."""
    try:
        return _state_and_birth(os.getpid())[1]
    except OSError:
        return 0


def is_dead(pid: int, began: int) -> bool:
    """Whether a process of this place is known to have ended."""
    try:
        state, birth = _state_and_birth(pid)
    except OSError:
        # It is gone, or hidden from us.
        return not _is_there(pid)
    # A zombie has ended too, and waits to be forgotten.
    return state in "ZX" or birth != began


def _state_and_birth(pid: int) -> tuple[str, int]:
    """Its state, and when it began, in ticks since the boot."""
    stat = (PROC / str(pid) / "stat").read_text()
    # The name of the program comes second, in brackets, and may hold anything.
    fields = stat.rpartition(")")[2].split()
    return fields[0], int(fields[19])


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
