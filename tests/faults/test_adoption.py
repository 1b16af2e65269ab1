"""A server has died of hundreds of answers: the others take all of them up, each once, and lose
none of their own over it."""

import time
from collections import Counter
from pathlib import Path

import pytest

from tests.crash.remote import House, fresh_database
from tests.faults.test_changing_process import endless, longest_pause
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.waiting import eventually

ORPHANS = 300
LIMITS = {"PARLEY_LIMIT_GENERATIONS_PER_USER": "1000", "PARLEY_TITLES": "first"}


@pytest.mark.full
async def test_hundreds_are_taken_up_once(
    tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str, redis_url: str
) -> None:
    """20: with leases of three seconds, less than it takes to take up all of them."""
    scripted_provider.answer = reply(Say(endless("a"), ms=20))
    settings = {"DATABASE_URL": fresh_database(postgres_url), "REDIS_URL": redis_url, **LIMITS}
    house = House(tmp_path, scripted_provider.base_url, settings)
    with house.served() as first, house.served("uvicorn") as second:
        own = [await server.program(house.rows("another")) for server in (first, second)]
        begun = [(await each.send("Go"))["request_id"] for each in own]
        for each in own:
            await each.hears("a00010 ")
        scripted_provider.answer = reply("and the rest.")
        house.rows("orphans", str(ORPHANS), "0")
        before = time.monotonic()

        def orphans() -> list[dict[str, object]]:
            return [run for run in house.rows("runs") if run["pk"] not in begun]

        await eventually(lambda: all(run["status"] == "done" for run in orphans()))
        took = time.monotonic() - before
        pauses = ", ".join(f"{longest_pause(each, before):.2f} s" for each in own)
        taken = Counter(run["process"] for run in orphans())
        print(f"\n{ORPHANS} done after {took:.1f} s, {sorted(taken.values())}; own: {pauses}")
        assert Counter(run["attempt"] for run in orphans()) == {1: ORPHANS}
        # Both have a share of it, and what they were writing themselves is theirs.
        assert len(taken) == 2
        assert min(taken.values()) > ORPHANS / 10
        assert len(scripted_provider.requests) == ORPHANS + len(own)
        for each, request_id in zip(own, begun, strict=True):
            [mine] = [run for run in house.rows("runs") if run["pk"] == request_id]
            assert (mine["status"], mine["attempt"]) == ("active", 0)
            assert (await each.ask("stop"))["ok"]
            assert (await each.ends(request_id))["name"] == "chat:stopped"
            await each.close()
    kept = Counter(each["text"] for each in house.rows("answers") if each["status"] == "success")
    assert kept == {"Half a sentand the rest.": ORPHANS}
    assert house.rows("faults") == []
