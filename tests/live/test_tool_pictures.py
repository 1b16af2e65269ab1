"""A picture that a tool returns is kept, shown on its card, and sent on every wire in its form."""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from chat.formats.pictures import prepare_picture
from chat.models import Agent, Attachment, LanguageModel
from chat.protocol.interfaces import ToolPicture, ToolResult
from chat.tools import registry as tools
from tests.live.test_notes import cards
from tests.support.model_server import Call, reply
from tests.support.sample_files import HTML, PNG
from tests.support.site import Site
from tests.support.tabs import Tab, in_thread

DATA = b64encode(prepare_picture(PNG).data).decode()


def paint(broken: bool = False) -> ToolResult:
    """Paints a red square."""
    return ToolResult("A square.", pictures=(ToolPicture(HTML if broken else PNG, "red.png"),))


@pytest.fixture(autouse=True)
def painting() -> Iterator[None]:
    tools.tool(paint)
    yield
    del tools._tools["paint"]


@in_thread
def speak(site: Site, kind: str, wire: str = "auto", *, vision: bool = True) -> None:
    Agent.objects.filter(is_default=True).update(tools=["paint"])
    model = LanguageModel.objects.get(model_id="scripted-small")
    model.provider.kind, model.provider.wire = kind, wire
    model.provider.base_url = site.provider.root if kind == "ollama" else site.provider.base_url
    model.provider.save()
    model.vision = vision
    model.save()


async def painted(site: Site, **arguments: Any) -> Tab:
    tab = await site.tab()
    site.provider.script(reply(Call("paint", arguments)), reply("Here it is."))
    await tab.send("Paint a square")
    await tab.sees_the_end()
    return tab


async def test_it_is_on_the_card_and_its_owners_alone(site: Site) -> None:
    await speak(site, "openai")
    tab = await painted(site)
    row = await Attachment.objects.aget()
    assert (row.owner_id, row.filename, row.mime) == (site.alice.user.pk, "red.png", "image/png")
    [card] = cards(tab.page)
    [picture] = card.iter("img")
    assert picture.get("src") == f"/attachments/{row.pk}/?shown"
    response = await site.alice.client.get(f"/attachments/{row.pk}/")
    assert response.content == PNG
    await tab.equals_a_fresh_page()
    await in_thread(site.talk.delete)()
    assert not await Attachment.objects.aexists()


@pytest.mark.parametrize(
    ("kind", "wire", "form"),
    [
        ("openai", "chat", {"image_url": {"url": f"data:image/png;base64,{DATA}"}}),
        ("openai", "responses", f"'image_url': 'data:image/png;base64,{DATA}'"),
        ("anthropic", "auto", {"type": "base64", "media_type": "image/png", "data": DATA}),
        ("ollama", "auto", {"images": [DATA]}),
    ],
)
async def test_each_wire_has_it_in_its_form(site: Site, kind: str, wire: str, form: Any) -> None:
    await speak(site, kind, wire)
    tab = await painted(site)
    wanted = form if isinstance(form, str) else str(form).strip("{}")
    assert wanted in str(site.provider.requests[-1].json)
    # And again with the next turn: what was sent once is sent the same.
    site.provider.script(reply("Red."))
    await tab.send("Which colour?")
    await tab.sees_the_end()
    assert wanted in str(site.provider.requests[-1].json)


async def test_a_model_that_does_not_see_is_told_so(site: Site) -> None:
    await speak(site, "openai", vision=False)
    await painted(site)
    body = str(site.provider.requests[-1].json)
    assert "red.png: this model cannot see images" in body
    assert DATA not in body


async def test_what_is_no_picture_is_not_kept(site: Site) -> None:
    await speak(site, "openai")
    tab = await painted(site, broken=True)
    assert not await Attachment.objects.aexists()
    [card] = cards(tab.page)
    assert not list(card.iter("img"))
