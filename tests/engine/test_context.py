"""How much a request weighs, and what goes first when it weighs too much."""

import pytest

from chat.engine import context
from chat.protocol.effort import Thinking
from chat.protocol.factories import create_user_message
from chat.protocol.ids import new_id
from chat.protocol.interfaces import (
    FileBlock,
    ModelMessage,
    ModelRequest,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
)

SESSION = new_id()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 1), ("a" * 400, 101), ("汉" * 300, 201), ("汉" * 30 + "a" * 40, 31)],
)
def test_chinese_weighs_more_than_latin(text: str, tokens: int) -> None:
    assert context.tokens_in(text) == tokens


def test_every_kind_of_block_weighs_something() -> None:
    empty = ModelRequest("m", ())
    picture = FileBlock("image/png", "data:")
    blocks = [
        TextBlock("x" * 100),
        ReasoningBlock("x" * 100),
        ToolCallBlock("c", "f", {"a": "x" * 100}),
        ToolResultBlock("c", "f", "x" * 100, files=(picture,)),
        picture,
    ]
    for block in blocks:
        request = ModelRequest("m", (ModelMessage("user", (block,)),))
        assert context.estimate(request) >= context.estimate(empty) + 25
    tools = ModelRequest("m", (), tools=(ToolSpec("f", "x" * 100, {"type": "object"}),))
    assert context.estimate(tools) > context.estimate(empty) + 25


@pytest.mark.parametrize(("window", "output", "left"), [(8000, 1000, 7000), (8000, None, 6000)])
def test_the_answer_needs_room_too(window: int, output: int | None, left: int) -> None:
    assert context.room(window, output) == left


def test_a_window_smaller_than_its_answer_still_leaves_some_room() -> None:
    assert context.room(1000, 4000) == 250


def test_the_last_turn_is_always_kept() -> None:
    talk = [create_user_message(SESSION, "x" * 4000) for _ in range(3)]
    assert context.kept_from(talk, 10) == 2
    assert context.kept_from(talk, 2500) == 1
    assert context.kept_from(talk, 10_000) == 0
    assert context.kept_from([], 10) == 0


@pytest.mark.parametrize(
    ("efforts", "asked"),
    [(("none", "low", "high"), "none"), (("low", "high", "max"), "low"), ((), "")],
)
def test_no_thought_is_spent_on_a_summary_or_as_little_as_can_be(
    efforts: tuple[str, ...], asked: str
) -> None:
    """Thoughts count as output: a model that thinks hard would not get to its summary."""
    hard = ModelRequest("m", (), thinking=Thinking(efforts), effort="high", thinks=True)
    request = context.summary_request(hard, [create_user_message(SESSION, "Hello")], 6000)
    assert request.effort == asked
    assert request.output_limit == 4000


@pytest.mark.parametrize(("window", "limit"), [(2000, 1000), (8000, 2000), (200_000, 4000)])
def test_a_summary_fits_a_small_window_beside_what_it_sums_up(window: int, limit: int) -> None:
    talk = [create_user_message(SESSION, "Hello")]
    asked = context.summary_request(ModelRequest("m", (), window=window), talk, window // 2)
    assert asked.output_limit == limit


def test_a_summary_writes_nothing_to_a_cache() -> None:
    """No request begins as it does, so nobody would read it."""
    request = ModelRequest("m", (), cache_key="a talk")
    assert context.summary_request(request, (), 1000).cache_key == ""


def test_even_the_request_for_a_summary_fits() -> None:
    talk = [create_user_message(SESSION, "x" * 8000) for _ in range(10)]
    request = context.summary_request(ModelRequest("m", ()), talk, 6000)
    assert context.estimate(request) < 6000
    assert request.messages[-1].content == (TextBlock(context.SUMMARISE),)
