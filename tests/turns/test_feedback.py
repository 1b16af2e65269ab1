"""What a reader thinks of an answer: kept, mirrored, exported, and theirs alone."""

import json

import pytest

from chat.models import Feedback, Message
from tests.support.downloads import downloaded
from tests.support.model_server import reply
from tests.support.site import Programs, Site
from tests.support.tabs import Tab, equal_pages, in_thread, told_only

pytestmark = pytest.mark.both_databases


async def _answered(site: Site) -> tuple[Tab, str]:
    tab = await site.tab()
    site.provider.script(reply("A **long** answer."))
    await tab.send("Well?")
    await tab.sees_the_end()
    answer = await Message.objects.aget(conversation=site.talk, role="assistant")
    return tab, str(answer.pk)


def _given(tab: Tab) -> str:
    foot = list(tab.page.messages())[-1][-1]
    pressed = [each.get("aria-label") for each in foot.iter() if each.get("aria-pressed") == "true"]
    words = ["".join(each.itertext()) for each in foot.iter() if each.tag.endswith("q")]
    return " ".join([*pressed, *words])


async def test_a_verdict_and_words_are_seen_in_every_tab(site: Site) -> None:
    one, key = await _answered(site)
    other = await site.tab()
    with told_only():
        assert (await one.ask("feedback", verdict=f"{key} down"))["ok"]
        await other.until(lambda: _given(other) == "Bad answer")
        assert (await one.ask("feedback", message_id=key, verdict="down", comment=" Too\nlong "))[
            "ok"
        ]
        await other.until(lambda: _given(other) == "Bad answer Too long")
        assert (await other.ask("feedback", message_id=key, verdict="up"))["ok"]
        await one.until(lambda: _given(one) == "Good answer Too long")
        await equal_pages(one, other)
        assert (await one.ask("feedback", message_id=key, verdict="none"))["ok"]
        await other.until(lambda: _given(other) == "")
        await equal_pages(one, other)
    assert not await Feedback.objects.aexists()


async def test_only_the_foot_is_drawn_anew(site: Site) -> None:
    tab, key = await _answered(site)
    body = tab.page.by_id(f"b{tab.page.head()}")
    await tab.ask("feedback", message_id=key, verdict="up")
    await tab.until(lambda: _given(tab) == "Good answer")
    assert tab.page.by_id(f"b{tab.page.head()}") is body


async def test_a_page_that_was_away_is_brought_forward(site: Site) -> None:
    tab, key = await _answered(site)
    other = await site.tab()
    await other.cut()
    await tab.ask("feedback", message_id=key, verdict="down", comment="No.")
    await other.open()
    await other.until(lambda: _given(other) == "Bad answer No.")
    await other.equals_a_fresh_page()


async def test_it_stays_on_an_answer_that_goes_on(site: Site) -> None:
    tab, key = await _answered(site)
    await Message.objects.filter(pk=key).aupdate(finish_reason="length")
    await tab.ask("feedback", message_id=key, verdict="up")
    site.provider.script(reply(" And more."))
    assert (await tab.ask("continue", message_id=key))["ok"]
    await tab.sees("And more.")
    await tab.sees_the_end()
    assert _given(tab) == "Good answer"
    await tab.equals_a_fresh_page()


async def test_what_cannot_be_said(site: Site, program: Programs) -> None:
    _tab, key = await _answered(site)
    question = await Message.objects.aget(conversation=site.talk, role="user")
    one = await program()
    for values, error in (
        ({"message_id": key, "verdict": "sideways"}, "error.chat_bad_command"),
        ({"verdict": ""}, "error.chat_bad_command"),
        ({"message_id": str(question.pk), "verdict": "up"}, "error.chat_message_not_found"),
        ({"message_id": "none", "verdict": "up"}, "error.chat_message_not_found"),
        (
            {"message_id": key, "verdict": "up", "comment": "x" * 1001},
            "error.chat_content_too_long",
        ),
    ):
        assert (await one.ask("feedback", **values))["error_key"] == error
    assert not await Feedback.objects.aexists()


async def test_a_form_does_it_too_and_an_export_has_it(site: Site) -> None:
    _tab, key = await _answered(site)
    here = f"/c/{site.talk.pk}/"
    client = site.alice.client
    await client.post(f"{here}feedback/", {"verdict": f"{key} down"})
    shown = (await client.get(f"{here}?words={key}")).content.decode()
    assert f'name="message_id" value="{key}"' in shown
    words = {"message_id": key, "verdict": "down", "comment": "=Wrong"}
    await client.post(f"{here}feedback/", words)
    exported = json.loads(await downloaded(client, f"{here}export/json/"))
    assert exported["messages"][-1]["info"]["feedback"] == {"verdict": "down", "comment": "=Wrong"}
    row = await in_thread(Feedback.objects.get)()
    assert (row.person_id, str(row.message_id)) == (site.talk.owner_id, key)
