"""A8: who is watching decides whether an answer goes on; and who may not watch any more."""

import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.models import Agent, Generation, Message, Profile, View
from chat.services import Caller, Subscription, send
from chat.services.broadcast import PROCESSES
from chat.services.notes import Seen
from chat.services.processes.presence import forget_views, stop_unwatched
from chat.services.runs.run import RUNS
from tests.support import factories as make
from tests.support.model_server import Gate, Wait, reply
from tests.support.site import Programs, Site
from tests.support.sockets import Wire
from tests.support.tabs import COMPARE_EVERY, Person, Tab, equal_pages, impatient, in_thread
from tests.support.waiting import PATIENCE, eventually, slowness

GRACE = 0.3


@pytest.fixture(autouse=True)
def a_short_grace(settings: Any) -> None:
    settings.PARLEY_LIMITS = {
        **settings.PARLEY_LIMITS, "grace_seconds": GRACE, "renew_seconds": 0.1
    }  # fmt: skip


async def a_while(seconds: float) -> None:
    """So long that an answer nobody watches would have been stopped."""
    looks = asyncio.get_running_loop().time() + seconds
    await eventually(lambda: asyncio.get_running_loop().time() > looks)


def the_answer() -> Message:
    return Message.objects.get(role="assistant")


async def test_the_last_tab_closed_stops_it_and_says_why(site: Site) -> None:
    """Closing one of two changes nothing; after the last one the grace time runs."""
    tab, other = await site.tab(), await site.tab()
    site.provider.script(reply("Half", Wait()))
    await tab.send("Go")
    await tab.sees("Half")
    await other.until(lambda: other.running)
    await tab.close()
    await a_while(3 * GRACE)
    assert RUNS
    await other.close()
    await eventually(lambda: not RUNS)
    answer = await in_thread(the_answer)()
    assert answer.status == "cancelled"
    assert answer.error_data["reason"] == "unwatched"
    fresh = await site.tab()
    assert "nobody was watching" in fresh.page.text_of("t")
    await equal_pages(fresh)


async def test_who_has_just_asked_may_be_on_the_way_to_the_page(site: Site, settings: Any) -> None:
    """An answer that no tab shows yet is not stopped before the grace time is over."""
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "grace_seconds": 60, "renew_seconds": 60}
    gate = Gate()
    site.provider.script(reply(gate, "Here."))
    await send(Caller(site.alice.user.pk), site.talk.pk, "Go")
    await eventually(gate.reached.is_set)
    await stop_unwatched()
    gate.open()
    await eventually(lambda: not RUNS)
    assert (await in_thread(the_answer)()).status == "success"


@pytest.mark.parametrize("said", ["detach", "nothing"])
async def test_a_tab_that_goes_to_another_page_still_counts(said: str, site: Site) -> None:
    """Switching is not closing, whether or not the page says that it goes."""
    gate = Gate()
    site.provider.script(reply("Half", gate, " and the rest"))
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees("Half")
    elsewhere = Tab(site.alice, (await in_thread(make.a_conversation)(site.alice.user)).pk)
    elsewhere.tab_id = tab.tab_id
    await elsewhere.load()
    if said == "detach":
        await tab.ask("detach")
    # The next page may be there before the last one is gone.
    await elsewhere.open()
    site.tabs.append(elsewhere)
    await tab.cut()
    await a_while(3 * GRACE)
    assert RUNS
    await elsewhere.close()
    await eventually(lambda: not RUNS)
    assert (await in_thread(the_answer)()).error_data["reason"] == "unwatched"
    gate.open()


async def test_a_page_without_a_conversation_keeps_the_tab_open(site: Site) -> None:
    """A new chat, the settings, the administration."""
    site.provider.script(reply("Half", Wait()))
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees("Half")
    await tab.close()
    settings_page = Wire("/ws/", site.alice.headers)
    assert await settings_page.accepted()
    settings_page.send(json.dumps({"command": "attach", "tab_id": tab.tab_id, "client_id": "a"}))
    await settings_page.receive()
    await a_while(3 * GRACE)
    assert RUNS
    settings_page.send(json.dumps({"command": "detach", "client_id": "b"}))
    await eventually(lambda: not RUNS)
    await settings_page.close()


