"""A8: who is watching decides whether an answer goes on; and who may not watch any more."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.consumers import ChatConsumer
from chat.models import Agent, Generation, Message, Profile, View
from chat.services.runs import RUNS
from tests.live.conftest import Site
from tests.live.driver import Person, equal_pages, eventually, impatient, in_thread
from tests.provider import Gate, Wait, reply
from tests.turns.conftest import Programs

GRACE = 0.3


@pytest.fixture(autouse=True)
def a_short_grace(settings: Any) -> None:
    settings.PARLEY_LIMITS = {
        **settings.PARLEY_LIMITS, "grace_seconds": GRACE, "renew_seconds": 0.1
    }  # fmt: skip


def the_answer() -> Message:
    return Message.objects.get(role="assistant")


async def test_the_last_view_gone_stops_it_and_says_why(site: Site) -> None:
    tab, other = await site.tab(), await site.tab()
    site.provider.script(reply("Half", Wait()))
    await tab.send("Go")
    await tab.sees("Half")
    await other.until(lambda: other.running)
    await other.cut()
    await tab.cut()
    await eventually(lambda: not RUNS)
    answer = await in_thread(the_answer)()
    assert answer.status == "cancelled"
    assert answer.error_data["reason"] == "unwatched"
    fresh = await site.tab()
    assert "nobody was watching" in fresh.page.text_of("t")
    await equal_pages(fresh)


async def test_a_reload_within_the_grace_time_stops_nothing(site: Site, settings: Any) -> None:
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "grace_seconds": 1}
    gate = Gate()
    tab = await site.tab()
    site.provider.script(reply("Half", gate, " and the rest"))
    await tab.send("Go")
    await tab.sees("Half")
    for _ in range(3):
        await tab.cut()
        await tab.load()
        await tab.open()
    looks = asyncio.get_running_loop().time() + 1.2
    await eventually(lambda: asyncio.get_running_loop().time() > looks)
    gate.open()
    await tab.sees_the_end()
    assert (await in_thread(the_answer)()).status == "success"


@pytest.mark.parametrize("policy", ["agent", "profile"])
async def test_it_goes_on_unwatched_where_that_is_wanted(policy: str, site: Site) -> None:
    """By the agent's policy, or by the person's own wish."""
    if policy == "agent":
        await in_thread(Agent.objects.update)(unwatched="continue")
    else:
        await in_thread(Profile.objects.create)(user=site.alice.user, keep_generating=True)
    gate = Gate()
    tab = await site.tab()
    site.provider.script(reply("Half", gate, " and the rest"))
    await tab.send("Go")
    await tab.sees("Half")
    await tab.cut()
    looks = asyncio.get_running_loop().time() + 2 * GRACE
    await eventually(lambda: asyncio.get_running_loop().time() > looks)
    assert RUNS
    gate.open()
    await eventually(lambda: not RUNS)
    assert (await in_thread(the_answer)()).status == "success"


async def test_a_view_that_died_with_its_process_does_not_count(site: Site) -> None:
    """No socket here has closed: the sweep sees that nobody is left."""
    tab = await site.tab()
    site.provider.script(reply("Half", Wait()))
    await tab.send("Go")
    await tab.sees("Half")
    await in_thread(View.objects.all().delete)()
    await eventually(lambda: not RUNS)
    assert (await in_thread(the_answer)()).error_data["reason"] == "unwatched"
    await tab.sees_the_end()


async def test_logging_out_closes_the_sockets_of_that_session_only(
    site: Site, program: Programs
) -> None:
    """47: at once, with the code that tells a page to stay away; no command counts after it."""
    elsewhere = await Person(site.alice.user).enter()
    here, there = await program(), await program(elsewhere)
    await site.alice.client.post("/accounts/logout/")
    await eventually(lambda: here.closed, 2)
    assert here.closed == 4401
    assert there.closed is None
    assert (await there.ask("messages"))["ok"]


async def test_somebody_deactivated_is_shown_out(site: Site, program: Programs) -> None:
    """47: within thirty seconds; here the sockets compare faster."""
    assert ChatConsumer.compare_every * 5 < 30
    with impatient(0.05):
        one = await program()
        await in_thread(User.objects.filter(pk=site.alice.user.pk).update)(is_active=False)
        await eventually(lambda: one.closed, 5)
    assert one.closed == 4401


async def test_a_deleted_user_leaves_nothing_running(site: Site, program: Programs) -> None:
    """47: rows, run and sockets are gone."""
    one = await program()
    site.provider.script(reply("Half", Wait()))
    await one.send("Go")
    await one.hears("Half")
    with impatient(0.05):
        await in_thread(User.objects.filter(pk=site.alice.user.pk).delete)()
        await eventually(lambda: not RUNS)
    assert await in_thread(Generation.objects.count)() == 0


async def test_a_deleted_conversation_stops_and_closes(site: Site, program: Programs) -> None:
    """46: and what is brought back is what was said."""
    one, other = await program(), await program()
    site.provider.script(reply("Half", Wait()))
    await one.send("Go")
    await one.hears("Half")
    await site.alice.client.post("/organise/", {"delete": str(site.talk.pk)})
    await eventually(lambda: one.closed == other.closed == 4404)
    await eventually(lambda: not RUNS)
    assert (await in_thread(the_answer)()).status == "cancelled"
    await site.alice.client.post("/organise/", {"restore": str(site.talk.pk)})
    assert "Half" in (await site.alice.page(site.talk.pk)).text_of("t")
