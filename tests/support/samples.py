"""A conversation that shows every state, made of plain values."""

from typing import Any

from chat.protocol.displays import (
    DiffDisplay,
    SearchDisplay,
    SearchHit,
    SumDisplay,
    TodoDisplay,
    TodoItem,
    display_to_json,
)
from chat.protocol.messages import (
    AnswerInfo,
    AnswerTime,
    MessageError,
    UserInfo,
    UserTime,
    WithParts,
)
from chat.protocol.parts import ReasoningPart, Span, StepStartPart, TextPart, Tokens, ToolPart
from chat.protocol.tool_state import (
    Ended,
    EndedOutput,
    Started,
    ToolCompleted,
    ToolError,
    ToolPending,
    ToolRunning,
    ToolState,
)
from chat.rendering.page.column import Column, ColumnEntry
from chat.rendering.page.introduction import Example, Introduction
from chat.rendering.page.pages import (
    Choice,
    ConversationPage,
    Toast,
    Uploads,
)
from chat.rendering.reader import Names, Reader

NOW = 1_794_822_060_000  # 2026-11-16 09:41 UTC
DAY = 86_400_000
SESSION = "0198c0de-0000-7000-8000-000000000001"
NAMES = Names(
    tools={"calculator": "Calculator", "duckduckgo_search": "Web search", "todo_write": "Plan"},
    icons={"calculator": "calc", "duckduckgo_search": "globe", "todo_write": "list"},
    agents={"assistant": "Assistant"},
    models={"main/glm-4.6": "glm-4.6", "demo/demo": "Parley demo"},
    demo_providers=frozenset({"demo"}),
)
ADA = Reader(id="7", name="Ada Winter", is_staff=True, names=NAMES, clock=NOW)

PROSE = """The holding deposit is **409.50 €**. Asking for one is common in Lisbon, but it is a
private agreement: nothing in the [urban lease law](https://dre.pt/) sets the share, so both the
amount and the terms of return should be in writing.

## What you would pay

| Item | When | Share | Amount |
|---|---|--:|--:|
| Holding deposit | On signing the reservation | 17.5% | 409.50 € |
| First month | On signing the lease | 100% | 2,340.00 € |
| Deposit, less the holding part | With the keys | 82.5% | 1,930.50 € |

With more than one tenant the shares add up, rent by rent:

$$D = \\sum_{i=1}^{n} r_i \\cdot \\frac{p}{100} = 2340 \\cdot \\frac{17.5}{100} = 409.5$$

## Before you transfer it

1. Ask for the reservation as a signed page with the word *sinal* in it.
2. Name the date by which the lease must be signed.
3. Pay by bank transfer and keep the receipt; `MB Way` is fine, cash is not.

```python
from decimal import Decimal

def deposit(rent, share=Decimal("0.175")):
    \"\"\"Holding deposit on a rent, in euros.\"\"\"
    if rent <= 0:
        raise ValueError("rent must be positive")
    return round(rent * share, 2)  # banker's rounding
```

> If the one who received the sinal fails to perform, the other may demand double what was given.

> [!WARNING]
> Cash cannot be traced.

- [x] ask the bank
- [ ] ask the landlord
"""

_HITS = (
    SearchHit(
        title="Urban lease law: deposits and advance rent",
        url="https://www.dre.pt/a",
        text="The parties may agree a deposit by any lawful form; advance rent is limited.",
    ),
    SearchHit(
        title="Renting in Lisbon: what a fair contract says",
        url="https://deco.proteste.pt/b",
        text="Consumer guide to deposits, guarantors and the inventory you should sign.",
    ),
    SearchHit(title="A result with a bad address", url="javascript:alert(1)", text=""),
)
SUM = display_to_json(SumDisplay(expression="17.5 / 100 * 2340", result="409.5"))
SEARCH = display_to_json(SearchDisplay(query="holding deposit rental Portugal law", hits=_HITS))
DIFF = display_to_json(
    DiffDisplay(
        path="billing/totals.py",
        before="import a\n\n\n\ndef total(rows):\n    return sum(r.amount for r in rows)\n",
        after="import a\n\n\n\ndef total(rows):\n"
        "    amounts = (r.amount for r in rows if not r.void)\n"
        "    return round(sum(amounts), 2)\n",
    )
)
PLAN = display_to_json(
    TodoDisplay(
        items=(
            TodoItem(id="1", content="Read the failing test", status="completed"),
            TodoItem(id="2", content="Find where void rows enter the sum", status="completed"),
            TodoItem(id="3", content="Leave void rows out and round once", status="in_progress"),
            TodoItem(id="4", content="Run the suite"),
        ),
        before=(
            TodoItem(id="1", content="Read the failing test", status="completed"),
            TodoItem(id="2", content="Find where void rows enter the sum", status="in_progress"),
            TodoItem(id="3", content="Leave void rows out and round once"),
        ),
    )
)


