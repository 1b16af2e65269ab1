"""The demo model: it shows thinking, tools and rich answers, and the same ones every time."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import pytest

from chat.protocol.errors import ProviderError
from chat.protocol.ids import new_id
from chat.protocol.interfaces import (
    FileBlock,
    Finish,
    ModelMessage,
    ModelRequest,
    ProviderEvent,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolCallBlock,
    ToolCallDelta,
    ToolCallStart,
    ToolContext,
    ToolResultBlock,
    Usage,
)
from chat.providers.demo import DemoProvider
from chat.providers.demo.known import PHOTOS
from chat.providers.demo.questions import find_sum, read_question
from chat.services.catalog.defaults import EXAMPLES
from chat.tools import registry
from tests.support.virtual_loop import VirtualLoop

ALL = ("calculator", "duckduckgo_search", "todo_write")
MODEL = DemoProvider(pace=0)


def asking(text: str, *later: ModelMessage, tools: Sequence[str] = ALL) -> ModelRequest:
    specs = tuple(registry.toolbox(tools).specs())
    first = ModelMessage("user", (TextBlock(text),))
    return ModelRequest("demo", (first, *later), system="Be brief.", tools=specs)


async def played(
    request: ModelRequest,
    provider: DemoProvider = MODEL,
    seen: list[ProviderEvent] | None = None,
) -> list[ProviderEvent]:
    seen = [] if seen is None else seen
    async for event in provider.stream(request):
        seen.append(event)
    return seen


def text_of(events: Sequence[ProviderEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def thoughts_of(events: Sequence[ProviderEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta))


def calls_of(events: Sequence[ProviderEvent]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


def finish_of(events: Sequence[ProviderEvent]) -> str:
    last = events[-1]
    assert isinstance(last, Finish)
    assert isinstance(events[-2], Usage)
    return last.reason


def answered(calls: Sequence[ToolCall], *texts: str, error: bool = False) -> list[ModelMessage]:
    asked = tuple(ToolCallBlock(call.call_id, call.name, call.arguments) for call in calls)
    results = tuple(
        ToolResultBlock(call.call_id, call.name, text, is_error=error)
        for call, text in zip(calls, texts, strict=True)
    )
    return [ModelMessage("assistant", asked), ModelMessage("tool", results)]


async def whole_turn(question: str, tools: Sequence[str] = ALL) -> tuple[list[ToolCall], str]:
    """The loop that the engine runs, with the real tools."""
    box = registry.toolbox(tools)
    later: list[ModelMessage] = []
    calls: list[ToolCall] = []
    for _ in range(5):
        events = await played(asking(question, *later, tools=tools))
        if finish_of(events) == "stop":
            return calls, text_of(events)
        new = calls_of(events)
        calls += new
        context = ToolContext(new_id(), new_id(), "call")
        results = [await box.run(call.name, call.arguments, context) for call in new]
        later += answered(new, *(result.text for result in results))
    raise AssertionError("the demo model never stops")


async def test_a_sum_is_thought_about_calculated_and_quoted() -> None:
    """A2, A3"""
    first = await played(asking("What is (17.5% of 2,340) + 12?"))
    assert thoughts_of(first).startswith("The question contains a calculation")
    assert not text_of(first)
    [call] = calls_of(first)
    assert (call.name, call.arguments) == ("calculator", {"expression": "(17.5% of 2,340) + 12"})
    assert finish_of(first) == "tool-calls"
    _, answer = await whole_turn("What is (17.5% of 2,340) + 12?")
    assert "**(17.5% of 2,340) + 12 = 421.5**" in answer
    assert "## " in answer
    assert "| --- |" in answer
    assert "demo model" in answer


async def test_a_call_streams_its_arguments_before_it_is_whole() -> None:
    """A3"""
    events = await played(asking("1+1"))
    [call] = calls_of(events)
    start = events.index(ToolCallStart(call.call_id, "calculator"))
    deltas = [event for event in events if isinstance(event, ToolCallDelta)]
    assert start < events.index(deltas[0]) < events.index(call)
    assert "".join(delta.arguments for delta in deltas) == call.raw == '{"expression": "1+1"}'


async def test_a_chinese_question_gets_chinese_thoughts_and_answer() -> None:
    """A13"""
    events = await played(asking("2,340 的 17.5% 是多少？"))
    assert "计算器" in thoughts_of(events)
    calls, answer = await whole_turn("2,340 的 17.5% 是多少？")
    assert [call.arguments for call in calls] == [{"expression": "17.5% of 2,340"}]
    assert "结果" in answer
    assert "409.5" in answer


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Search for Django Channels.", "Django Channels"),
        ("please search the web for: cats?", "cats"),
        ("look up htmx", "htmx"),
        ("搜索 北京天气。", "北京天气"),
        ("请搜一下：猫", "猫"),
    ],
)
async def test_a_search_is_searched(question: str, query: str) -> None:
    """A2"""
    [call] = calls_of(await played(asking(question)))
    assert (call.name, call.arguments) == ("duckduckgo_search", {"query": query})


async def test_what_a_search_found_is_linked_in_the_answer() -> None:
    question = "Search for cats"
    calls = calls_of(await played(asking(question)))
    found = "1. All [about] cats\n   https://cats.example.org/a\n   Cats are small.\n\n"
    found += "2. More\n   https://cats.example.org/b"
    answer = text_of(await played(asking(question, *answered(calls, found))))
    assert "1. [All \\[about\\] cats](<https://cats.example.org/a>) – Cats are small." in answer
    assert "2. [More](<https://cats.example.org/b>)\n" in answer
    odd = text_of(await played(asking(question, *answered(calls, "something else"))))
    assert "> something else" in odd


async def test_a_plan_is_written_down_and_then_ticked_off() -> None:
    """B4"""
    calls, answer = await whole_turn("Plan a weekend in Lisbon")
    assert [call.name for call in calls] == ["todo_write", "todo_write"]
    states = [[todo["status"] for todo in call.arguments["todos"]] for call in calls]
    assert states == [["in_progress", "pending", "pending"], ["completed"] * 3]
    assert "- [x] " in answer
    assert "3 completed" in answer
    chinese, _ = await whole_turn("制定一个学习计划")
    assert "说清楚" in chinese[0].arguments["todos"][0]["content"]


async def test_several_wishes_are_several_calls_of_one_step() -> None:
    """A2"""
    calls = calls_of(await played(asking("Plan it, work out 3*4\nand search for cats")))
    assert [call.name for call in calls] == ["todo_write", "calculator", "duckduckgo_search"]
    assert len({call.call_id for call in calls}) == 3


async def test_a_tool_that_the_agent_lacks_is_named() -> None:
    """A11"""
    for question, tool in (("1+1", "calculator"), ("search cats", "duckduckgo_search")):
        events = await played(asking(question, tools=()))
        assert not calls_of(events)
        assert finish_of(events) == "stop"
        assert f"`{tool}` here, but it is not available" in text_of(events)


async def test_a_tool_that_failed_is_quoted_honestly() -> None:
    calls = calls_of(await played(asking("1/0")))
    answer = text_of(await played(asking("1/0", *answered(calls, "division by zero", error=True))))
    assert "> division by zero" in answer
    assert "no result" in answer


async def test_a_plain_question_gets_an_honest_answer() -> None:
    events = await played(asking("Who are you?"))
    assert thoughts_of(events)
    assert "demo model" in text_of(events)
    assert "`/long 500`" in text_of(events)
    assert "演示模型" in text_of(await played(asking("你是谁？")))
    assert "demo model" in text_of(await played(ModelRequest("demo", ())))


@pytest.mark.parametrize(
    ("question", "sample"),
    [
        ("Show me some code", "```python"),
        ("Show a table", "| planet |"),
        ("一个公式和表格", "$$"),
        ("一个公式和表格", "| 行星 |"),
    ],
)
async def test_samples_of_rich_text_are_shown_when_asked_for(question: str, sample: str) -> None:
    assert sample in text_of(await played(asking(question)))


LANGUAGES = ("en", "zh_hans")


def example(number: int, language: str) -> str:
    return EXAMPLES[number][f"text_{language}"]


def prompts_of(text: str) -> list[tuple[str, str]]:
    return re.findall(r"\[([^\]]+)\]\(/\?draft=([\w.~%-]+)\)", text)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_bill_is_shared_and_checked_by_the_calculator(language: str) -> None:
    """A2: the first example, and the same with other numbers."""
    calls, answer = await whole_turn(example(0, language))
    assert [call.arguments["expression"] for call in calls] == [
        "(486.20 - 126.20) / 12",
        "126.20 / 10",
        "30 + 12.62",
        "10 * (30 + 12.62) + 2 * 30",
    ]
    assert "**42.62 €**" in answer
    assert "**30.00 €**" in answer
    assert "= 486.20 €" in answer
    _, other = await whole_turn(example(0, language).replace("12 ", "8 ", 1))
    assert "**66.03 €**" in other


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_other_examples_are_thought_about_coded_and_tabled(language: str) -> None:
    """A3: nothing about what a demo cannot do."""
    boxes, photos, databases = [
        await played(asking(example(number, language))) for number in (1, 2, 3)
    ]
    assert thoughts_of(boxes).count("\n\n") == 3
    assert text_of(boxes).count("\n| ") == 5
    assert "```python\n" in text_of(photos)
    assert text_of(databases).count("\n| ") == 9
    for events in (boxes, photos, databases):
        assert not calls_of(events)


def test_the_script_of_the_example_renames_photos(tmp_path: Path) -> None:
    code = PHOTOS.answer["en"].split("```python\n")[1].split("```")[0]
    script, folder = tmp_path / "rename_photos.py", tmp_path / "photos"
    script.write_text(code)
    folder.mkdir()
    for name in ("IMG_1.JPG", "IMG_2.jpg"):
        (folder / name).write_bytes(b"\xff\xd8Exif 2026:11:18 07:30:00\0")
    for really, names in (
        ([], ["IMG_1.JPG", "IMG_2.jpg"]),
        (["--really"], ["2026-11-18 07.30.00 (2).jpg", "2026-11-18 07.30.00.jpg"]),
    ):
        subprocess.run([sys.executable, script, folder, *really], check=True, capture_output=True)
        assert sorted(path.name for path in folder.iterdir()) == names


@pytest.mark.parametrize("question", ["Who are you?", "1+1", "Show a table", "你好", "写一段代码"])
async def test_every_answer_ends_with_other_things_to_ask(question: str) -> None:
    _, answer = await whole_turn(question)
    offered = prompts_of(answer.splitlines()[-1])
    assert len(offered) >= 3
    for words, address in offered:
        assert unquote(address) == words != question
        _, next_answer = await whole_turn(words, tools=("calculator", "todo_write"))
        assert "cannot really answer" not in next_answer
        assert "无法真正回答" not in next_answer


async def test_files_are_acknowledged_but_not_read() -> None:
    """A17"""
    file = FileBlock("image/png", "data:image/png;base64,AA==")
    request = ModelRequest("demo", (ModelMessage("user", (TextBlock("What is it?"), file)),))
    assert "1 attached file(s)" in text_of(await played(request))


async def test_the_same_question_always_gets_the_same_events() -> None:
    for question in ("1+1", "hello", "/long 200", "/think 20 hi", "/tools 3"):
        assert await played(asking(question)) == await played(asking(question))


@pytest.mark.parametrize("count", [0, 1, 7, 500])
async def test_long_gives_exactly_so_many_tokens(count: int) -> None:
    events = await played(asking(f"/long {count}"))
    assert sum(isinstance(event, TextDelta) for event in events) == count
    assert not thoughts_of(events)


async def test_long_text_is_varied_markdown_in_either_language() -> None:
    text = text_of(await played(asking("/long 3000")))
    for sign in ("## ", "1. ", "| ---", "```python", "> ", "$\\frac{"):
        assert sign in text
    blocks = text.split("\n\n")[:-1]
    assert len(set(blocks)) == len(blocks)
    assert "第 1 节" in text_of(await played(asking("/long 100 中文")))


async def test_think_gives_so_many_tokens_of_thinking_first() -> None:
    """A3"""
    events = await played(asking("/think 33 /long 5"))
    kinds = [type(event) for event in events]
    assert kinds == [ReasoningDelta] * 33 + [TextDelta] * 5 + [Usage, Finish]
    plain = await played(asking("/think 3 hello"))
    assert sum(isinstance(event, ReasoningDelta) for event in plain) == 3
    assert "demo model" in text_of(plain)


async def test_tools_gives_parallel_calls_and_then_a_table() -> None:
    """A2"""
    first = await played(asking("/tools 3"))
    assert [call.arguments["expression"] for call in calls_of(first)] == ["1 * 2", "2 * 3", "3 * 4"]
    calls, answer = await whole_turn("/tools 3")
    assert len({call.call_id for call in calls}) == 3
    assert "| 3 × 4 | 12 |" in answer
    thinking = await played(asking("/think 2 /tools 1"))
    assert sum(isinstance(event, ReasoningDelta) for event in thinking) == 2


@pytest.mark.parametrize(
    ("key", "expected", "status", "retryable"),
    [
        ("429", "error.chat_provider_rate_limited", 429, True),
        ("401", "error.chat_provider_auth_failed", 401, False),
        ("503", "error.chat_provider_server_error", 503, True),
        ("418", "error.chat_provider_request_refused", 418, False),
        ("overloaded", "error.chat_provider_overloaded", None, False),
        ("rate_limited", "error.chat_provider_rate_limited", None, False),
        ("max_steps", "error.chat_max_steps", None, False),
        ("error.chat_interrupted", "error.chat_interrupted", None, False),
    ],
)
async def test_fail_raises_that_error_after_some_text(
    key: str, expected: str, status: int | None, retryable: bool
) -> None:
    """A12"""
    seen: list[ProviderEvent] = []

    async def watch() -> None:
        async for event in MODEL.stream(asking(f"/fail {key}")):
            seen.append(event)  # noqa: PERF401 - what came before the error is the point

    with pytest.raises(ProviderError) as failed:
        await watch()
    assert len(text_of(seen)) > 20
    assert (failed.value.key, failed.value.status) == (expected, status)
    assert failed.value.retryable is retryable


def seconds_of(provider: DemoProvider, question: str) -> float:
    """How long the answer takes by a clock on which computing takes no time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(played(asking(question), provider))
        return runner.get_loop().time()


