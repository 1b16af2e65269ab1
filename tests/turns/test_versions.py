"""Versions: switch back and forth between answers and between texts; tails come back."""

from uuid import UUID

from chat.services.conversations.history import read_messages
from tests.support.site import Programs, Site
from tests.support.tabs import equal_pages, in_thread
from tests.support.turns import settled_pages, shown, shown_ids, take_turns


async def test_answers_change_places_with_their_tails(site: Site, program: Programs) -> None:
    """A7: each answer comes back with what was said after it, in every tab."""
    tabs = [await site.tab(), await site.tab(site.alice.speaking("zh-hans"))]
    one = await program()
    ids = await take_turns(one, site, ("One", "First."), ("Two", "Second."))
    whole = await in_thread(shown)(site.talk)
    site.provider.script("Other.")
    begun = await one.ask("regenerate", message_id=ids[1])
    await one.ends(begun["request_id"])
    later = await take_turns(one, site, ("Three", "Third."))
    other = await in_thread(shown)(site.talk)
    assert other[1:] == [("assistant", "Other."), ("user", "Three"), ("assistant", "Third.")]

    for version, message, expected in [
        (1, later[1], whole),
        (2, ids[1], other),
        (1, later[1], whole),
        (2, ids[1], other),
    ]:
        switched = await one.ask("version", message_id=message, version=version)
        assert switched["ok"], switched
        assert await in_thread(shown)(site.talk) == expected
        for tab in tabs:
            await tab.sees(expected[-1][1])
        await equal_pages(*tabs)
    refused = await one.ask("version", message_id=later[1], version=3)
    assert refused["error_key"] == "error.chat_message_not_found"


async def test_texts_change_places_with_their_answers(site: Site, program: Programs) -> None:
    """A6: each text of an edited message comes back with its answers and what came after."""
    tab, one = await site.tab(), await program()
    ids = await take_turns(one, site, ("One", "First."), ("Two", "Second."))
    whole = await in_thread(shown)(site.talk)
    texts = {1: whole}
    for version in (2, 3):
        site.provider.script(f"Answer {version}.")
        begun = await one.ask("edit", message_id=ids[0], content=f"One, version {version}")
        await one.ends(begun["request_id"])
        texts[version] = await in_thread(shown)(site.talk)

    for version in (1, 3, 2, 1, 2, 3, 1):
        switched = await one.ask("version", message_id=ids[0], version=version)
        assert switched["ok"], switched
        assert await in_thread(shown)(site.talk) == texts[version]
        [message] = await in_thread(read_messages)([UUID(ids[0])])
        assert (message.info.version, message.info.versions) == (version, 3)
        await tab.sees(texts[version][-1][1])
        await equal_pages(tab)
    # Version 1 is shown again, with the messages it had; one can go on from there.
    now = await take_turns(one, site, ("Three", "Third."))
    assert now[:4] == ids
    await settled_pages(tab)


async def test_an_edit_in_the_middle_of_a_version(site: Site, program: Programs) -> None:
    """Versions below versions: each way back leads to where it was left."""
    one = await program()
    ids = await take_turns(one, site, ("One", "First."), ("Two", "Second."))
    site.provider.script("Second, again.")
    begun = await one.ask("regenerate", message_id=ids[3])
    await one.ends(begun["request_id"])
    inner = await in_thread(shown)(site.talk)
    site.provider.script("Else.")
    begun = await one.ask("edit", message_id=ids[0], content="Uno")
    await one.ends(begun["request_id"])
    outer = await in_thread(shown)(site.talk)
    assert (await one.ask("version", message_id=ids[0], version=1))["ok"]
    assert await in_thread(shown)(site.talk) == inner
    last = (await in_thread(shown_ids)(site.talk))[-1]
    assert (await one.ask("version", message_id=last, version=1))["ok"]
    assert (await in_thread(shown)(site.talk))[-1] == ("assistant", "Second.")
    assert (await one.ask("version", message_id=ids[0], version=2))["ok"]
    assert await in_thread(shown)(site.talk) == outer
    assert (await one.ask("version", message_id=ids[0], version=1))["ok"]
    assert (await in_thread(shown)(site.talk))[-1] == ("assistant", "Second.")
