"""A model with its tools in the prompt looks like one that calls them natively (C1, C2, C6)."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.engine.history import to_model_messages
from chat.engine.xml_provider import XmlToolProvider
from chat.formats.xml_history import messages_in_xml, schemas_of
from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import (
    FileBlock,
    Finish,
    ModelMessage,
    ModelRequest,
    ReasoningBlock,
    ReasoningDelta,
    Retrying,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolCallBlock,
    ToolCallDelta,
    ToolCallStart,
    ToolResultBlock,
    ToolSpec,
    Usage,
)
from chat.protocol.parts import Tokens, ToolPart
from tests.engine.scripted import Run, Script, Tools, says
from tests.engine.test_history import messages as histories
from tests.support.xml_samples import TOOLS

CALL = "<calculator><word>a</word><count>3</count></calculator>"
ASK = ModelRequest("m", (), system="Be kind.", tools=TOOLS)


class Asked(Run):
    """A run whose requests have tools."""

    def build(self, parts):
        return ASK


async def answer(*events, request=ASK):
    provider = Script(list(events))
    events = [event async for event in XmlToolProvider(provider, TOOLS).stream(request)]
    return events, provider


async def test_a_call_in_the_text_becomes_events():
    events, _ = await answer(TextDelta("So " + CALL[:9]), TextDelta(CALL[9:]), Finish("stop"))
    text, start, grew, call, end = events
    assert text == TextDelta("So")
    assert start == ToolCallStart(call.call_id, "calculator")
    assert grew == ToolCallDelta(call.call_id, call.raw)
    assert (call.arguments, call.fault) == ({"word": "a", "count": 3}, "")
    assert call.call_id.startswith("xml_")
    assert end == Finish("tool-calls")


async def test_without_a_call_everything_passes_unchanged():
    sent = [
        ReasoningDelta("<calculator> maybe"),
        TextDelta("Hello < world\n"),
        Usage(Tokens()),
        Finish("stop"),
    ]
    events, _ = await answer(*sent)
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text == "Hello < world\n"
    assert [event for event in events if not isinstance(event, TextDelta)] == [
        sent[0],
        *sent[2:],
    ]


async def test_what_was_held_back_comes_before_the_end():
    events, _ = await answer(TextDelta("a <"), Finish("stop"))
    assert events == [TextDelta("a"), TextDelta(" <"), Finish("stop")]
    unended, _ = await answer(TextDelta("a <"))
    assert unended == events[:2]


async def test_what_was_held_back_is_kept_when_the_provider_fails():
    broken = Script([TextDelta("a <b"), ProviderError("error.chat_provider_cut_off")])
    stream = XmlToolProvider(broken, TOOLS).stream(ASK)
    assert [await anext(stream), await anext(stream)] == [TextDelta("a"), TextDelta(" <b")]
    with pytest.raises(ProviderError):
        await anext(stream)
    cut = Script([TextDelta(CALL[:-5]), ProviderError("error.chat_provider_cut_off")])
    run = Asked(XmlToolProvider(cut, TOOLS), Tools())
    with pytest.raises(ProviderError):
        await run.to_end()
    run.assembly.abort()
    assert [state.status for state in run.states().values()] == ["error"]


async def test_why_the_model_stopped_is_kept_unless_it_called():
    events, _ = await answer(TextDelta(CALL), Finish("length"))
    assert events[-1] == Finish("length")


async def test_only_the_first_call_of_a_message_runs():
    """C1, C-25."""
    events, _ = await answer(TextDelta(CALL + "and" + CALL), Finish("stop"))
    faults = [event.fault for event in events if isinstance(event, ToolCall)]
    assert faults[0] == ""
    assert faults[1].startswith(
        "Tool [calculator] was not executed because a tool has already been used in this message."
    )


async def test_a_call_that_is_cut_off_is_answered_with_an_error_and_the_model_goes_on():
    provider = Script([TextDelta(CALL[:-5]), Finish("length")], says("Sorry."))
    run = await Asked(XmlToolProvider(provider, TOOLS), Tools()).to_end()
    [part] = [part for part in run.assembly.parts() if isinstance(part, ToolPart)]
    assert part.state.status == "error"
    assert "</calculator>" in part.state.error
    assert len(provider.requests) == 2


async def test_an_answer_that_is_tried_again_is_read_from_its_beginning():
    again = Retrying("error.chat_provider_overloaded", 1, 5, 0)
    events, _ = await answer(TextDelta("a <calc"), again, TextDelta(CALL), Finish("stop"))
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [call.fault for call in calls] == [""]
    assert events[:2] == [TextDelta("a"), again]
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["a"]


async def test_an_endless_answer_is_refused():
    with pytest.raises(ProviderError) as caught:
        await answer(TextDelta("x" * (1024 * 1024 + 1)))
    assert caught.value.key == "error.chat_output_limit"


async def test_closing_the_stream_closes_the_connection():
    provider = Script([TextDelta("a "), TextDelta("b"), asyncio.Event()])
    stream = XmlToolProvider(provider, TOOLS).stream(ASK)
    await anext(stream)
    assert provider.open == 1
    await stream.aclose()
    assert provider.open == 0


async def test_the_request_tells_of_the_tools_in_the_prompt_only():
    _, provider = await answer(Finish("stop"))
    [request] = provider.requests
    assert request.tools == ()
    assert request.system.startswith("Be kind.\n\n# Tools\n")
    assert "## calculator\nCounts." in request.system


async def test_a_request_without_tools_tells_of_none_and_hears_none():
    """A summary is asked for in the style of the conversation, but nothing may run."""
    call = ToolCallBlock("c", "calculator", {"count": 3})
    asked = ModelRequest("m", (ModelMessage("assistant", (call,)),), system="Sum up.")
    events, provider = await answer(TextDelta(CALL), Finish("stop"), request=asked)
    assert events == [TextDelta(CALL), Finish("stop")]
    assert provider.requests[0].system == "Sum up."
    assert "<count>" in provider.requests[0].messages[0].content[0].text


def test_calls_and_results_are_texts_in_their_order():
    """C2."""
    call = ToolCallBlock("c", "calculator", {"count": 3})
    png = FileBlock("image/png", "data:,")
    reasoning = ReasoningBlock("hm", {"signature": "s"})
    before = (
        ModelMessage("assistant", (reasoning, TextBlock("I count."), call)),
        ModelMessage("tool", (ToolResultBlock("c", "calculator", "3", files=(png,)),)),
    )
    called, result = messages_in_xml(before, schemas_of(TOOLS))
    xml = "<calculator>\n<count>\n3\n</count>\n</calculator>"
    assert called.content == (reasoning, TextBlock(f"I count.\n{xml}"))
    assert result == ModelMessage("user", (TextBlock("[calculator Result]\n\n3"), png))


def test_a_call_without_words_is_not_preceded_by_an_empty_line():
    call = ToolCallBlock("c", "calculator", {})
    [called] = messages_in_xml([ModelMessage("assistant", (TextBlock(""), call))], {})
    assert called.content == (TextBlock("<calculator>\n\n</calculator>"),)


@given(st.lists(histories, max_size=6))
def test_any_history_is_told_in_one_style_and_grows_at_its_end(conversation):
    """C2, C6: no native call, no native result, and each turn begins as the one before."""
    native = to_model_messages(conversation)
    whole = messages_in_xml(native, {})
    assert {message.role for message in whole} <= {"user", "assistant"}
    blocks = [block for message in whole for block in message.content]
    assert not any(isinstance(block, ToolCallBlock | ToolResultBlock) for block in blocks)
    for length in range(len(conversation)):
        begun = messages_in_xml(to_model_messages(conversation[:length]), {})
        assert whole[: len(begun)] == begun
    for index, message in enumerate(native):
        calls = [block.name for block in message.content if isinstance(block, ToolCallBlock)]
        texts = [block.text for block in whole[index].content if isinstance(block, TextBlock)]
        assert sum(text.count("<t>\n") for text in texts) == len(calls)
        if calls:
            results = [block.text for block in whole[index + 1].content]
            assert whole[index + 1].role == "user"
            assert [text.startswith("[t Result]\n\n") for text in results] == [True] * len(calls)


SUM = ToolSpec(
    "sum", "Adds.", {"properties": {"expression": {"type": "string"}}, "required": ["expression"]}
)
PAIR = ToolSpec(
    "pair",
    "Two.",
    {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]},
)


async def called(text):
    provider = XmlToolProvider(Script([TextDelta(text), Finish("stop")]), (SUM, PAIR))
    request = ModelRequest("m", (), tools=(SUM, PAIR))
    events = [event async for event in provider.stream(request)]
    [call] = [event for event in events if isinstance(event, ToolCall)]
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    return call, shown


@pytest.mark.parametrize(
    "text",
    [
        "<sum>2+2</sum>",
        '<sum expression="2+2" />',
        '<tool_call>{"name": "sum", "arguments": {"expression": "2+2"}}</tool_call>',
    ],
)
async def test_calls_in_the_ways_of_small_models_run_and_are_not_shown(text):
    call, shown = await called(f"Let me see. {text}")
    assert (call.name, call.arguments, call.fault) == ("sum", {"expression": "2+2"}, "")
    assert shown == "Let me see."


async def test_a_call_whose_value_cannot_be_placed_is_told_how_to_write_it():
    call, _ = await called("<pair>x and y</pair>")
    assert "<pair><a>…</a><b>…</b></pair>" in call.fault
