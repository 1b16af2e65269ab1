"""All servers are replaced, one after the other, while they answer: nobody is told of an end.

In the full run. What a server does that is replaced, it leaves what it writes and another goes on
with it, is looked at every day in test_changing_process.py, and with a tool at work in
`tests/turns/test_hand_over.py`.
"""

import asyncio
import itertools
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.crash.fleet import fleet
from tests.faults.watchers import Watcher, all_live, ended
from tests.support.model_server import Call, Received, Reply, Say, ScriptedProvider, reply
from tests.support.waiting import slowness

LONGEST_PAUSE = 3.0
LIMITS = {
    "PARLEY_LIMIT_GENERATIONS_PER_USER": "1000",
    "PARLEY_LIMIT_SOCKETS_PER_USER": "1000",
    "PARLEY_LIMIT_CONNECTIONS": "12",
    "DJANGO_SETTINGS_MODULE": "tests.support.noted_tools.settings",
}


class Endless:
    """Answers that speak for a while, use a tool that changes something, and speak again; no token
    and no call is like another."""

    def __init__(self, ms: float) -> None:
        self._ms = ms
        self._numbers = itertools.count()

    def __call__(self, request: Received) -> Reply:
        number = next(self._numbers)
        tokens = [f"s{number}-{at} " for at in range(int(4_000 / self._ms))]
        call = Call("note", {"word": f"c{number}", "seconds": 0.3})
        return reply(Say(tokens, ms=self._ms), call)


@pytest.mark.full
@pytest.mark.parametrize(
    ("number", "streams", "ms", "by"),
    [
        pytest.param(2, 8, 40, "uvicorn", id="two"),
        pytest.param(4, 200, 250, "daphne", id="four of Daphne"),
        pytest.param(4, 200, 250, "uvicorn", id="four of uvicorn"),
    ],
)
async def test_servers_are_replaced_while_they_answer(
    number: int, streams: int, ms: float, by: str,
    tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str, redis_url: str,
) -> None:  # fmt: skip
    """16: SIGHUP to the supervisor. No answer ends, no character is lost, no call is made twice."""
    scripted_provider.answer = Endless(ms)
    given = scripted_provider.base_url
    with fleet(tmp_path, postgres_url, redis_url, by, number, given, **LIMITS) as here:
        house = here.house
        house.rows("allow", "note")
        talks = [house.rows("another") for _ in range(streams)]
        watchers = [Watcher([here.address], 0, talk) for talk in talks]
        for each in watchers:
            await each.open()
            assert (await each.send("Go"))["ok"]
        await all_live(watchers, time.monotonic())
        returning = [asyncio.ensure_future(each.keep_open()) for each in watchers]
        slow = await slowness(lambda: watchers[0].ask("messages"))

        first, before = here.servers(), time.monotonic()
        here.process.send_signal(signal.SIGHUP)
        await asyncio.to_thread(here.until, lambda: "All servers were replaced" in here.said)
        took = time.monotonic() - before
        await all_live(watchers, time.monotonic())
        assert not first & here.servers()
        assert here.said.count("Replacing the servers") == 1
        pauses = sorted(each.pause(before) for each in watchers)
        assert ended(watchers) == []
        for task in returning:
            task.cancel()
        for each in watchers:
            assert (await each.ask("stop"))["ok"]
            await each.until(lambda each=each: each.named("chat:stopped"))  # type: ignore[misc]
            await each.close()
        assert "Traceback" not in here.said
    moved = Counter(run["attempt"] for run in house.rows("runs"))
    print(
        f"\n{streams} streams, {number} servers replaced in {took:.1f} s: the longest pause "
        f"{pauses[-1]:.2f} s, p50 {pauses[len(pauses) // 2]:.2f} s; moved {sorted(moved.items())}"
    )
    assert min(moved) >= 1
    for each in watchers:
        kept = house.rows("answer_in", each.conversation_id)
        assert kept["status"] == "cancelled"
        assert not [text for text in each.longest.values() if text not in kept["text"]]
    noted = (tmp_path / "calls.txt").read_text().split()
    assert len(noted) == len(set(noted)) > streams / 2
    # Each that was begun is on its card; a stop may have come before its end.
    assert {word for word, _ in house.rows("calls")} >= set(noted)
    assert house.rows("faults") == []
    assert pauses[-1] < LONGEST_PAUSE + slow
