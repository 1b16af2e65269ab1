"""A message with files on the page: streamed as reloaded, and by plain forms (A17)."""

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from chat.models import Attachment, Conversation, Part
from tests.support import factories as make
from tests.support import sample_files as samples
from tests.support.model_server import Gate, Say, reply
from tests.support.site import Site
from tests.support.tabs import equal_pages


async def upload(site: Site, *files: tuple[str, bytes]) -> list[str]:
    body, kind = samples.form_of(*files)
    address = f"/c/{site.talk.pk}/attachments/"
    response = await site.alice.client.generic("POST", address, body, kind)
    return [each["id"] for each in response.json()["attachments"]]


async def test_a_message_with_files_is_streamed_as_it_is_reloaded(site: Site) -> None:
    one, other = await site.tab(), await site.tab(site.alice.speaking("zh-hans"))
    gate = Gate()
    site.provider.script(reply(Say("I see"), gate, Say(" it.")))
    ids = await upload(site, ("photo.png", samples.PNG), ("f.py", samples.CODE))
    sent = await one.ask("send", content="", attachments=ids, tab_id=one.tab_id)
    assert sent["ok"]
    for tab in (one, other):
        await tab.sees("I see")
    await equal_pages(one, other)
    gate.open()
    for tab in (one, other):
        await tab.sees_the_end()
    await equal_pages(one, other)
    [said] = [each for each in one.page.messages() if each.get("data-role") == "user"]
    pictures = [each.get("src") for each in said.iter("img")]
    assert pictures == [f"/attachments/{ids[0]}/?shown"]
    assert "f.py" in one.page.text_of("t")
    assert f"{len(samples.CODE)}\xa0B" in one.page.text_of("t")


async def test_an_edit_of_a_message_with_files_is_too(site: Site) -> None:
    tab = await site.tab()
    site.provider.script("One.", "Two.")
    ids = await upload(site, ("photo.png", samples.PNG))
    sent = await tab.ask("send", content="first", attachments=ids, tab_id=tab.tab_id)
    await tab.sees_the_end()
    await tab.ask("edit", message_id=sent["message_id"], content="second", tab_id=tab.tab_id)
    await tab.sees("Two.")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    [said] = [each for each in tab.page.messages() if each.get("data-role") == "user"]
    assert len(list(said.iter("img"))) == 1


@pytest.mark.parametrize("first", [True, False])
async def test_a_plain_form_sends_files_without_scripts(site: Site, first: bool) -> None:
    site.provider.script("Seen.")
    address = "/new/" if first else f"/c/{site.talk.pk}/send/"
    data: dict[str, Any] = {
        "content": "Look",
        "attachments": [samples.upload_of("a.png", samples.PNG), samples.upload_of("b.md", b"# b")],
    }
    response = await site.alice.client.post(address, data)
    assert response.status_code == 302
    await site.provider.until(lambda provider: provider.requests)
    talk = await Conversation.objects.alatest("created") if first else site.talk
    tab = await site.tab(talk=talk)
    await tab.sees_the_end()
    parts = [row async for row in Part.objects.filter(message__role="user").order_by("position")]
    assert [row.data.get("filename") for row in parts] == ["a.png", "b.md", None]
    assert await Attachment.objects.filter(message=None).acount() == 0


async def test_a_plain_form_takes_files_that_were_uploaded_before(site: Site) -> None:
    """The first message of a chat: uploaded by the script, sent by the form."""
    site.provider.script("Seen.")
    ids = await upload(site, ("a.png", samples.PNG))
    response = await site.alice.client.post("/new/", {"content": "", "attachments": ids})
    assert response.status_code == 302
    talk = await Conversation.objects.alatest("created")
    tab = await site.tab(talk=talk)
    await tab.sees_the_end()
    assert talk.title == "a.png"


async def test_a_file_field_that_was_not_used_is_nothing(site: Site) -> None:
    """As browsers send it: with a name that is empty."""
    site.provider.script("Seen.")
    body, kind = samples.form_of(("", b""))
    field = b'--edge\r\nContent-Disposition: form-data; name="content"\r\n\r\nHello\r\n'
    response = await site.alice.client.generic("POST", "/new/", field + body, kind)
    assert response.status_code == 302
    tab = await site.tab(talk=await Conversation.objects.alatest("created"))
    await tab.sees_the_end()


@pytest.mark.parametrize("address", ["/new/", "/c/{talk}/send/"])
async def test_a_plain_form_with_a_bad_file_says_why_and_keeps_the_words(
    site: Site, address: str
) -> None:
    bad = samples.upload_of("b.zip", b"PK\x03\x04\x00")
    data = {"content": "my words", "attachments": [bad]}
    response = await site.alice.client.post(address.format(talk=site.talk.pk), data)
    assert response.status_code == 409
    page = response.content.decode()
    assert "b.zip cannot be attached" in page
    assert "my words" in page
    assert samples.stored() == set()


async def test_a_stranger_cannot_send_my_file(site: Site) -> None:
    ids = await upload(site, ("a.png", samples.PNG))
    bob = await sync_to_async(make.a_user)("bob")
    from tests.support.tabs import Person

    theirs = await sync_to_async(make.a_conversation)(bob)
    tab = await site.tab(await Person(bob).enter(), theirs)
    refused = await tab.ask("send", content="mine", attachments=ids, tab_id=tab.tab_id)
    assert refused["error_key"] == "error.chat_attachment_not_found"
    assert "not there any more" in refused["message"]
