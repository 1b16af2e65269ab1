"""A program that stands in for Claude Code: it plays lines that were recorded, and misbehaves.

`Played` writes it, with what it shall do, and reads what it was started with. It is a program of
its own, started as the real one is; nothing of ours is imported in it.
"""

import json
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CAPTURED = Path(__file__).parents[1] / "providers/captured"
SESSION = "11111111-1111-4111-8111-111111111111"

PROGRAM = r"""
import json, os, signal, subprocess, sys, time
from pathlib import Path

here = Path(__file__).parent
if "--version" in sys.argv:
    print("9.9.9 (Claude Code)")
    sys.exit(0)
turn = len(list(here.glob("seen-*.json")))
question = sys.stdin.read()
seen = {"arguments": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd(),
        "question": question, "pid": os.getpid(), "group": os.getpgid(0)}
(here / f"seen-{turn}.part").write_text(json.dumps(seen))
(here / f"seen-{turn}.part").rename(here / f"seen-{turn}.json")
scripts = json.loads((here / "script.json").read_text())


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


for step in scripts[min(turn, len(scripts) - 1)]:
    match step:
        case {"line": line}:
            say(json.dumps(line) + "\n")
        case {"print": text}:
            say(text)
        case {"bytes": text}:
            sys.stdout.buffer.write(bytes.fromhex(text))
            sys.stdout.flush()
        case {"wait": name}:
            while not (here / name).exists():
                time.sleep(0.01)
        case {"start": name}:
            # One in the group, and one that has left it and lost its parent.
            near = f"sleep 1000 & echo $! > {here}/{name}"
            far = f"setsid sh -c 'sleep 1001 & echo $! > {here}/{name}-far'"
            nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run(["sh", "-c", f"{near}; {far}"], **nowhere)
        case {"deaf": True}:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        case {"flood": text}:
            while True:
                say(text * 1000)
        case {"complain": text}:
            sys.stderr.write(text)
            sys.stderr.flush()
        case {"exit": code}:
            sys.exit(code)
        case {"hang": True}:
            while True:
                time.sleep(100)
"""


@dataclass
class Played:
    """The program in a folder of its own, and what it does, turn by turn."""

    folder: Path
    turns: list[list[dict[str, Any]]] = field(default_factory=list)

    @property
    def path(self) -> str:
        return str(self.folder / "claude")

    def play(self, *turns: list[dict[str, Any]]) -> "Played":
        """What it does in each turn; the last goes on for all that follow."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for seen in self.folder.glob("seen-*.json"):
            seen.unlink()
        (self.folder / "script.json").write_text(json.dumps(turns))
        program = Path(self.path)
        program.write_text(f"#!{sys.executable}\n{PROGRAM}")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return self

    def let_go(self, name: str) -> None:
        (self.folder / name).touch()

    def seen(self, turn: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / f"seen-{turn}.json").read_text())
        return found

    @property
    def runs(self) -> int:
        return len(list(self.folder.glob("seen-*.json")))

    def started(self, name: str) -> list[int]:
        """The processes that a turn has started, as far as they have said their numbers."""
        files = [self.folder / name, self.folder / f"{name}-far"]
        numbers = [file.read_text().strip() for file in files if file.exists()]
        return [int(number) for number in numbers if number]


def is_alive(pid: int) -> bool:
    """Whether there is such a process; one that is dead and only not waited for is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


# --- lines ------------------------------------------------------------------------


def recorded(name: str) -> list[dict[str, Any]]:
    """What the real program has printed."""
    lines = (CAPTURED / f"claude-code-{name}.jsonl").read_text().splitlines()
    return [{"line": json.loads(line)} for line in lines]


def _line(kind: str, **values: Any) -> dict[str, Any]:
    return {"line": {"type": kind, "session_id": SESSION, "parent_tool_use_id": None, **values}}


def begins() -> dict[str, Any]:
    return _line("system", subtype="init", model="claude-test", tools=[])


def says(*blocks: dict[str, Any], message: str = "msg_1") -> dict[str, Any]:
    content = {"id": message, "role": "assistant", "model": "claude-test", "content": list(blocks)}
    return _line("assistant", message=content)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def calls(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def returns(call_id: str, content: Any, *, is_error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return _line("user", message={"role": "user", "content": [{**block, "is_error": is_error}]})


def ends(cost: float = 0.25, session: str = SESSION, **values: Any) -> dict[str, Any]:
    told = {"subtype": "success", "is_error": False, "result": "", "stop_reason": "end_turn"}
    end = _line("result", **{**told, "total_cost_usd": cost, **values})
    end["line"]["session_id"] = session
    return end


def notified() -> dict[str, Any]:
    """A task in the background has ended."""
    return _line("system", subtype="task_notification", status="completed", summary="Done.")


def requests() -> dict[str, Any]:
    return _line("system", subtype="status", status="requesting")


def answer(words: str, **values: Any) -> list[dict[str, Any]]:
    """A whole turn that says this."""
    return [begins(), says(text(words)), ends(**values)]