def test_tokens_come_at_the_pace_that_is_asked_for() -> None:
    assert 0.15 < seconds_of(MODEL, "/slow 10 /long 20") < 0.5
    assert seconds_of(DemoProvider(pace=10), "/slow 0 /long 20") == 0


@pytest.mark.parametrize("question", ["/slow 60000 /long 5", "/slow 0 /long 200000"])
def test_stopping_is_immediate_at_any_pace(question: str) -> None:
    """A5: not one token more, and no time passes."""

    async def stopped() -> bool:
        seen: list[ProviderEvent] = []
        running = asyncio.create_task(played(asking(question), seen=seen))
        for _ in range(5):
            await asyncio.sleep(0)
        running.cancel()
        before = len(seen)
        await asyncio.wait({running})
        assert len(seen) == before
        return running.cancelled()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(stopped())
        assert runner.get_loop().time() == 0


async def test_a_stream_flat_out_leaves_room_for_others() -> None:
    """A4"""
    running = asyncio.create_task(played(asking("/long 5000")))
    turns = 0
    while not running.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 1000


async def test_usage_is_a_quarter_of_the_characters() -> None:
    """A15"""
    call = ToolCallBlock("c", "calculator", {"expression": "1"})
    before = ModelMessage("assistant", (ReasoningBlock("x" * 20), call))
    question = ModelMessage("user", (TextBlock("/think 4 /long 4"), FileBlock("image/png", "u")))
    request = ModelRequest("demo", (before, question), system="s" * 40)
    events = await played(request)
    usage = events[-2]
    assert isinstance(usage, Usage)
    assert usage.tokens.input == (40 + 20 + len('{"expression": "1"}') + 16 + 3) // 4
    assert usage.tokens.output == (len(text_of(events)) + 3) // 4
    assert usage.tokens.reasoning == (len(thoughts_of(events)) + 3) // 4
    assert usage.cost is None


