"""The text of an answer that nobody watches."""

import asyncio

import pytest

from chat.engine.collect import Collected
from chat.protocol.adjustments import Adjustment
from chat.protocol.interfaces import (
    Adjusted,
    Finish,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    Usage,
)
from chat.protocol.parts import Tokens
from tests.engine.scripted import Script

REQUEST = ModelRequest("m", ())
COUNTED = Usage(Tokens(input=7, output=1))


async def test_the_text_is_collected_without_the_thinking() -> None:
    provider = Script([ReasoningDelta("Hm."), TextDelta("Good "), TextDelta("day"), Finish("stop")])
    assert await Collected().collect(provider, REQUEST) == "Good day"
    assert provider.open == 0


async def test_what_the_server_refused_is_known() -> None:
    """A title may be the first to meet a refusal: what it learns is kept with the model."""
    adjusted = Adjusted(Adjustment("drop", "temperature"), "not supported")
    collected = Collected()
    await collected.collect(Script([adjusted, TextDelta("Good day"), Finish("stop")]), REQUEST)
    assert collected.adjusted == [adjusted]


async def test_what_was_counted_is_known_also_of_a_stream_that_was_left() -> None:
    provider = Script([COUNTED, TextDelta("Good "), asyncio.Event()])
    collected = Collected()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await collected.collect(provider, REQUEST)
    assert (collected.text, collected.usage) == ("Good ", COUNTED)
    assert provider.open == 0
