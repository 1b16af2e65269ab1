"""B4: the plan of an agent, with what changed."""

from dataclasses import replace
from typing import Any

from chat.protocol.displays import TextDisplay, TodoDisplay
from chat.protocol.interfaces import ToolContext, ToolResult
from chat.tools import registry


async def write(context: ToolContext, *todos: Any) -> ToolResult:
    return await registry.toolbox(["todo_write"]).run("todo_write", {"todos": list(todos)}, context)


def plan(result: ToolResult) -> TodoDisplay:
    assert isinstance(result.display, TodoDisplay)
    return result.display


async def test_done_comes_first_then_urgent(context: ToolContext) -> None:
    result = await write(
        context,
        {"content": "low", "priority": "low"},
        {"content": "high", "priority": "high"},
        {"content": "now", "status": "in_progress"},
        {"content": "done", "status": "completed", "priority": "low"},
    )
    assert [item.content for item in plan(result).items] == ["done", "now", "high", "low"]
    assert result.text == "Todo list saved: 1 completed, 1 in progress, 2 pending."
    assert result.title == "1/4"


async def test_it_remembers_what_was_there_before(context: ToolContext) -> None:
    first = await write(context, {"id": "a", "content": "one", "status": "in_progress"})
    later = replace(context, previous=first.display)
    second = await write(later, {"id": "a", "content": "one", "status": "completed"})
    assert plan(first).before == ()
    assert plan(second).before == plan(first).items
    assert plan(second).items[0].status == "completed"


async def test_a_past_that_is_no_plan_is_no_past(context: ToolContext) -> None:
    other = replace(context, previous=TextDisplay(text="x"))
    assert plan(await write(other, {"content": "one"})).before == ()


async def test_what_a_model_gets_wrong_has_a_sensible_reading(context: ToolContext) -> None:
    result = await write(
        context,
        {"id": 2, "content": "a", "status": "blocked", "priority": "urgent", "activeForm": "x"},
        {"content": "b", "status": None},
        {"id": "2", "content": "c"},
    )
    assert not result.is_error
    items = plan(result).items
    assert {item.status for item in items} == {"pending"}
    assert {item.priority for item in items} == {"medium"}
    assert len({item.id for item in items}) == 3


async def test_a_step_without_words_is_refused_by_name(context: ToolContext) -> None:
    result = await write(context, {"content": "fine"}, {"status": "pending"})
    assert result.is_error
    assert "todos.1.content is required" in result.text


async def test_an_empty_list_clears_the_plan(context: ToolContext) -> None:
    assert (await write(context)).text == "Todo list cleared."
