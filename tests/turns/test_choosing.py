"""Who answers next: kept, told once, and never somebody who may not."""

from chat.models import Conversation, LanguageModel
from tests import factories as make
from tests.live.conftest import Site
from tests.live.driver import eventually, in_thread
from tests.turns.conftest import Programs

SCRIPTED = {"HX-Request": "true"}


async def choose(site: Site, **wanted: str) -> dict[str, str]:
    address = f"/c/{site.talk.pk}/choose/"
    response = await site.alice.client.post(address, wanted, headers=SCRIPTED)
    kept: dict[str, str] = response.json()
    return kept


async def test_a_choice_is_told_once_and_says_what_is_kept(site: Site, program: Programs) -> None:
    model = await in_thread(lambda: make.a_model(make.a_provider(name="B"), model_id="b"))()
    other = await program()
    before = await in_thread(Conversation.objects.get)(pk=site.talk.pk)
    for _ in range(2):
        assert (await choose(site, model=str(model.pk)))["model"] == str(model.pk)
    await eventually(lambda: other.named("chat:choice"))
    after = await in_thread(Conversation.objects.get)(pk=site.talk.pk)
    assert after.rev == before.rev + 1
    [event] = other.named("chat:choice")
    assert (event["agent"], event["model"]) == ("", str(model.pk))


async def test_who_was_switched_off_meanwhile_is_not_kept(site: Site, program: Programs) -> None:
    """The answer says so, and the page can."""
    model = await in_thread(lambda: make.a_model(make.a_provider(name="B"), model_id="b"))()
    await in_thread(LanguageModel.objects.filter(pk=model.pk).update)(enabled=False)
    assert await choose(site, model=str(model.pk)) == {"agent": "", "model": ""}