def uid(number: int) -> str:
    return f"0198c0de-0000-7000-8000-{number:012d}"


def said(position: int, text: str) -> WithParts:
    info = UserInfo(
        id=uid(position), session_id=SESSION, position=position, time=UserTime(created=NOW - 60_000)
    )
    return WithParts(info=info, parts=_parts(position, [{"type": TextPart, "text": text}]))


def answer(position: int, *parts: dict[str, Any], **info: Any) -> WithParts:
    known: dict[str, Any] = {
        "time": AnswerTime(created=NOW - 20_000, completed=NOW),
        "agent": "assistant",
        "provider_id": "main",
        "model_id": "glm-4.6",
        "cost": 0.004,
        "tokens": Tokens(input=1000, output=284),
    }
    head = AnswerInfo(id=uid(position), session_id=SESSION, position=position, **(known | info))
    return WithParts(info=head, parts=_parts(position, list(parts)))


def _parts(position: int, parts: list[dict[str, Any]]) -> Any:
    made = []
    for number, part in enumerate(parts):
        kind = part.pop("type")
        ids = {"id": f"part-{number}", "session_id": SESSION, "message_id": uid(position)}
        made.append(kind(**ids, **part))
    return tuple(made)


def text(words: str) -> dict[str, Any]:
    return {"type": TextPart, "text": words}


def thinking(words: str, end: int | None = NOW - 14_000) -> dict[str, Any]:
    start = NOW - 20_000 if end else NOW - 4_000
    return {"type": ReasoningPart, "text": words, "time": Span(start=start, end=end)}


def tool(name: str, state: ToolState, call: str = "call-1") -> dict[str, Any]:
    return {"type": ToolPart, "tool": name, "call_id": call, "state": state}


def step() -> dict[str, Any]:
    return {"type": StepStartPart}


def done(arguments: dict[str, Any], output: str, display: Any = None, ms: int = 1800) -> ToolState:
    metadata = {} if display is None else {"display": display}
    time = EndedOutput(start=NOW - 13_600, end=NOW - 13_600 + ms)
    return ToolCompleted(input=arguments, output=output, title="", metadata=metadata, time=time)


def failed(arguments: dict[str, Any], error: str, **metadata: Any) -> ToolState:
    time = Ended(start=NOW - 8_000, end=NOW - 4_000)
    return ToolError(input=arguments, error=error, metadata=metadata, time=time)


def running(arguments: dict[str, Any]) -> ToolState:
    return ToolRunning(input=arguments, time=Started(start=NOW - 2_400))


def queued(arguments: dict[str, Any]) -> ToolState:
    return ToolPending(input=arguments, raw="")


QUESTION = (
    "The landlord wants 17.5% of 2,340 € as a holding deposit. How much is that, is it usual in "
    "Portugal, and can you give me a small function for it?"
)


def finished_answer(position: int = 2) -> WithParts:
    return answer(
        position,
        step(),
        thinking("A percentage, a legal custom and a function.\n\nCalculate **first**."),
        tool("calculator", done({"expression": "17.5 / 100 * 2340"}, "409.5", SUM, ms=100)),
        tool("duckduckgo_search", done({"query": "x"}, "…", SEARCH), "call-2"),
        text(PROSE),
    )


def streaming_answer(position: int = 4) -> WithParts:
    return answer(
        position,
        thinking("The coefficient is published each autumn.", end=NOW - 16_000),
        tool("duckduckgo_search", running({"query": "rent update coefficient Portugal 2027"})),
        tool("calculator", queued({"expression": "409.5 * 1.031"}), "call-2"),
        text("The coefficient applies to the **monthly rent**, not to a deposit already paid. So "
             "the 409.50 € stays as it is, and only the rent from the second year"),
        status="streaming",
        time=AnswerTime(created=NOW - 6_000),
    )  # fmt: skip