async def test_a_copied_tab_closed_leaves_the_other_watching(site: Site) -> None:
    """A copy has the same tab id."""
    site.provider.script(reply("Half", Wait()))
    tab = await site.tab()
    copy = await Tab(site.alice, site.talk.pk).load()
    copy.tab_id = tab.tab_id
    site.tabs.append(await copy.open())
    await tab.send("Go")
    await copy.sees("Half")
    await tab.close()
    await a_while(3 * GRACE)
    assert RUNS
    await copy.close()
    await eventually(lambda: not RUNS)


async def test_a_lost_connection_is_waited_for_much_longer(site: Site, settings: Any) -> None:
    """A lid, a tunnel, a phone in a pocket; but not for ever."""
    site.provider.script(reply("Half", Wait()))
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees("Half")
    await tab.cut()
    await a_while(3 * GRACE)
    assert RUNS
    await tab.open()
    await tab.until(lambda: tab.running)
    await tab.cut()
    await a_while(3 * GRACE)
    assert RUNS
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "lost_seconds": GRACE}
    await eventually(lambda: not RUNS)
    assert (await in_thread(the_answer)()).error_data["reason"] == "unwatched"
    assert await in_thread(View.objects.exists)()
    await in_thread(forget_views)()
    assert not await in_thread(View.objects.exists)()


async def test_a_tab_that_leaves_before_its_first_answer_is_shown_still_counts(site: Site) -> None:
    """The first message is posted; the person goes elsewhere before that page is connected."""
    site.provider.script(reply("Half", Wait()))
    elsewhere = await site.tab()
    await site.alice.client.post("/new/", {"content": "Go", "tab_id": elsewhere.tab_id})
    await a_while(3 * GRACE)
    assert RUNS
    await elsewhere.close()
    await eventually(lambda: not RUNS)


async def test_a_reload_within_the_grace_time_stops_nothing(site: Site, settings: Any) -> None:
    tab = await site.tab()

    async def reload() -> None:
        await tab.close()
        await tab.load()
        await tab.open()

    grace = 1 + await slowness(reload)
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "grace_seconds": grace}
    gate = Gate()
    site.provider.script(reply("Half", gate, " and the rest"))
    await tab.send("Go")
    await tab.sees("Half")
    for _ in range(3):
        await reload()
    await a_while(grace + 0.2)
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
    await tab.close()
    await a_while(3 * GRACE)
    assert RUNS
    gate.open()
    await eventually(lambda: not RUNS)
    assert (await in_thread(the_answer)()).status == "success"


async def test_an_answer_without_any_view_is_stopped(site: Site) -> None:
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
    await eventually(lambda: here.closed)
    assert here.closed == 4401
    assert there.closed is None
    assert (await there.ask("messages"))["ok"]


async def test_somebody_deactivated_is_shown_out(site: Site, program: Programs) -> None:
    """47: within thirty seconds; here the sockets compare faster."""
    assert COMPARE_EVERY * 5 < 30
    with impatient(0.05):
        one = await program()
        await in_thread(User.objects.filter(pk=site.alice.user.pk).update)(is_active=False)
        await eventually(lambda: one.closed)
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


async def test_a_program_that_only_asks_watches_an_answer_of_another_process(
    site: Site, program: Programs
) -> None:
    """Each of its questions is told to whoever writes the answer, and nobody where that is here."""
    others = await Subscription.open()
    await others.join([PROCESSES])
    one = await program(attach=False)
    assert (await one.ask("messages"))["ok"]
    assert await asyncio.wait_for(others.receive(), PATIENCE) == Seen(str(site.talk.pk))
    await others.close()
