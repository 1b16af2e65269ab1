"""Real processes that are killed, stopped and paused in the middle of an answer."""

import asyncio
import random
import signal
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.crash.remote import House, RemotePerson, RemoteProgram, RemoteTab, fresh_database
from tests.support.model_server import Call, Say, ScriptedProvider, reply
from tests.support.readme_client import ask
from tests.support.tabs import equal_pages
from tests.support.waiting import eventually, slowness

# Tokens of one length, one every ten milliseconds: how much is lost says how long ago it was.
WIDTH, MS = 6, 10
TOKENS = [f"w{n:04} " for n in range(3_000)]


UVICORN = ("uvicorn", "bare uvicorn")

# A flush comes every half second, and writing it may take as long again.
MOST_LOST = 1.0


def longest_silence(growth: list[tuple[int, float]]) -> float:
    """How long nothing came although a token was due every ten milliseconds: a busy machine."""
    times = [at for _, at in growth]
    return max((b - a for a, b in pairwise(times)), default=0.0)


@pytest.fixture
def provider(scripted_provider: ScriptedProvider) -> ScriptedProvider:
    scripted_provider.answer = reply(Say(TOKENS, ms=MS))
    return scripted_provider


@pytest.mark.parametrize(
    "times", [pytest.param(1, id="once"), pytest.param(20, id="all", marks=pytest.mark.full)]
)
async def test_a_killed_process_loses_half_a_second(
    times: int, tmp_path: Path, provider: ScriptedProvider
) -> None:
    """15: kill -9 at any moment; the next start settles it as interrupted, with its text."""
    house = House(tmp_path, provider.base_url)
    dice = random.Random(15)
    kills = 0
    lost: list[float] = []
    told: list[tuple[int, float]] = []
    waited: list[float] = []
    killed = 0.0
    while True:
        with house.served() as server:
            if kills:
                started = time.monotonic()
                await _settled(house, kills)
                waited.append(time.monotonic() - started)
                kept = house.rows("answers")
                assert kept[-1]["error_key"] == "error.chat_interrupted"
                # The rows may be a frame ahead of what was told.
                assert "".join(TOKENS).startswith(kept[-1]["text"])
                first = next(at for length, at in told if length > len(kept[-1]["text"]))
                lost.append(killed - first - 2 * longest_silence(told))
            # Once or twice it was the machine that was too slow to write, a third time it was not.
            slow = sum(each > MOST_LOST for each in lost)
            if len(lost) - slow == times or slow == 3:
                break
            one = await server.program()
            await one.send("Go")
            tokens = dice.randint(1, 250) if kills else 250
            await one.until(lambda one=one, t=tokens: len(one.spoken) >= t * WIDTH)  # type: ignore[misc]
            server.process.kill()
            killed = time.monotonic()
            told = [*one.growth, (len(TOKENS) * WIDTH, killed)]
            await server.ended()
            await one.until(lambda one=one: one.closed)  # type: ignore[misc]
            kills += 1
            await one.close()
    print(f"\nlost at most {max(lost):.2f} s, settled {max(waited):.1f} s after the start")
    assert slow < 3, lost
    # A lease of twenty seconds, a sweep every five; looking at the rows takes a while, too.
    assert max(waited) < 30 + await slowness(lambda: asyncio.to_thread(house.rows, "answers"), 1)
    assert house.rows("faults") == []


