"""Who answers next: kept, told once, and never somebody who may not."""

from uuid import UUID, uuid4

from chat.models import Agent, Conversation, LanguageModel, Message
from tests.support import factories as make
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread
from tests.support.turns import take_turns
from tests.support.waiting import eventually

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
    assert await choose(site, model=str(model.pk)) == {
        "agent": "",
        "model": "",
        "tools_off": [],
        "effort": "",
    }


async def switch(site: Site, *on: str, off: tuple[str, ...] = ()) -> list[str]:
    address = f"/c/{site.talk.pk}/choose/"
    form = {"tool": [*on, *off], "on": list(on)}
    response = await site.alice.client.post(address, form, headers=SCRIPTED)
    kept: list[str] = response.json()["tools_off"]
    return kept


async def test_a_tool_is_off_in_one_conversation(site: Site, program: Programs) -> None:
    """A16: it is told, kept, and no longer offered to the model; nor is one that is not allowed,
    whatever a form says."""
    one = await program()
    await in_thread(Agent.objects.update)(tools=["calculator", "todo_write"])
    tab = await site.tab()
    assert await switch(site, "duckduckgo_search", "todo_write", off=("calculator",)) == [
        "calculator"
    ]
    await eventually(lambda: one.named("chat:choice"))
    assert one.named("chat:choice")[-1]["tools_off"] == ["calculator"]
    await tab.equals_a_fresh_page()

    await take_turns(one, site, ("One", "First."))
    assert offered(site) == ["todo_write"]
    assert await switch(site, "calculator") == []
    await take_turns(one, site, ("Two", "Second."))
    assert sorted(offered(site)) == ["calculator", "todo_write"]


async def test_the_first_message_of_a_chat_says_which_tools_are_off(site: Site) -> None:
    await in_thread(Agent.objects.update)(tools=["calculator", "todo_write"])
    site.provider.script("Hello.")
    form = {"content": "Hi", "tool": ["calculator", "todo_write", "nonsense"], "on": "todo_write"}
    response = await site.alice.client.post("/new/", form)
    made = await in_thread(Conversation.objects.get)(pk=response["Location"].split("/")[2])
    assert made.tools_off == ["calculator"]
    await eventually(lambda: site.provider.requests)
    assert offered(site) == ["todo_write"]


async def test_one_answer_is_given_anew_by_another_model(site: Site, program: Programs) -> None:
    """A7: the conversation goes on with the model that it has."""
    model = await in_thread(another_model)()
    one, tab = await program(), await site.tab()
    ids = await take_turns(one, site, ("One", "First."))
    site.provider.script("Other.")
    begun = await one.ask("regenerate", message_id=ids[1], model=str(model.pk))
    await one.ends(begun["request_id"])
    await tab.sees("Other.")
    later = await take_turns(one, site, ("Two", "Second."))
    rows = await in_thread(lambda: dict(Message.objects.values_list("pk", "model_id")))()
    assert [rows[UUID(key)] for key in (ids[1], later[1], later[3])] == [
        "scripted-small",
        "other",
        "scripted-small",
    ]
    await tab.equals_a_fresh_page()
    refused = await one.ask("regenerate", message_id=later[3], model=str(uuid4()))
    assert refused["error_key"] == "error.chat_model_not_configured"


def another_model() -> LanguageModel:
    """At the same server."""
    usual = LanguageModel.objects.get(model_id="scripted-small")
    return make.a_model(usual.provider, model_id="other")


def offered(site: Site) -> list[str]:
    """The tools of the last request that a model got."""
    body = site.provider.requests[-1].json
    return [each["function"]["name"] for each in body.get("tools", [])]
