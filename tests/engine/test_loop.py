"""The loop: ask, act, ask again, and always an end (A2, A3, A5)."""

import asyncio

import pytest

from chat.engine.changes import PartGrew, ToolChanged
from chat.engine.limits import Limits
from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import (
    Finish,
    ReasoningDelta,
    Retrying,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    ToolOutput,
    ToolResult,
    Usage,
)
from chat.protocol.notes import state_notes
from chat.protocol.parts import StepFinishPart, TextPart, Tokens
from chat.protocol.reasons import reason
from tests.engine.scripted import Run, Script, Tools, call, says


async def test_a_plain_answer_is_one_step():
    run = await Run(Script(says("Hello"))).to_end()
    assert run.types() == ["step-start", "text", "step-finish"]
    assert (run.end.finish, run.end.error_key) == ("stop", "")


async def test_a_tool_is_run_and_the_model_is_asked_again_with_its_result():
    """A2."""
    script = Script(
        [TextDelta("Let me see."), call("c1", say="3"), Finish("tool-calls")], says("3")
    )
    run = await Run(script).to_end()
    step = ["step-start", "text", "tool", "step-finish"]
    assert run.types() == [*step, "step-start", "text", "step-finish"]
    assert run.states()["c1"].output == "3"
    assert [part.type for part in run.asked[1]] == step
    assert run.asked[1][2].state.status == "completed"
    assert [context.call_id for context in run.tools.ran] == ["c1"]


@pytest.mark.parametrize("reason", ["tool-calls", "stop", "length", "content-filter", "other"])
async def test_tools_that_were_called_are_run_whatever_the_reason(reason):
    run = await Run(Script([call("c1", say="x"), Finish(reason)], says("done"))).to_end()
    assert run.states()["c1"].status == "completed"
    assert len(run.provider.requests) == 2


async def test_a_stream_that_says_no_reason_ends_all_the_same():
    run = await Run(Script([TextDelta("x")])).to_end()
    assert run.end.finish == "unknown"


async def test_several_tools_run_side_by_side_and_results_are_told_as_they_land():
    first_may_end = asyncio.Event()

    async def slow(arguments):
        await first_may_end.wait()
        return ToolResult("slow")

    async def quick(arguments):
        return ToolResult("quick")

    script = Script([call("c1", "slow"), call("c2", "quick"), Finish("tool-calls")], says("ok"))
    run = Run(script, Tools(slow=slow, quick=quick))
    ended = []
    async for item in run.stream:
        if isinstance(item, ToolChanged) and item.part.state.status == "completed":
            ended.append(item.part.call_id)
            first_may_end.set()
    assert ended == ["c2", "c1"]


async def test_one_broken_tool_does_not_touch_the_others():
    async def broken(arguments):
        raise RuntimeError("boom")

    async def cancelled(arguments):
        raise asyncio.CancelledError

    calls = [call("c1", "broken"), call("c2", say="fine"), call("c3", "cancelled")]
    run = Run(
        Script([*calls, Finish("tool-calls")], says("ok")),
        Tools(broken=broken, cancelled=cancelled),
    )
    states = (await run.to_end()).states()
    assert "boom" in states["c1"].error
    assert states["c2"].output == "fine"
    assert states["c3"].status == "error"


async def test_it_ends_after_so_many_steps():
    steps = [[call(f"c{n}", say=str(n)), Finish("tool-calls")] for n in range(9)]
    run = await Run(Script(*steps), limits=Limits(max_steps=3)).to_end()
    assert (run.end.finish, run.end.error_key) == ("max-steps", "error.chat_max_steps")
    assert run.end.error_data == {"steps": 3}
    assert len(run.provider.requests) == 3
    assert {state.status for state in run.states().values()} == {"completed"}


async def test_three_identical_calls_in_a_row_end_it():
    steps = [
        [ReasoningDelta("hm"), ToolCall(f"c{n}", "echo", args), Finish("tool-calls")]
        for n, args in enumerate([{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "b": 2}])
    ]
    run = await Run(Script(*steps)).to_end()
    assert (run.end.finish, run.end.error_key) == ("repeated-calls", "error.chat_repeated_calls")
    assert run.end.error_data == {"tool": "echo"}
    assert len(run.tools.ran) == 2
    assert "three times" in run.states()["c2"].error


@pytest.mark.parametrize("between", [[call("other", say="x")]])
async def test_identical_calls_with_something_between_are_no_circle(between):
    same = [[call(f"c{n}"), Finish("tool-calls")] for n in range(3)]
    same[2] = [*between, *same[2]]
    run = await Run(Script(*same, says("ok"))).to_end()
    assert run.end.finish == "stop"