def every_card(position: int = 6) -> WithParts:
    return answer(
        position,
        tool("edit", done({}, "edited", DIFF, ms=300), "a"),
        text("Next."),
        tool("todo_write", done({}, "ok", PLAN), "b"),
        text("Then."),
        tool("weather_forecast", done({"city": "Porto", "days": 3},
             '{"high": [17, 16, 18], "rain": true, "note": "<b>mild</b>"}', ms=600), "c"),
        tool("bash", failed({"command": "pytest -q billing"}, "1 failed, 41 passed in 3.92s"), "d"),
        tool("duckduckgo_search", failed({"query": "void rows in ledgers"},
             "Tool execution aborted", interrupted=True), "e"),
        status="cancelled",
        time=AnswerTime(created=NOW - 3_100, completed=NOW),
        error=MessageError(name="MessageAbortedError", data={"by_id": "7", "by": "Ada"}),
    )  # fmt: skip


def failed_answer(position: int = 8) -> WithParts:
    data = {"status": 429, "provider": "main", "retry_after": 20}
    return answer(
        position,
        status="error",
        error=MessageError(name="APIError", key="error.chat_provider_rate_limited", data=data),
    )


def thinking_answer(position: int = 10) -> WithParts:
    return answer(position, thinking("Two roundings, one cent lost.", end=None), status="streaming")


def waiting_answer(position: int = 12) -> WithParts:
    return answer(position, status="streaming")


def column() -> Column:
    rows = [
        ("House rules for the API", 9, True, False),
        ("Deposit on the Lisbon flat", 0, False, True),
        ("Why does the nightly backup stall at 92%?", 0, False, True),
        ("Rewrite the onboarding mail", 0, False, False),
        ("Regex for ISO week dates", 1, False, False),
        ("Compare three small espresso machines", 1, False, False),
        ("Notes on Simpson’s paradox", 3, False, False),
        ("SQL: last order per customer", 4, False, False),
        ("Packing list, Faroe in October", 5, False, False),
        ("A gentle plan for learning Rust", 20, False, False),
        ("Bread at 78% hydration", 30, False, False),
    ]
    entries = tuple(
        ColumnEntry(
            id=uid(100 + n), title=title, url=f"/c/{uid(100 + n)}/", updated=NOW - days * DAY - n,
            pinned=pinned, live=live, current=n == 1,
        )
        for n, (title, days, pinned, live) in enumerate(rows)
    )  # fmt: skip
    return Column(entries)


_CHOICES = {
    "agents": (Choice("1", "Assistant", selected=True), Choice("2", "Researcher")),
    "models": (Choice("1", "glm-4.6", selected=True), Choice("2", "Parley demo", demo=True)),
}


def conversation(*messages: WithParts, **values: Any) -> ConversationPage:
    known: dict[str, Any] = {"id": SESSION, "title": "Deposit on the Lisbon flat", "rev": 3}
    return ConversationPage(messages=messages, **(_CHOICES | known | values))


def busy_page() -> ConversationPage:
    return conversation(
        said(1, QUESTION), finished_answer(),
        said(3, "And if rents rise by the official coefficient next year?"), streaming_answer(),
        running=True,
    )  # fmt: skip


def states_page() -> ConversationPage:
    return conversation(
        every_card(), failed_answer(), said(9, "Why does the nightly backup stall at 92%?"),
        thinking_answer(), waiting_answer(),
        editing=uid(9), older_before=6, uploads=Uploads(10, 10_000_000, 5_000_000),
        toasts=(Toast("error.chat_generation_in_progress", {}),),
    )  # fmt: skip


def empty_page() -> ConversationPage:
    examples = tuple(Example("calc", f"{n} + {n}", f"{n} + {n} = ?") for n in range(1, 5))
    abilities = "Assistant can calculate, search the web and keep a plan."
    introduction = Introduction("1", abilities, examples)
    return ConversationPage(connect_url="/admin/", introduction=introduction, **_CHOICES)
