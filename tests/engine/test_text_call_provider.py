"""Calls that are read from the text of an answer: what an answer that is stopped keeps of it."""

import asyncio

from chat.engine.text_call_provider import TextCallProvider
from chat.protocol.interfaces import CaughtUp, ModelRequest, TextDelta, ToolSpec
from tests.engine.scripted import Script

ASK = ModelRequest("m", (), tools=(ToolSpec("calculator", "", {"type": "object"}),))


async def test_nobody_rests_while_something_is_held_back():
    """Who rests is stopped outside, and could not be given it any more."""
    said = [TextDelta("So.\n"), CaughtUp(), TextDelta("<tool_call>"), CaughtUp()]
    provider = Script([*said, TextDelta("is"), CaughtUp()])
    events = [event async for event in TextCallProvider(provider).stream(ASK)]
    assert events == [*said[:2], TextDelta("<tool_call>is"), CaughtUp()]


async def test_an_answer_that_is_stopped_keeps_what_was_held_back():
    waits = asyncio.Event()
    stream = TextCallProvider(Script([TextDelta("So.\n<tool_call>"), waits])).stream(ASK)
    assert await anext(stream) == TextDelta("So.\n")
    asking = asyncio.create_task(anext(stream))
    await asyncio.sleep(0)
    asking.cancel()
    assert await asking == TextDelta("<tool_call>")
