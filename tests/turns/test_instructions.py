"""What a person asks of every agent, in their settings."""

from chat.models import Profile
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread
from tests.support.turns import take_turns

FORM = {"language": "en", "theme": "system", "time_zone": ""}


async def test_instructions_count_from_the_next_message_on(site: Site, program: Programs) -> None:
    one = await program()
    await take_turns(one, site, ("One", "First."))
    before = system(site)
    saved = await site.alice.client.post("/settings/", {**FORM, "instructions": " Be brief. "})
    assert saved.status_code == 302
    await take_turns(one, site, ("Two", "Second."))
    # Behind what is the same for everybody.
    assert system(site).startswith(before)
    assert system(site).endswith("\nBe brief.")
    page = await site.alice.client.get("/settings/")
    assert "Be brief." in page.content.decode()


async def test_instructions_have_an_end(site: Site) -> None:
    refused = await site.alice.client.post("/settings/", {**FORM, "instructions": "x" * 4001})
    assert refused.status_code == 200
    assert not await in_thread(Profile.objects.exclude(instructions="").exists)()


def system(site: Site) -> str:
    """The instructions in the last request that a model got."""
    first = site.provider.requests[-1].json["messages"][0]
    assert first["role"] == "system"
    return str(first["content"])