async def test_only_the_last_question_counts() -> None:
    earlier = (ModelMessage("user", (TextBlock("1+1"),)),)
    calls = calls_of(await played(ModelRequest("demo", earlier, tools=asking("").tools)))
    history = (*earlier, *answered(calls, "2"), ModelMessage("user", (TextBlock("2+3"),)))
    [call] = calls_of(await played(ModelRequest("demo", history, tools=asking("").tools)))
    assert call.arguments == {"expression": "2+3"}
    assert call.call_id != calls[0].call_id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12 times 7, please", "12 * 7"),
        ("What's sqrt(16)+2^3 ?", "sqrt(16)+2^3"),
        ("the square root of 2", "sqrt(2)"),
        ("16的平方根", "sqrt(16)"),
        ("计算 3乘以4", "3 * 4"),
        ("3 x 4", "3 * 4"),
        ("10 divided by 4", "10 / 4"),
        ("（3+4）*5等于几", "(3+4)*5"),
        ("(see 3+4)", "3+4"),
        ("it is (3+4", "3+4"),
        ("Is 7%4 three?", "7%4"),
        ("area of pi*5²?", "pi*5²"),
        ("1+1=", "1+1"),
        ("-5+2", "-5+2"),
        ("1+1 or 100+200", "100+200"),
        ("Released 2024-05-01, version 3.11", ""),
        ("I have 3 (three) cats and 17.5%", ""),
        ("C++ and a-1 and mp3+4", ""),
        (")3+4(", "3+4"),
        ("", ""),
    ],
)
def test_it_finds_the_sum_in_a_sentence(text: str, expected: str) -> None:
    assert find_sum(text) == expected


def test_commands_are_read_at_the_start_only() -> None:
    question = read_question("/slow 5 /long 9 then 1+1")
    assert (question.commands.slow_ms, question.commands.long) == (5, 9)
    assert question.text == "then 1+1"
    assert read_question("why /long 5").commands.long is None
    assert read_question("/long many").commands.long is None
    assert read_question("/long 999999999999").commands.long == 200_000


async def test_no_answer_loses_a_character_when_cut_into_tokens() -> None:
    text = text_of(await played(asking("一个表格, a table 😀")))
    assert re.search(r"\| 木星 \| 95 \| 9\.9 小时 \|\n\n", text)
    assert text.startswith("## 示例\n\n| 行星")


def test_the_demo_model_needs_no_django_and_no_tools() -> None:
    code = "import sys, chat.providers.demo; print({'django', 'chat.tools'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
