"""The same hostile texts as they come: each of their characters is a frame of its own, so that
every beginning of a text is once what stands on the page."""

import asyncio
import os
import random
from collections.abc import Callable, Iterator

import pytest

from chat.protocol.displays import (
    DiffDisplay,
    Display,
    FileDisplay,
    JsonDisplay,
    PageDisplay,
    SearchDisplay,
    SearchHit,
    ShellDisplay,
    SumDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
)
from chat.protocol.interfaces import (
    Cited,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallStart,
    ToolResult,
)
from chat.protocol.reasons import reason
from tests.benchmark.virtual import Move, frames_of_moves
from tests.security.hostile import CHOSEN, PAYLOADS, has_escaped
from tests.support.virtual_loop import VirtualLoop

# Longer than any frame waits for company.
APART = 150
FULL = bool(os.environ.get("PARLEY_FULL"))


def frames(moves: Iterator[Move]) -> list[str]:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(frames_of_moves(moves, APART))


def applied(event: ProviderEvent) -> Move:
    return lambda assembly: assembly.apply(event)


def words(text: str) -> Iterator[Move]:
    yield from (applied(TextDelta(each)) for each in text)


def thinking(text: str) -> Iterator[Move]:
    yield from (applied(ReasoningDelta(each)) for each in text)
    yield applied(TextDelta("So."))


def sources(text: str) -> Iterator[Move]:
    yield applied(TextDelta(text))
    yield applied(Cited(url=text, title=text, quote=text, length=len(text)))
    yield applied(Cited(url="https://a.example/", title=text, quote=text, length=len(text)))
    yield applied(TextDelta("."))


def displays(text: str) -> list[Display]:
    item = TodoItem(id=text, content=text)
    return [
        TextDisplay(text=text),
        JsonDisplay(value={text: [text]}),
        SumDisplay(expression=text, result=text),
        SearchDisplay(query=text, hits=(SearchHit(title=text, url=text, text=text),)),
        PageDisplay(title=text, url=text, excerpt=text),
        DiffDisplay(path=text, before=f"a\n{text}\n", after=f"{text}\nb\n"),
        ShellDisplay(command=text, output=f"\x1b[31m{text}\x1b[0m", errors=text, exit_code=1),
        FileDisplay(path=text, text=text),
        TodoDisplay(items=(item,), before=(item,)),
    ]


NAMES = ("calculator", "duckduckgo_search", "todo_write", "bash", "edit", "mcp__x__y")


def tools(text: str) -> Iterator[Move]:
    """Every card with every field of it hostile: while it begins, runs, has ended and failed."""
    results = [ToolResult(text, display=display, title=text) for display in displays(text)]
    results += [ToolResult(text), ToolResult.failed(text, reason("broke", error=text)),
                ToolResult.failed(text)]  # fmt: skip
    for number, result in enumerate(results):
        call, name = f"{number}", (*NAMES, text[:60])[number % 7]
        arguments = {"expression": text, "query": text, "command": text, text[:40]: [text]}
        yield applied(ToolCallStart(call, name))
        yield applied(ToolCall(call, name, arguments, raw=text))
        yield (
            lambda assembly, call=call: assembly.update_tool(  # type: ignore[misc]
                call, title=text, metadata={text[:40]: text}
            )
        )
        yield lambda assembly, call=call, result=result: assembly.finish_tool(  # type: ignore[misc]
            call, result
        )


@pytest.mark.parametrize("comes", [words, thinking, sources, tools])
def test_nothing_escapes_at_any_moment(comes: Callable[[str], Iterator[Move]]) -> None:
    moves = told = 0
    for payload in CHOSEN:
        moves += len(list(comes(payload)))
        for frame in frames(comes(payload)):
            has_escaped(payload, frame)
            told += 1
    # Some end of a line is held back until it is known what it is; nothing else is joined.
    assert told > 0.8 * moves


def spliced(number: int) -> Iterator[str]:
    """A beginning of one and an end of another: what is open in the first ends in the second."""
    dice = random.Random(50)
    for _ in range(number):
        one, other = dice.sample(PAYLOADS, 2)
        yield one[: dice.randrange(len(one))] + other[dice.randrange(len(other)) :]


def test_nothing_escapes_of_two_that_were_put_together() -> None:
    for text in spliced(400 if FULL else 20):
        for frame in frames(words(text)):
            has_escaped(text, frame)
