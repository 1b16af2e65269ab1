"""Two servers whose clocks are wrong and jump: nothing that matters goes by them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.crash.remote import House, RemotePerson, fresh_database
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.tabs import equal_pages

MS = 10
TOKENS = [f"w{n:05} " for n in range(30_000)]
WRONG = {"DJANGO_SETTINGS_MODULE": "tests.support.shifted_clock.settings"}
# More than a lease lasts, even that of everyday.
MUCH = 120


@pytest.mark.full
@pytest.mark.parametrize("ahead", [MUCH, -MUCH])
async def test_answers_go_on_through_every_jump(
    ahead: int, tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str,
    redis_url: str,
) -> None:  # fmt: skip
    """31: the clock of one server jumps two minutes to and fro while it answers, that of the other
    is wrong all the time. Nobody is logged out, no lease ends, no word is told twice or in another
    order; and when the first is killed, the other goes on although its clock says otherwise."""
    scripted_provider.answer = reply(Say(TOKENS, ms=MS))
    settings = {"DATABASE_URL": fresh_database(postgres_url), "REDIS_URL": redis_url}
    house = House(tmp_path, scripted_provider.base_url, settings)
    jumps, wrong = tmp_path / "jumps", tmp_path / "wrong"
    wrong.write_text(str(ahead))
    with (
        house.served("daphne", CLOCK=str(jumps), **WRONG) as first,
        house.served("uvicorn", CLOCK=str(wrong), **WRONG) as second,
    ):
        own, other = await first.program(), await second.program()
        tab, far = await first.tab(), await second.tab()
        begun = await own.send("Go")
        for jump in (MUCH, -MUCH, 0, -MUCH, MUCH):
            jumps.write_text(str(jump))
            # Leases of three seconds, renewed every second.
            said = len(own.spoken) + 3 * 100 * 7
            for each in (own, other):
                await each.until(lambda e=each, n=said: len(e.spoken) > n)  # type: ignore[misc]
            page = await RemotePerson(first).page(house.conversation)
            assert "w00000" in page.text_of("t")
        [run] = house.rows("runs")
        assert (run["status"], run["attempt"]) == ("active", 0)
        for each in (own, other):
            assert "".join(TOKENS).startswith(each.spoken)
            assert each.seen.taken_back == []

        scripted_provider.answer = reply("and the end.")
        first.process.kill()
        await asyncio.gather(first.ended(), own.until(lambda: own.closed))
        assert (await other.ends(begun["request_id"]))["name"] == "chat:complete"
        await far.sees_the_end()
        tab.person.server = second
        await tab.open()
        await tab.sees_the_end()
        await equal_pages(tab, far)
        again: dict[str, Any] = await other.send("Again")
        assert (await other.ends(again["request_id"]))["name"] == "chat:complete"
        await asyncio.gather(own.close(), other.close(), tab.cut(), far.cut())
    attempts = {run["pk"]: run["attempt"] for run in house.rows("runs")}
    assert attempts == {begun["request_id"]: 1, again["request_id"]: 0}
    assert house.rows("faults") == []