async def test_saying_that_one_tries_again_does_not_hide_a_circle():
    same = [[TextDelta(f"Again, {n}."), call(f"c{n}"), Finish("tool-calls")] for n in range(3)]
    run = await Run(Script(*same)).to_end()
    assert run.end.finish == "repeated-calls"


async def test_writing_the_same_plan_again_is_no_circle():
    async def todo_write(arguments):
        return ToolResult("ok")

    steps = [[call(f"c{n}", "todo_write"), Finish("tool-calls")] for n in range(4)]
    run = await Run(Script(*steps, says("ok")), Tools(todo_write=todo_write)).to_end()
    assert run.end.finish == "stop"


async def test_too_many_calls_in_a_step_are_cut_and_said_once():
    """S5: a storm of calls was a part for each refusal."""
    calls = [call(f"c{n}", say=str(n)) for n in range(10_000)]
    storm = [event for each in calls for event in (ToolCallStart(each.call_id, "echo"), each)]
    run = Run(Script([*storm, Finish("tool-calls")], says("ok")), limits=Limits(max_calls=2))
    states = (await run.to_end()).states()
    assert [state.status for state in states.values()] == ["completed"] * 2 + ["error"]
    assert "more than 2" in states["c2"].error
    assert run.end.finish == "stop"


@pytest.mark.parametrize(
    "flood",
    [
        TextDelta("x" * 60),
        ReasoningDelta("x" * 60),
        ToolCallDelta("c1", "x" * 60),
        ToolCall("c1", "echo", {}, raw="x" * 60),
    ],
)
async def test_a_model_that_does_not_stop_talking_is_stopped(flood):
    script = Script([ToolCallStart("c1", "echo"), *[flood] * 5])
    run = await Run(script, limits=Limits(max_characters=100)).to_end()
    assert (run.end.finish, run.end.error_key) == ("output-limit", "error.chat_output_limit")
    assert run.states()["c1"].metadata == {"interrupted": True}
    assert script.open == 0


async def test_one_event_longer_than_all_that_is_allowed_is_cut():
    """A 5 MB word is not drawn first and refused afterwards."""
    script = Script([TextDelta("x" * 5_000_000)])
    run = await Run(script, limits=Limits(max_characters=100)).to_end()
    assert run.end.error_key == "error.chat_output_limit"
    assert [len(part.text) for part in run.assembly.parts() if isinstance(part, TextPart)] == [101]


async def test_a_providers_own_time_out_is_not_ours():
    with pytest.raises(TimeoutError):
        await Run(Script([TimeoutError("socket")])).to_end()


async def test_a_pause_asks_again_with_what_was_said():
    run = await Run(Script([TextDelta("a"), Finish("pause")], says("b"))).to_end()
    assert [part.type for part in run.asked[1]] == ["step-start", "text", "step-finish"]
    assert run.end.finish == "stop"


async def test_a_model_that_only_pauses_ends_too():
    run = await Run(Script([Finish("pause")]), limits=Limits(max_steps=4)).to_end()
    assert (run.end.finish, len(run.provider.requests)) == ("max-steps", 4)


@pytest.mark.parametrize(
    ("step", "key"),
    [
        ([TextDelta("a"), Finish("content-filter")], "error.chat_content_filter"),
        ([TextDelta("a"), Finish("refusal")], "error.chat_model_refused"),
        ([Finish("refusal", "bio")], "error.chat_model_refused_bio"),
        ([Finish("refusal", "cyber")], "error.chat_model_refused_cyber"),
        ([Finish("refusal", "frontier_llm")], "error.chat_model_refused_frontier_llm"),
        ([Finish("refusal", "general_harms")], "error.chat_model_refused_general_harms"),
        (
            [Finish("refusal", "reasoning_extraction")],
            "error.chat_model_refused_reasoning_extraction",
        ),
        ([Finish("refusal", "new kind")], "error.chat_model_refused"),
        ([Finish("refusal", "bio", "No.")], "error.chat_model_refused_because"),
        ([TextDelta("a"), Finish("length")], ""),
        ([ReasoningDelta("hm"), Finish("stop")], "error.chat_empty_answer"),
        ([TextDelta(" \n"), Finish("stop")], "error.chat_empty_answer"),
        ([], "error.chat_empty_answer"),
    ],
)
async def test_what_is_no_answer_says_why(step, key):
    assert (await Run(Script(step)).to_end()).end.error_key == key


