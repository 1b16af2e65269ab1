"""The text of an answer that nobody watches."""

import asyncio

from chat.engine.collect import collect_text
from chat.protocol.interfaces import Finish, ModelRequest, ReasoningDelta, TextDelta
from tests.engine.scripted import Script

REQUEST = ModelRequest("m", ())


async def test_the_text_is_collected_without_the_thinking() -> None:
    provider = Script([ReasoningDelta("Hm."), TextDelta("Good "), TextDelta("day"), Finish("stop")])
    assert await collect_text(provider, REQUEST) == "Good day"
    assert provider.open == 0


async def test_a_stream_that_does_not_end_is_left_at_the_limit() -> None:
    never = asyncio.Event()
    provider = Script([TextDelta("Good "), TextDelta("day to you"), never])
    assert await collect_text(provider, REQUEST, limit=8) == "Good day"
    assert provider.open == 0
