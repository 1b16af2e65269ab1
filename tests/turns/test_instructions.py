"""What a person asks of every agent, in their settings."""

from chat.models import Profile
from chat.services import Caller, NewFolder, make_folder, move, remove_folder
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


async def test_a_folder_has_its_own_behind_those_of_the_person(
    site: Site, program: Programs
) -> None:
    """What was said before is sent as it was: only what is asked of the model is another."""
    caller = Caller(site.alice.user.pk)
    one = await program()
    await site.alice.client.post("/settings/", {**FORM, "instructions": "Be brief."})
    folder = await make_folder(caller, NewFolder("Work", " Answer in rhymes. "))
    await take_turns(one, site, ("One", "First."))
    before = site.provider.requests[-1].json["messages"]
    assert "rhymes" not in system(site)

    await move(caller, [str(site.talk.pk)], folder.id)
    await take_turns(one, site, ("Two", "Second."))
    assert system(site).startswith(before[0]["content"])
    assert system(site).endswith("\nAnswer in rhymes.")
    assert site.provider.requests[-1].json["messages"][1 : len(before)] == before[1:]
    asked = site.provider.requests[-1].json["messages"]
    await take_turns(one, site, ("Three", "Third."))
    assert site.provider.requests[-1].json["messages"][: len(asked)] == asked

    await remove_folder(caller, folder.id)
    await take_turns(one, site, ("Four", "Fourth."))
    assert system(site) == before[0]["content"]
