"""How hard the model thinks: picked, kept, told, sent, and remembered for new chats."""

from typing import Any

from django.test import Client
from lxml import html  # type: ignore[import-untyped]

from chat.models import Agent, Conversation, LanguageModel, Profile
from tests.support import factories as make
from tests.support.site import Programs, Site
from tests.support.tabs import equal_pages, in_thread
from tests.support.turns import take_turns
from tests.support.waiting import eventually

STEPS = ["none", "low", "medium", "high", "xhigh"]


def has(model_id: str = "scripted-small", *steps: str, **fields: Any) -> LanguageModel:
    """A model at the scripted server, with these steps."""
    usual = LanguageModel.objects.get(model_id="scripted-small")
    model, _ = LanguageModel.objects.update_or_create(
        provider=usual.provider, model_id=model_id, defaults={"efforts": list(steps), **fields}
    )
    return model


def said(site: Site) -> object:
    """The effort of the last request that a model got."""
    return site.provider.requests[-1].json.get("reasoning_effort")


async def test_a_choice_is_kept_told_and_sent(site: Site, program: Programs) -> None:
    await in_thread(has)("scripted-small", *STEPS)
    one, tab, other = await program(), await site.tab(), await site.tab()
    await take_turns(one, site, ("One", "First."))
    assert said(site) is None
    chosen = await one.ask("choose", effort="high")
    assert (chosen["ok"], chosen["effort"]) == (True, "high")
    await eventually(lambda: one.named("chat:choice"))
    assert one.named("chat:choice")[-1]["effort"] == "high"
    await tab.until(lambda: tab.page.by_id("chosen").get("data-effort") == "high")
    await tab.equals_a_fresh_page()
    await take_turns(one, site, ("Two", "Second."))
    assert said(site) == "high"
    await equal_pages(tab, other)
    # What is not named stays, and so does what is no step of any model.
    for nothing in ({}, {"effort": "deepest"}, {"effort": 7}, {"effort": "<b>"}):
        assert (await one.ask("choose", **nothing))["effort"] == "high"
    assert (await one.ask("choose", tools=["calculator"]))["error_key"] == "error.chat_bad_command"
    assert (await one.ask("choose", effort="auto"))["effort"] == "auto"
    await take_turns(one, site, ("Three", "Third."))
    assert said(site) is None
    late = await program()
    await late.until(lambda: late.named("chat:snapshot"))
    assert late.named("chat:snapshot")[0]["effort"] == "auto"


async def test_a_tab_that_was_away_shows_it_when_it_comes_back(
    site: Site, program: Programs
) -> None:
    await in_thread(has)("scripted-small", *STEPS)
    one, tab = await program(), await site.tab()
    await tab.cut()
    await one.ask("choose", effort="low")
    assert picked(tab.page.root) == "auto"
    await tab.open()
    await tab.until(lambda: picked(tab.page.root) == "low")
    await tab.equals_a_fresh_page()


async def test_another_model_gets_the_nearest_step_and_the_wish_is_kept(
    site: Site, program: Programs
) -> None:
    usual = await in_thread(has)("scripted-small", *STEPS)
    few = await in_thread(has)("few", "low", "high")
    none = await in_thread(has)("none")
    one, tab = await program(), await site.tab()
    await one.ask("choose", effort="xhigh")
    for model, sent, shown in ((few, "high", "high"), (none, None, ""), (usual, "xhigh", "xhigh")):
        # A form sends the step that it shows, which is not a choice.
        form = {"model": str(model.pk), **({"effort": shown} if shown else {})}
        answer = await site.alice.client.post(
            f"/c/{site.talk.pk}/choose/", form, headers={"HX-Request": "true"}
        )
        assert answer.json()["effort"] == "xhigh"
        await take_turns(one, site, ("Go on", "Yes."))
        assert said(site) == sent
        await tab.until(
            lambda model=model: tab.page.by_id("chosen").get("data-model") == str(model.pk)
        )
        await tab.equals_a_fresh_page()


async def test_an_answer_given_anew_by_another_model_keeps_a_sensible_effort(
    site: Site, program: Programs
) -> None:
    await in_thread(has)("scripted-small", *STEPS)
    few = await in_thread(has)("few", "none", "on")
    one = await program()
    await one.ask("choose", effort="low")
    ids = await take_turns(one, site, ("One", "First."))
    site.provider.script("Other.")
    begun = await one.ask("regenerate", message_id=ids[1], model=str(few.pk))
    await one.ends(begun["request_id"])
    template = {"enable_thinking": True}
    assert site.provider.requests[-1].json["chat_template_kwargs"] == template


async def test_the_agent_says_how_hard_it_thinks_until_somebody_chooses(
    site: Site, program: Programs
) -> None:
    await in_thread(has)("scripted-small", *STEPS)
    await in_thread(Agent.objects.update)(effort="medium")
    one, tab = await program(), await site.tab()
    assert picked(tab.page.root) == "medium"
    await take_turns(one, site, ("One", "First."))
    assert said(site) == "medium"
    await one.ask("choose", effort="auto")
    await tab.until(lambda: picked(tab.page.root) == "auto")
    await take_turns(one, site, ("Two", "Second."))
    assert said(site) is None


def picked(root: Any) -> str:
    [select] = [each for each in root.iter("select") if each.get("name") == "effort"]
    return next((each.get("value") for each in select if "selected" in each.attrib), "")


async def test_a_new_chat_remembers_it(site: Site) -> None:
    """A16: also over a model that has no such step."""
    usual = await in_thread(has)("scripted-small", *STEPS)
    few = await in_thread(has)("few", "low", "high")
    await begin(site, model=str(usual.pk), effort="xhigh")
    assert await offered(site) == "xhigh"
    made = await begin(site, model=str(few.pk), effort="high")
    assert made.effort == "xhigh"
    assert await offered(site) == "high"
    made = await begin(site, model=str(usual.pk), effort="none")
    assert (made.effort, await offered(site)) == ("none", "none")
    # Whoever wants what everybody gets has chosen nothing.
    await begin(site, model=str(usual.pk), effort="auto")
    assert (await in_thread(Profile.objects.get)(user=site.alice.user)).effort == ""


async def begin(site: Site, **form: str) -> Conversation:
    site.provider.script("Hello.")
    response = await site.alice.client.post("/new/", {"content": "Hi", **form})
    key = response["Location"].split("/")[2]
    await eventually(lambda: site.provider.requests)
    return await in_thread(Conversation.objects.get)(pk=key)


async def offered(site: Site) -> str:
    page = await site.alice.client.get("/")
    [select] = html.fromstring(page.content.decode()).xpath("//select[@name='effort']")
    return str(select.xpath("option[@selected]/@value")[0])


def test_nobody_sees_a_picker_that_chooses_nothing(db: None, client: Client) -> None:
    model = make.a_model(model_id="plain")
    make.an_agent(model, is_default=True)
    client.force_login(make.a_superuser())
    assert b'name="effort"' not in client.get("/").content
    make.a_model(model.provider, model_id="thinker", efforts=["none", "on"])
    page = html.fromstring(client.get("/").content.decode())
    [select] = page.xpath("//select[@name='effort']")
    assert ("disabled" in select.attrib, "hidden" in select.getparent().attrib) == (True, True)
    LanguageModel.objects.filter(pk=model.pk).update(efforts=["low", "dreaming"])
    page = html.fromstring(client.get("/").content.decode())
    [select] = page.xpath("//select[@name='effort']")
    assert [each.text for each in select] == ["Automatic", "Low", "dreaming"]
