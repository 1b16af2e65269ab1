"""A2, A11: whatever a tool does, the model gets a result and the turn goes on."""

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from typing import Annotated, Any

import pytest

from chat.protocol.displays import DiffDisplay, Display, JsonDisplay, TextDisplay
from chat.protocol.errors import ToolFailure
from chat.protocol.interfaces import ToolContext, ToolResult
from chat.protocol.reasons import reason
from chat.tools.pool import ThreadPool
from chat.tools.registry import Registry
from tests.support.waiting import PATIENCE, eventually


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Held threads wait for it; it opens when the test ends."""
    event = threading.Event()
    yield event
    event.set()


def add(registry: Registry, function: Any, **options: Any) -> None:
    registry.tool(name="it", description="A tool.", **options)(function)


async def run(registry: Registry, context: ToolContext, **arguments: Any) -> ToolResult:
    return await registry.toolbox(["it"]).run("it", arguments, context)


async def test_sync_and_async_functions_run_alike(registry: Registry, context: ToolContext) -> None:
    """A11"""
    threads: list[str] = []

    def double(n: int) -> str:
        threads.append(threading.current_thread().name)
        return str(n * 2)

    async def triple(n: int, context: ToolContext) -> str:
        return f"{n * 3} {context.call_id}"

    registry.tool(name="double", description="Twice.")(double)
    registry.tool(name="triple", description="Thrice.")(triple)
    box = registry.toolbox(["double", "triple"])
    assert (await box.run("double", {"n": "4"}, context)).text == "8"
    assert (await box.run("triple", {"n": 4}, context)).text == "12 call-1"
    assert threads[0].startswith("tool-")


@pytest.mark.parametrize(("allowed", "disabled"), [([], []), (["other"], []), (["it"], ["it"])])
async def test_a_tool_that_is_not_allowed_or_off_is_not_available(
    registry: Registry, context: ToolContext, allowed: list[str], disabled: list[str]
) -> None:
    """A11, A16"""
    ran: list[int] = []
    add(registry, lambda: ran.append(1))
    box = registry.toolbox(allowed, disabled=disabled)
    result = await box.run("it", {}, context)
    assert result == ToolResult.failed(
        "Tool it is not available", reason("not_available", tool="it")
    )
    assert not ran
    assert not box.specs()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "Invalid arguments: n is required"),
        ({"n": "many"}, "n: Input should be a valid integer"),
        ({"n": 1, "m": 2}, "m is not an argument of this tool"),
        ({"n": 1, "xs": [1, "b"]}, "xs.1: Input should be a valid integer"),
        ({**{f"a{i}": 1 for i in range(9)}, "n": 1}, "and 4 more"),
    ],
)
async def test_bad_arguments_are_answered_with_the_name_of_the_field(
    registry: Registry, context: ToolContext, arguments: Any, said: str
) -> None:
    """A11"""

    def it(n: Annotated[int, "A number"], xs: list[int] | None = None) -> str:
        return f"{n} {xs}"

    add(registry, it)
    result = await run(registry, context, **arguments)
    assert result.is_error
    assert said in result.text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ("nul\x00 and \ud83d\ude00 and \ud83d", "nul and 😀 and \ufffd"),
        (42, "42"),
        (True, "true"),
    ],
)
async def test_what_a_tool_returns_becomes_clean_text(
    registry: Registry, context: ToolContext, value: Any, text: str
) -> None:
    def it() -> Any:
        return value

    add(registry, it)
    assert (await run(registry, context)).text == text


async def test_a_json_value_is_shown_as_json(registry: Registry, context: ToolContext) -> None:
    """B4"""

    def it() -> Any:
        return {"名": ["\x00a", float("inf"), (1, 2)]}

    add(registry, it)
    result = await run(registry, context)
    value = {"名": ["a", "inf", [1, 2]]}
    assert json.loads(result.text) == value
    assert "名" in result.text
    assert result.display == JsonDisplay(value=value)


async def test_what_the_model_reads_and_the_person_sees_are_separate(
    registry: Registry, context: ToolContext
) -> None:
    """B4"""

    def it(q: str) -> ToolResult:
        return ToolResult("read", display=TextDisplay(text="seen"))

    add(registry, it)
    result = await run(registry, context, q="asked")
    assert (result.text, result.display) == ("read", TextDisplay(text="seen"))
    assert result.title == "asked"


@pytest.mark.parametrize(
    ("given", "display"),
    [
        ({"type": "text", "text": "seen\x00"}, TextDisplay(text="seen")),
        ({"type": "hologram", "depth": 3}, JsonDisplay(value={"type": "hologram", "depth": 3})),
        ("seen", TextDisplay(text="seen")),
        (
            {"type": "diff_viewer", "filePath": "a", "newContent": {"inputKey": "q"}},
            DiffDisplay(path="a", before="", after="asked"),
        ),
    ],
)
async def test_a_display_written_as_plain_json_becomes_a_typed_one(
    registry: Registry, context: ToolContext, given: Any, display: Display
) -> None:
    """B4: a tool of another app need not know our classes."""

    def it(q: str) -> ToolResult:
        return ToolResult("read", display=given)

    add(registry, it)
    assert (await run(registry, context, q="asked")).display == display


async def test_long_output_is_cut_and_says_so(registry: Registry, context: ToolContext) -> None:
    def it(n: int) -> ToolResult:
        return ToolResult("x" * n, display=TextDisplay(text="y" * n))

    add(registry, it)
    exact = await run(registry, context, n=16_000)
    assert exact.text == "x" * 16_000
    over = await run(registry, context, n=16_007)
    assert over.text == "x" * 16_000 + "\n… [output cut: 7 characters]"
    assert over.display is not None
    assert (await run(registry, context, n=100_000)).display is None


async def test_a_failure_that_a_tool_explains_goes_to_the_model(
    registry: Registry, context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    def it(text: str) -> str:
        raise ToolFailure(text)

    add(registry, it)
    assert await run(registry, context, text="no luck") == ToolResult("no luck", is_error=True)
    assert (await run(registry, context, text=" ")).text == "Tool failed"
    assert not caplog.records


async def test_an_error_result_always_has_words(registry: Registry, context: ToolContext) -> None:
    """BR-10"""

    def it() -> ToolResult:
        return ToolResult(" ", is_error=True)

    add(registry, it)
    assert (await run(registry, context)).text == "Tool failed"


@pytest.mark.parametrize("error", [ValueError("secret"), StopIteration(), SystemExit(3)])
async def test_any_other_exception_is_named_and_logged_once(
    registry: Registry, context: ToolContext, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    def sync() -> str:
        raise error

    async def coroutine() -> str:
        raise error

    for number, function in enumerate((sync, coroutine)):
        caplog.clear()
        name = f"t{number}"
        registry.tool(name=name, description="Fails.")(function)
        result = await registry.toolbox([name]).run(name, {}, context)
        assert result.is_error
        assert result.text.startswith("Tool failed: ")
        assert "secret" not in result.text
        [record] = caplog.records
        assert record.levelno == logging.ERROR
        assert record.exc_info


async def test_a_value_that_is_no_json_is_a_failed_tool(
    registry: Registry, context: ToolContext
) -> None:
    def it() -> object:
        return object()

    add(registry, it)
    assert (await run(registry, context)).text == "Tool failed: PydanticSerializationError"


async def test_a_slow_async_tool_times_out_even_if_it_ignores_that(
    registry: Registry, context: ToolContext
) -> None:
    """E2"""
    let_go = asyncio.Event()
    ended = asyncio.Event()

    async def it() -> str:
        try:
            await asyncio.sleep(10 * PATIENCE)
        except asyncio.CancelledError:
            await let_go.wait()
            ended.set()
        return "late"

    add(registry, it, timeout=0.02)
    result = await run(registry, context)
    assert result == ToolResult.failed("Timed out after 0.02 s", reason("timed_out", seconds=0.02))
    let_go.set()
    await asyncio.wait_for(ended.wait(), PATIENCE)


async def test_a_time_out_of_the_tools_own_is_its_failure_not_ours(
    registry: Registry, context: ToolContext
) -> None:
    async def it() -> str:
        raise TimeoutError

    add(registry, it, timeout=60)
    assert (await run(registry, context)).text == "Tool failed: TimeoutError"


async def test_stuck_threads_are_counted_and_when_all_are_a_clear_error_comes_at_once(
    registry: Registry, context: ToolContext, pool: ThreadPool, gate: threading.Event
) -> None:
    """E2"""

    def it() -> str:
        gate.wait(10 * PATIENCE)
        return "late"

    add(registry, it, timeout=0.02)
    # More calls than threads: one whose thread had not begun when its time was over holds none.
    while "Timed out" in (await run(registry, context)).text:
        assert pool.stuck <= pool.size
    assert pool.stuck == pool.size
    registry.tool(name="patient", description="Would wait.", timeout=10 * PATIENCE)(it)
    async with asyncio.timeout(PATIENCE):
        result = await registry.toolbox(["patient"]).run("patient", {}, context)
    assert result.is_error
    assert "threads are stuck" in result.text
    gate.set()
    await eventually(lambda: pool.stuck == 0)

    def quick() -> str:
        return "well"

    registry.tool(name="quick", description="Quick.")(quick)
    assert (await registry.toolbox(["quick"]).run("quick", {}, context)).text == "well"


async def test_more_calls_than_threads_wait_for_their_turn(
    registry: Registry, context: ToolContext, pool: ThreadPool
) -> None:
    """A2"""
    running: list[int] = []
    most: list[int] = []
    meeting = threading.Barrier(pool.size)

    def it(n: int) -> str:
        running.append(n)
        meeting.wait(PATIENCE)
        most.append(len(running))
        meeting.wait(PATIENCE)
        running.remove(n)
        return str(n)

    add(registry, it)
    results = await asyncio.gather(*(run(registry, context, n=n) for n in range(10)))
    assert [result.text for result in results] == [str(n) for n in range(10)]
    assert max(most) == pool.size
    assert pool.stuck == 0


async def test_stopping_the_turn_stops_the_call_at_once(
    registry: Registry, context: ToolContext, pool: ThreadPool, gate: threading.Event
) -> None:
    """A5"""
    begun = threading.Event()
    cleaned = asyncio.Event()

    def blocking() -> str:
        begun.set()
        gate.wait(10 * PATIENCE)
        return ""

    async def polite() -> str:
        try:
            await asyncio.sleep(10 * PATIENCE)
        finally:
            cleaned.set()
        return ""

    registry.tool(name="blocking", description="Blocks.")(blocking)
    registry.tool(name="polite", description="Cleans up.")(polite)
    box = registry.toolbox(["blocking", "polite"])
    calls = [asyncio.create_task(box.run(name, {}, context)) for name in ("blocking", "polite")]
    await eventually(begun.is_set)
    for call in calls:
        call.cancel()
    done, pending = await asyncio.wait(calls, timeout=PATIENCE)
    assert not pending
    assert all(call.cancelled() for call in done)
    await asyncio.wait_for(cleaned.wait(), PATIENCE)
    await eventually(lambda: pool.stuck == 1)


async def test_a_call_that_never_got_a_thread_is_dropped_not_run_later(
    registry: Registry, context: ToolContext, pool: ThreadPool, gate: threading.Event
) -> None:
    ran: list[int] = []

    def hold() -> str:
        gate.wait(10 * PATIENCE)
        return ""

    def late() -> str:
        ran.append(1)
        return ""

    registry.tool(name="hold", description="Holds.", timeout=60)(hold)
    registry.tool(name="late", description="Late.", timeout=0.02)(late)
    box = registry.toolbox(["hold", "late"])
    holders = [asyncio.create_task(box.run("hold", {}, context)) for _ in range(2)]
    await eventually(lambda: pool._threads == 2)
    assert "Timed out" in (await box.run("late", {}, context)).text
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*holders)
    assert (await box.run("hold", {}, context)).text == ""
    assert not ran
    assert pool.stuck == 0


async def test_no_call_waits_behind_another_while_a_thread_is_free() -> None:
    """Two calls that need each other: each must have a thread, whenever the first one wakes."""
    for _ in range(300):
        pool, meeting = ThreadPool(size=2), threading.Barrier(2)
        calls = [pool.run(lambda meeting=meeting: meeting.wait(PATIENCE)) for _ in range(2)]  # type: ignore[misc]
        await asyncio.gather(*calls)


def test_a_thread_outlives_the_loop_that_asked(pool: ThreadPool, gate: threading.Event) -> None:
    async def ask() -> None:
        asyncio.ensure_future(pool.run(lambda: gate.wait(10 * PATIENCE)))  # noqa: RUF006
        await eventually(lambda: pool._unfinished == 1 and pool._threads == 1)
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.stop)

    loop = asyncio.new_event_loop()
    task = loop.create_task(ask())
    loop.run_until_complete(task)
    for left in asyncio.all_tasks(loop):
        left._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    gate.set()
    assert asyncio.run(pool.run(lambda: "alive")) == "alive"
