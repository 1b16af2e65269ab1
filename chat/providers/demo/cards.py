"""One card of each kind, so that everybody can see them without a key."""

from dataclasses import dataclass
from typing import Final

from chat.protocol.displays import (
    DiffDisplay,
    FileDisplay,
    JsonDisplay,
    SearchDisplay,
    SearchHit,
    ShellDisplay,
    TodoDisplay,
    TodoItem,
)
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolResult
from chat.providers.demo.questions import Language

BEFORE: Final = '''"""The totals of a month."""

from ledger import rows


def total(month):
    """All that was paid in a month."""
    found = rows(month)
    return sum(row.amount for row in found)


def average(month):
    found = rows(month)
    return total(month) / len(found)
'''
AFTER: Final = '''"""The totals of a month."""

from ledger import rows


def total(month, void=False):
    """All that was paid in a month, without what is void."""
    found = rows(month)
    amounts = (row.amount for row in found if void or not row.void)
    return round(sum(amounts), 2)


def average(month):
    found = rows(month)
    return total(month) / max(len(found), 1)
'''
_TESTS: Final = "".join(
    f"tests/test_totals.py::test_month_{n:02d} \x1b[32mPASSED\x1b[0m\n" for n in range(1, 31)
)
_PRINTED: Final = (
    "collecting 10%\rcollecting 100%\n"
    "\x1b[1m=== test session starts ===\x1b[0m\n"
    f"{_TESTS}"
    "tests/test_totals.py::test_void \x1b[31mFAILED\x1b[0m\n\n"
    "\x1b[38;2;220;60;50mE   assert 409.51 == 409.5\x1b[0m\n"
    "\x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m30 passed\x1b[0m in 0.42 s\n"
)
_STEPS: Final[dict[Language, tuple[str, ...]]] = {
    "en": (
        "Read the failing test",
        "Find where void rows enter the sum",
        "Round once, at the end",
        "Ask about the currency",
        "Run the tests",
    ),
    "zh": ("阅读失败的测试", "找出作废行在哪里被计入", "只在最后取整一次", "询问币种", "运行测试"),
}


@dataclass(frozen=True, slots=True)
class Example:
    """A call and what came of it; `of` is the number of the example whose sub-agent makes it."""

    tool: str
    arguments: JsonObject
    result: ToolResult
    of: int = 0


def examples(language: Language) -> list[Example]:
    path = "ledger/totals.py"
    changed = DiffDisplay(path=path, before=BEFORE, after=AFTER)
    task = "Find the callers of total" if language == "en" else "找出 total 的调用者"
    failed = ShellDisplay(command="pytest -q tests", output=_PRINTED, exit_code=1)
    built = ShellDisplay(
        command="make wheel",
        output="\x1b[36mbuilding\x1b[0m ledger-1.4.whl\n",
        errors="\x1b[33mwarning:\x1b[0m no licence file\n",
        exit_code=0,
    )
    hit = SearchHit(title="Banker’s rounding", url="https://example.org/", text="Half to even.")
    facts = {"open": 3, "labels": ["bug", "money"], "milestone": {"name": "1.5", "due": None}}
    return [
        Example("TodoWrite", {}, ToolResult("Saved.", display=_plan(language))),
        Example(
            "Read",
            {"file_path": path},
            ToolResult(BEFORE, display=FileDisplay(path=path, text=BEFORE, total=14)),
        ),
        Example("Edit", {"file_path": path}, ToolResult("Changed.", display=changed)),
        Example("Bash", {}, ToolResult("1 failed", display=failed, is_error=True)),
        Example("Bash", {}, ToolResult("built", display=built)),
        Example("Task", {"description": task}, ToolResult("ledger/report.py:8\nledger/mail.py:31")),
        Example(
            "Grep", {"pattern": "total("}, ToolResult("ledger/report.py\nledger/mail.py"), of=6
        ),
        Example(
            "WebSearch",
            {"query": "rounding money"},
            ToolResult("…", display=SearchDisplay(query="rounding money", hits=(hit,))),
            of=6,
        ),
        Example(
            "mcp__tracker__list_issues",
            {"project": "ledger", "open": True},
            ToolResult("3 issues", display=JsonDisplay(value=facts)),
        ),
        Example("crystal_ball", {"question": "42?"}, ToolResult.failed("The ball is dark.")),
    ]


def _plan(language: Language) -> TodoDisplay:
    steps = _STEPS[language]
    before = tuple(
        TodoItem(id=str(n), content=step, status="in_progress" if n == 1 else "pending")
        for n, step in enumerate(steps[:4], start=1)
    )
    now = (
        TodoItem(id="1", content=steps[0], status="completed"),
        TodoItem(id="2", content=steps[1], status="in_progress"),
        TodoItem(id="3", content=steps[2]),
        TodoItem(id="5", content=steps[4]),
    )
    return TodoDisplay(items=now, before=before)