async def test_a_call_that_was_cut_off_is_told_to_the_model():
    cut = [ToolCallStart("c1", "echo"), ToolCallDelta("c1", '{"say'), Finish("length")]
    run = await Run(Script(cut, says("ok"))).to_end()
    assert "cut off" in run.states()["c1"].error
    assert (run.tools.ran, run.end.finish) == ([], "stop")


async def test_arguments_that_cannot_be_read_are_told_to_the_model():
    bad = ToolCall("c1", "echo", {}, raw='{"say', fault="not JSON")
    run = await Run(Script([bad, Finish("tool-calls")], says("ok"))).to_end()
    state = run.states()["c1"]
    notes = state_notes(state)
    assert (state.error, notes.raw_arguments) == ("not JSON", '{"say')
    assert notes.reasons == (reason("unusable_arguments"),)
    assert run.tools.ran == []


async def test_a_provider_that_runs_its_tools_itself_is_left_to_it():
    step = [
        ToolCall("c1", "Bash", {}, by_provider=True),
        ToolOutput("c1", ToolResult("listing")),
        TextDelta("Two files."),
        ToolCall("c2", "Bash", {}, by_provider=True),
        Finish("stop"),
    ]
    run = await Run(Script(step)).to_end()
    first = ["step-start", "tool", "step-finish"]
    assert run.types() == [*first, "step-start", "text", "tool", "step-finish"]
    assert run.states()["c1"].output == "listing"
    assert "no result" in run.states()["c2"].error
    assert (run.tools.ran, len(run.provider.requests)) == ([], 1)


async def test_retries_are_told():
    retry = Retrying("error.chat_rate_limited", 1, 5, 2.0)
    run = await Run(Script([retry, *says("ok")])).to_end()
    assert run.retries == [retry]
    assert run.types() == ["step-start", "text", "step-finish"]


async def test_a_fault_comes_through_after_what_was_said():
    fault = ProviderError("error.chat_generation_failed", "502")
    run = Run(Script([TextDelta("par"), fault]))
    with pytest.raises(ProviderError) as caught:
        await run.to_end()
    assert caught.value is fault
    assert [c.delta for c in run.changes if isinstance(c, PartGrew)] == ["par"]
    run.assembly.abort()
    assert run.assembly.parts()[1].time.end is not None


async def test_usage_is_kept_with_its_step():
    used = Usage(Tokens(input=5, output=2), cost=0.25)
    run = await Run(Script([TextDelta("a"), used, Finish("stop")])).to_end()
    step = run.assembly.parts()[-1]
    assert isinstance(step, StepFinishPart)
    assert (step.cost, step.tokens.input, step.reason) == (0.25, 5, "stop")


# --- stopping -----------------------------------------------------------------------


def only_this_task() -> bool:
    return asyncio.all_tasks() == {asyncio.current_task()}


def a_long_run() -> Run:
    async def busy(arguments):
        for _ in range(arguments["turns"]):
            await asyncio.sleep(0)
        return ToolResult("x")

    calls = [call("c1", "busy", turns=2), call("c2", "busy", turns=9), Finish("tool-calls")]
    return Run(Script([TextDelta("a"), ReasoningDelta("b"), *calls], says("ok")), Tools(busy=busy))


async def test_cancelling_at_any_moment_leaves_nothing_running():
    """A5: wherever the cancellation lands, streams and tools end and the message closes."""
    turns = 0
    while True:
        run = a_long_run()
        task = asyncio.create_task(run.to_end())
        for _ in range(turns):
            await asyncio.sleep(0)
        if task.done():
            break
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert only_this_task(), turns
        assert run.provider.open == 0
        run.assembly.abort()
        assert {state.status for state in run.states().values()} <= {"completed", "error"}
        turns += 1
    assert turns > 10


async def test_leaving_the_loop_at_any_change_leaves_nothing_running():
    """A consumer that goes away closes the generator: tools and streams end with it."""
    total = len((await a_long_run().to_end()).changes)
    for count in range(total):
        run = a_long_run()
        for _ in range(count + 1):
            await anext(run.stream)
        await run.stream.aclose()
        assert only_this_task(), count
        assert run.provider.open == 0


async def test_a_tool_that_will_not_stop_does_not_hold_the_stop(caplog):
    release, started = asyncio.Event(), asyncio.Event()

    async def stubborn(arguments):
        started.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return ToolResult("late")

    script = Script([call("c1", "stubborn"), Finish("tool-calls")])
    run = Run(script, Tools(stubborn=stubborn), Limits(tool_grace=0.01))
    task = asyncio.create_task(run.to_end())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "although they were cancelled" in caplog.text
    release.set()