async def _settled(house: House, number: int, seconds: float = 90) -> None:
    """Until no answer is unfinished any more."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kept = await asyncio.to_thread(house.rows, "answers")
        if len(kept) == number and all(each["status"] != "streaming" for each in kept):
            return
        await asyncio.sleep(0.1)
    left = [each for each in kept if each["status"] == "streaming"]
    raise AssertionError(f"{len(left)} of {len(kept)} are not settled within {seconds} s")


@pytest.mark.parametrize(
    "by", ["daphne", *(pytest.param(each, marks=pytest.mark.full) for each in UVICORN)]
)
async def test_a_server_that_is_asked_to_end_settles_first(
    by: str, tmp_path: Path, provider: ScriptedProvider
) -> None:
    """16: SIGTERM; all that was said is kept, and the tabs are told why it ended. (That uvicorn
    ends in order is looked at every day in test_orderly_end.py.)

    Before that the client of the documentation asks something (A18).
    """
    house = House(tmp_path, provider.base_url)
    with house.served(by) as server:
        endless, provider.answer = provider.answer, reply("Hello, program.")
        said = await asyncio.to_thread(ask, server.url, house.conversation, house.cookie, "Hello")
        assert said == "Hello, program."
        provider.answer = endless
        one = await server.program()
        begun = await one.send("Go")
        await one.until(lambda: len(one.spoken) > 50 * WIDTH)
        server.process.terminate()
        await server.ended()
        await one.until(lambda: one.closed)
        shown = one.spoken
        await one.close()
    _, kept = house.rows("answers")
    assert (kept["status"], kept["error_key"]) == ("error", "error.chat_shutdown")
    assert kept["text"].startswith(shown)
    if by != "bare uvicorn":
        # By itself uvicorn closes its sockets first; there the page reads the reason when it comes
        # back.
        ended = await one.ends(begun["request_id"])
        assert (ended["name"], ended["error_key"]) == ("chat:error", "error.chat_shutdown")
    assert house.rows("faults") == []


@pytest.fixture
def shared(tmp_path: Path, provider: ScriptedProvider, postgres_url: str, redis_url: str) -> House:
    """For two servers; with a tool that writes down what it was called with."""
    database = {"DATABASE_URL": fresh_database(postgres_url), "REDIS_URL": redis_url}
    noted = {"DJANGO_SETTINGS_MODULE": "tests.support.noted_tools.settings"}
    house = House(tmp_path, provider.base_url, {**database, **noted})
    house.rows("allow", "note")
    return house


@pytest.mark.full
async def test_a_stop_on_another_process_ends_the_answer(
    shared: House, provider: ScriptedProvider
) -> None:
    """44: its viewer follows the run, and stops it within a second."""
    with shared.served("daphne") as writer, shared.served("uvicorn") as other:
        one, viewer, tab = await writer.program(), await other.program(), await other.tab()
        begun = await one.send("Go")
        await viewer.until(lambda: len(viewer.spoken) > 80 * WIDTH)
        await tab.until(lambda: "w0080" in tab.page.text_of("t"))
        slow = await slowness(lambda: viewer.ask("messages"))
        before = time.monotonic()
        assert (await viewer.ask("stop"))["ok"]
        ended = await viewer.ends(begun["request_id"])
        assert ended["name"] == "chat:stopped"
        assert time.monotonic() - before < 1 + slow
        await one.ends(begun["request_id"])
        await tab.sees_the_end()
        await equal_pages(tab)
        await leave(one, viewer, tab)
    assert shared.rows("faults") == []


@pytest.mark.full
async def test_a_paused_process_cannot_write_any_more(
    shared: House, provider: ScriptedProvider
) -> None:
    """18: its lease runs out, and another goes on with its run; when it wakes up it writes nothing.

    Nobody knows that it is only asleep: not its pid, but its lease decides.
    """
    with shared.served("daphne") as writer, shared.served("uvicorn") as other:
        one, viewer = await writer.program(), await other.program()
        near, far = await writer.tab(), await other.tab()
        begun = await one.send("Go")
        # So long that some of it is stored.
        await viewer.until(lambda: len(viewer.spoken) > 200 * WIDTH)
        provider.answer = reply("and the end.")
        asleep = time.monotonic()
        writer.process.send_signal(signal.SIGSTOP)
        ended = await viewer.ends(begun["request_id"])
        print(f"\ngone on with and done {time.monotonic() - asleep:.1f} s later")
        assert ended["name"] == "chat:complete"
        [run] = shared.rows("runs")
        assert (run["pk"], run["status"], run["attempt"]) == (begun["request_id"], "done", 1)
        [kept] = shared.rows("answers")
        assert_said_once(kept["text"])
        await far.sees_the_end()
        await equal_pages(far)

        writer.process.send_signal(signal.SIGCONT)
        # It hears that the run is not its own any more, and hangs up.
        await provider.until(lambda found: found.requests[0].disconnected_at)
        assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
        assert one.seen.ends[begun["request_id"]] == ["success"]
        await near.sees_the_end()
        await equal_pages(near, far)
        assert (shared.rows("answers"), shared.rows("runs")) == ([kept], [run])
        assert_said_once(near.page.answers()[0])
        # It serves as before.
        again = await one.send("Again")
        assert (await one.ends(again["request_id"]))["name"] == "chat:complete"
        assert len(provider.requests) == 3
        await leave(one, viewer, near, far)
    assert shared.rows("faults") == []


def assert_said_once(text: str) -> None:
    """As many tokens as were kept, in their order, and then the end that another process made."""
    words, tail = text.split("and the end.")
    assert tail.strip() == ""
    assert words.strip()
    assert "".join(TOKENS).startswith(words.strip())


@pytest.mark.full
async def test_a_paused_process_with_a_tool_at_work_is_not_gone_on_for(
    shared: House, provider: ScriptedProvider
) -> None:
    """17, 18: the tool may have changed something, so a person decides; it was run once."""
    provider.answer = reply("I will. ", Call("note", {"word": "once", "seconds": 600}))
    with shared.served("daphne") as writer, shared.served("uvicorn") as other:
        one, viewer = await writer.program(), await other.program()
        near, far = await writer.tab(), await other.tab()
        begun = await one.send("Go")
        await eventually(lambda: noted(shared))
        writer.process.send_signal(signal.SIGSTOP)
        ended = await viewer.ends(begun["request_id"])
        assert (ended["name"], ended["error_key"]) == ("chat:error", "error.chat_interrupted")
        kept, [run] = shared.rows("answers"), shared.rows("runs")
        assert (run["pk"], run["status"], run["attempt"]) == (begun["request_id"], "failed", 0)
        writer.process.send_signal(signal.SIGCONT)
        await one.until(lambda: one.events[-1]["name"] in ("chat:snapshot", "chat:error"))
        for tab in (near, far):
            await tab.sees_the_end()
            await equal_pages(tab)
        assert (shared.rows("answers"), shared.rows("runs")) == (kept, [run])
        assert noted(shared) == ["once"]
        assert len(provider.requests) == 1
        # Who wants it to go on says so, at either.
        provider.answer = reply("and the end.")
        again = await one.ask("continue", message_id=ended["message_id"])
        assert (await one.ends(again["request_id"]))["name"] == "chat:complete"
        assert noted(shared) == ["once"]
        await leave(one, viewer, near, far)
    assert shared.rows("faults") == []


def noted(house: House) -> list[str]:
    """What the tool was called with."""
    file = house.data / "calls.txt"
    return file.read_text().split() if file.exists() else []


async def leave(*those: RemoteProgram | RemoteTab) -> None:
    for each in those:
        await (each.close() if isinstance(each, RemoteProgram) else each.cut())


@pytest.mark.full
async def test_five_hundred_orphans_do_not_hold_up_the_start(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    """20: all are settled, the first page comes within two seconds, a program is answered (A18)."""
    house = House(tmp_path, provider.base_url)
    provider.answer = reply("Hello, program.")
    house.rows("orphans", "500")
    with house.served() as server:
        alice = RemotePerson(server)
        asked = time.monotonic()
        page = await alice.page(house.conversation)
        took = time.monotonic() - asked
        assert "A talk" in page.text_of("title")
        await _settled(house, 500, 120)
        said = await asyncio.to_thread(ask, server.url, house.conversation, house.cookie, "Hello")
        assert said == "Hello, program."
        print(f"\nthe first page took {took:.2f} s")
        assert took < 2 + await slowness(lambda: alice.page(house.conversation))
    kept = house.rows("answers")
    assert {(each["error_key"], each["text"]) for each in kept} == {
        ("error.chat_interrupted", "Half a sent"),
        ("", "Hello, program."),
    }
