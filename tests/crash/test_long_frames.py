"""What is long goes out whole, through real servers with limits of their own."""

from pathlib import Path

import pytest

from tests.crash.remote import House
from tests.support.model_server import ScriptedProvider, reply
from tests.support.tabs import equal_pages

# Daphne's own limit for a message is 1 MiB.
LONG = "".join(f"Line {n} of a long answer{', with some more words' * 40}.\n" for n in range(1_300))
LIMITS = {"PARLEY_LIMIT_OUTPUT_CHARS": "10000000"}


@pytest.mark.parametrize("by", ["daphne", pytest.param("uvicorn", marks=pytest.mark.full)])
async def test_a_long_answer_reaches_whoever_comes_later(
    by: str, tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    """The whole of it in one frame, which is more than a server sends unless it is told to."""
    scripted_provider.answer = reply(LONG)
    house = House(tmp_path, scripted_provider.base_url, LIMITS)
    with house.served(by) as server:
        one = await server.program()
        begun = await one.send("Go")
        await one.ends(begun["request_id"], 300)

        later = await server.program()
        await later.until(lambda: later.named("chat:snapshot"))
        (snapshot,) = later.named("chat:snapshot")
        texts = [part["text"] for part in snapshot["messages"][-1]["parts"] if "text" in part]
        assert texts == [LONG]
        assert len(LONG) > 1_048_576
        tab = await server.tab()
        await equal_pages(tab)
        assert later.closed is None
        assert (await later.ask("stop"))["reply"] == "stop"
        for client in (one, later):
            await client.close()
        await tab.cut()
