"""Where somebody is logged in: the list, and how each is ended."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import LogIn, QueuedMessage
from chat.rendering.page.account import agent_in_words
from chat.services.people import log_ins
from chat.services.runs.run import RUNS
from chat.services.upkeep.prune import prune_now
from tests.support import factories as make
from tests.support.factories import PASSWORD
from tests.support.model_server import Wait, reply
from tests.support.page import LivePage
from tests.support.site import Programs, Site
from tests.support.tabs import Person, impatient, in_thread
from tests.support.waiting import eventually

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"
)
PAGE = "/settings/account/"
NEW = {"new_password1": "a longer horse 7", "new_password2": "a longer horse 7"}


def browser(user: User, agent: str = FIREFOX, address: str = "198.51.100.7") -> Client:
    """Somebody logged in, who has opened a page."""
    client = Client(REMOTE_ADDR=address, headers={"user-agent": agent})
    client.force_login(user)
    assert client.get(PAGE).status_code == 200
    return client


def is_in(client: Client) -> bool:
    return client.get(PAGE).status_code == 200


@pytest.fixture
def bea(db: None) -> User:
    log_ins._noted.clear()
    return make.a_user("bea")


def listed(client: Client) -> list[str]:
    page = LivePage(client.get(PAGE).content.decode())
    return [" ".join(" ".join(li.itertext()).split()) for li in page.root.iter("li")]


def test_the_list_says_where_and_when_this_one_first(bea: User) -> None:
    here = browser(bea)
    browser(bea, IPHONE, "203.0.113.9")
    first, second = (each for each in listed(here) if "last used" in each)
    assert first.startswith("Firefox on Linux this one 198.51.100.7 · last used")
    assert second.startswith("Safari on iPhone 203.0.113.9 · last used")
    assert "Log out" in second
    assert "Log out" not in first


def test_one_browser_is_logged_out_by_another(bea: User) -> None:
    here, phone, tablet = browser(bea), browser(bea, IPHONE), browser(bea)
    row = LogIn.objects.get(agent=IPHONE)
    here.post(f"{PAGE}log-ins/", {"log_in": str(row.pk)})
    assert (is_in(here), is_in(phone), is_in(tablet)) == (True, False, True)
    here.post(f"{PAGE}log-ins/", {"others": "1"})
    assert (is_in(here), is_in(tablet)) == (True, False)
    assert Session.objects.count() == LogIn.objects.count() == 1


def test_nobody_logs_somebody_else_out(bea: User) -> None:
    here, other = browser(bea), browser(make.a_user("cleo"))
    for data in ({"log_in": str(LogIn.objects.get(user=bea).pk)}, {"others": "1"}, {}):
        assert other.post(f"{PAGE}log-ins/", data).status_code == 302
    assert is_in(here)


def test_a_new_password_logs_out_everywhere_else(bea: User) -> None:
    here, phone = browser(bea), browser(bea, IPHONE)
    for wrong in (
        {**NEW, "old": "wrong"},
        {**NEW, "old": PASSWORD, "new_password2": "another horse 7"},
        {"old": PASSWORD, "new_password1": "12345678", "new_password2": "12345678"},
        NEW,
    ):
        assert here.post(f"{PAGE}password/", wrong).status_code == 422
    assert is_in(phone)
    changed = here.post(f"{PAGE}password/", {**NEW, "old": PASSWORD}, follow=True)
    assert "Your password was changed." in changed.content.decode()
    assert (is_in(here), is_in(phone)) == (True, False)
    assert Session.objects.count() == LogIn.objects.count() == 1
    assert User.objects.get().check_password(NEW["new_password1"])


def test_whoever_has_no_password_sets_one(bea: User) -> None:
    bea.set_unusable_password()
    bea.save()
    here = browser(bea)
    page = here.get(PAGE).content.decode()
    assert "Set a password" in page
    assert "Current password" not in page
    assert here.post(f"{PAGE}password/", NEW).status_code == 302
    assert is_in(here)


def test_an_open_browser_is_no_place_to_guess_a_password(bea: User) -> None:
    """The attempts count with those at the door."""
    here = browser(bea)
    for _ in range(5):
        page = here.post(f"{PAGE}password/", {**NEW, "old": "wrong"}).content.decode()
        assert "This is not your password." in page
    page = here.post(f"{PAGE}password/", {**NEW, "old": PASSWORD}).content.decode()
    assert "Too many attempts." in page


def test_a_name_and_an_address(bea: User) -> None:
    """The address opens the account, so it takes the password; a name does not."""
    here = browser(bea)
    assert here.post(PAGE, {"name": " Bea  B. ", "email": ""}).status_code == 302
    mail = {"name": "Bea", "email": "bea@example.org"}
    assert here.post(PAGE, mail).status_code == 422
    bea.refresh_from_db()
    assert (bea.first_name, bea.email) == ("Bea B.", "")
    assert here.post(PAGE, {**mail, "password": PASSWORD}).status_code == 302
    # One that stays as it was takes none.
    assert here.post(PAGE, {**mail, "name": "B"}).status_code == 302
    bea.refresh_from_db()
    assert (bea.first_name, bea.email) == ("B", "bea@example.org")


def test_a_visit_is_written_down_now_and_then(bea: User) -> None:
    here = browser(bea)
    with CaptureQueriesContext(connection) as asked:
        here.get(PAGE)
    assert [query for query in asked.captured_queries if "UPDATE" in query["sql"]] == []
    old = timezone.now() - timedelta(hours=1)
    LogIn.objects.update(seen=old, address="192.0.2.1")
    log_ins._noted.clear()
    here.get(PAGE)
    row = LogIn.objects.get()
    assert row.seen > old
    assert row.address == "198.51.100.7"


def test_what_belongs_to_sessions_that_are_gone_goes(bea: User) -> None:
    here, _other = browser(bea), browser(bea, IPHONE)
    kept = here.session.session_key
    Session.objects.exclude(pk=kept).delete()
    assert len([each for each in listed(here) if "last used" in each]) == 1
    prune_now()
    assert LogIn.objects.get().session_key == kept
    here.post("/accounts/logout/")
    assert not LogIn.objects.exists()


WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
AGENTS = {
    FIREFOX: "Firefox on Linux",
    IPHONE: "Safari on iPhone",
    f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/131.0 Safari/537.36 Edg/131.0": (
        "Edge on Windows"
    ),
    f"Mozilla/5.0 (Linux; Android 15) {WEBKIT} Chrome/131.0 Mobile Safari/537.36": (
        "Chrome on Android"
    ),
    f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {WEBKIT} Version/18.1 Safari/605.1": (
        "Safari on macOS"
    ),
    "curl/8.5.0": "curl",
    "python-httpx/0.28.1": "python-httpx",
    "": "Unknown browser",
    "<script>": "Unknown browser",
}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_browser_in_words(agent: str) -> None:
    assert agent_in_words(agent) == AGENTS[agent]


# --- and its sockets ---------------------------------------------------------------------


async def log_in_rows(person: Person) -> Any:
    await person.client.get(PAGE)
    key = person.client.cookies["parley_sessionid"].value
    return await LogIn.objects.aget(session_key=key)


async def test_the_sockets_of_a_log_in_close_with_it(site: Site, program: Programs) -> None:
    """At once, and no others; temporary chats that were begun in it go too."""
    elsewhere = await Person(site.alice.user).enter()
    here, there = await program(), await program(elsewhere)
    row = await log_in_rows(elsewhere)
    await log_in_rows(site.alice)
    await site.alice.client.post(f"{PAGE}log-ins/", {"log_in": str(row.pk)})
    await eventually(lambda: there.closed)
    assert there.closed == 4401
    assert (await here.ask("messages"))["ok"]


async def test_a_new_password_closes_the_sockets_of_before(site: Site, program: Programs) -> None:
    elsewhere = await Person(site.alice.user).enter()
    there = await program(elsewhere)
    form = {**NEW, "old": PASSWORD}
    assert (await site.alice.client.post(f"{PAGE}password/", form)).status_code == 302
    await eventually(lambda: there.closed)
    here = await program()
    assert (await here.ask("messages"))["ok"]


async def test_whoever_is_switched_off_is_shown_out_at_once(site: Site, program: Programs) -> None:
    """S14: and what is written for them stops; what they queued waits."""
    one = await program()
    site.provider.script(reply("Half", Wait()))
    sent = await one.send("Go")
    await one.hears("Half")
    assert (await one.send("Then this", queue=True))["ok"]

    @in_thread
    def switch_off() -> None:
        person = User.objects.get(pk=site.alice.user.pk)
        person.is_active = False
        person.save()

    await switch_off()
    await eventually(lambda: one.closed)
    assert one.closed == 4401
    await eventually(lambda: not RUNS)
    assert sent["ok"]
    assert await QueuedMessage.objects.acount() == 1
    assert len(site.provider.requests) == 1


async def test_a_hint_that_was_lost_is_made_up_for(site: Site, program: Programs) -> None:
    """By the next comparison, a few seconds later: here at once."""
    with impatient(0.05):
        one = await program()
        await in_thread(Session.objects.all().delete)()
        await eventually(lambda: one.closed)
    assert one.closed == 4401


async def test_a_person_has_so_many_sockets_and_no_more(
    site: Site, program: Programs, settings: Any
) -> None:
    """S8."""
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "sockets_per_user": 2}
    bob = await Person(await in_thread(make.a_user)("bob")).enter()
    theirs = await in_thread(make.a_conversation)(bob.user)
    first, _second = await program(), await program()
    third = await program(attach=False)
    await eventually(lambda: third.closed)
    assert third.closed == 4430
    assert (await (await program(bob, theirs)).ask("messages"))["ok"]
    await first.close()
    assert (await (await program()).ask("messages"))["ok"]
