"""A page that shows messages in the middle of a conversation, while the conversation goes on."""

import pytest

from chat import services
from chat.models import Message, Part
from chat.protocol import transcript
from chat.protocol.transcript import MOST_MESSAGES, MOST_PARTS, Shown
from tests.support import factories as make
from tests.support.model_server import Gate, Say, refuse, reply
from tests.support.page import LivePage
from tests.support.site import Site
from tests.support.tabs import Tab, equal_pages, in_thread
from tests.support.waiting import eventually


def positions(page: LivePage) -> list[int]:
    return [int(message.get("id", "")[1:]) for message in page.messages()]


@pytest.fixture
async def long_talk(site: Site) -> Site:
    await in_thread(make.a_talk)(site.talk, 120)
    return site


async def window_and_end(site: Site) -> tuple[Tab, Tab]:
    return await site.tab(query="?at=30"), await site.tab()


async def test_an_answer_below_a_window_is_not_put_into_it(long_talk: Site) -> None:
    """The composer shows that an answer is written; the messages stay as they are."""
    window, end = await window_and_end(long_talk)
    gate = Gate()
    long_talk.provider.script(reply(Say("The beginning "), gate, Say("and the end.")))
    await end.send("A question")
    await eventually(gate.reached.is_set)
    await window.until(lambda: window.running)
    await equal_pages(window)
    gate.open()
    await end.sees_the_end()
    await window.until(lambda: not window.running)
    assert positions(window.page) == list(range(5, 55))
    await equal_pages(window)


async def test_an_answer_that_fails_below_a_window_holds_the_queue_there_too(
    long_talk: Site,
) -> None:
    window, end = await window_and_end(long_talk)
    long_talk.provider.script(refuse(401))
    await end.send("A question")
    await end.sees_the_end()
    await window.until(lambda: "failed" in window.page.text_of("status"))
    await equal_pages(window)


async def test_what_is_sent_from_a_window_is_put_at_the_end(long_talk: Site) -> None:
    """Its reader has not seen the last message and knows it; then the page shows the latest, as
    scroll.js does it: it shows nothing, and says so."""
    window, end = await window_and_end(long_talk)
    long_talk.provider.script(reply("Here."))
    assert (await window.ask("send", content="From afar"))["ok"]
    await end.sees("Here.")
    assert "From afar" not in window.page.text_of("t")
    window.page.by_id("t")[:] = []
    window.query = ""
    window.attach()
    await window.sees("Here.")
    assert positions(window.page) == positions(await long_talk.alice.page(long_talk.talk.pk))


async def test_an_edit_changes_a_window_and_takes_what_follows_out_of_it(long_talk: Site) -> None:
    window, end = await window_and_end(long_talk)
    long_talk.provider.script(reply("Another answer."))
    said = next(
        message.get("data-id") for message in window.page.messages() if message.get("id") == "m41"
    )
    assert (await window.ask("edit", message_id=said, content="Said otherwise"))["ok"]
    await window.sees("Said otherwise")
    await end.sees("Another answer.")
    await window.until(lambda: positions(window.page) == list(range(5, 42)))
    assert "Another answer." not in window.page.text_of("t")


async def test_the_messages_that_come_below_end_with_the_one_being_written(
    long_talk: Site,
) -> None:
    """`newer` gives the answer as far as it has come; from there the socket brings it on."""
    end = await long_talk.tab()
    gate = Gate()
    long_talk.provider.script(reply(Say("The beginning "), gate, Say("and the end.")))
    await end.send("A question")
    await eventually(gate.reached.is_set)
    path = f"/c/{long_talk.talk.pk}/newer/?after="
    first = (await long_talk.alice.client.get(f"{path}54")).content.decode()
    assert 'id="newer"' in first
    last = (await long_talk.alice.client.get(f"{path}104")).content.decode()
    assert 'id="newer"' not in last
    assert "The beginning" in last
    assert "data-n=" in last
    gate.open()
    await end.sees_the_end()


@in_thread
def remove(site: Site, position: int) -> None:
    services.remove_message(Message.objects.shown().get(conversation=site.talk, position=position))


@in_thread
def amend(site: Site, position: int) -> None:
    part = Part.objects.get(message__conversation=site.talk, message__position=position)
    services.amend_part(part, "Corrected.", services.amendable(part))


async def test_what_changed_above_the_latest_is_seen_by_who_comes_back(long_talk: Site) -> None:
    """The page shows messages that are not among the latest."""
    window, _ = await window_and_end(long_talk)
    await window.cut()
    await amend(long_talk, 31)
    await window.open()
    await window.sees("Corrected.")
    await equal_pages(window)
    await window.cut()
    await remove(long_talk, 20)
    await window.open()
    await window.until(lambda: 20 not in positions(window.page))
    assert positions(window.page) == [*range(5, 20), *range(21, 55)]


async def test_a_first_message_that_went_before_the_socket_was_there_is_taken_off(
    site: Site,
) -> None:
    await in_thread(make.a_talk)(site.talk, 4)
    tab = await Tab(site.alice, site.talk.pk).load()
    site.tabs.append(tab)
    await remove(site, 1)
    await tab.open()
    await equal_pages(tab)


@pytest.mark.parametrize("query", ["", "?at=30"])
async def test_a_page_that_shows_more_than_can_be_compared_is_given_the_latest(
    long_talk: Site, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """With the way to what stands before them, and nothing twice."""
    monkeypatch.setattr(transcript, "MOST_MESSAGES", 49)
    tab = await long_talk.tab(query=query)
    tab.query = ""
    await tab.until(lambda: positions(tab.page)[-1:] == [120])
    await equal_pages(tab)
    long_talk.provider.script(reply("And more."))
    await tab.send("On and on?")
    await tab.sees("And more.")
    assert positions(tab.page)[-2:] == [121, 122]


def test_no_more_is_taken_up_of_what_a_page_says_than_a_page_can_show() -> None:
    """Invented messages would be kept for as long as the socket is open."""
    most = {str(position): "streaming 1.1.0" for position in range(MOST_MESSAGES)}
    parts = {f"p7-{part}": 1 for part in range(MOST_PARTS)}
    shown = Shown.from_json({"messages": most, "parts": parts})
    assert len(shown.messages) == MOST_MESSAGES
    assert len(shown.parts[7]) == MOST_PARTS
    for more in ({"messages": {**most, "9999": ""}, "parts": {}},
                 {"messages": {}, "parts": {**parts, "p8-0": 1}}):  # fmt: skip
        shown = Shown.from_json({"title": "A talk", **more})
        assert shown == Shown(title="A talk", too_much=True)
    for nonsense in ({"messages": {"-1": ""}, "parts": {}}, {"messages": {}, "parts": {"p--1": 1}}):
        assert Shown.from_json(nonsense) == Shown()
