"""Tools in the prompt and tools natively: the same answers, and one style in every request."""

import itertools
import json
import re
from typing import Any

import pytest
from django.db.models import Model

from chat.models import Agent, Conversation, LanguageModel, Part, Provider
from tests.support import factories as make
from tests.support.model_server import Call, Reply, ScriptedProvider, reply
from tests.support.site import Site
from tests.support.tabs import Tab, in_thread

SUM = {"expression": "6*7"}
PLAN = {"todos": [{"content": "Count", "status": "in_progress"}]}


def as_xml(name: str, arguments: dict[str, Any]) -> str:
    """A call as a model writes it; lists and objects are JSON."""
    values = {k: v if isinstance(v, str) else json.dumps(v) for k, v in arguments.items()}
    inside = "".join(f"<{key}>{value}</{key}>\n" for key, value in values.items())
    return f"\n\n<{name}>\n{inside}</{name}>"


def task(style: str) -> list[Reply]:
    """One task of three steps, as a model of each style would go about it."""

    def calls(said: str, name: str, arguments: dict[str, Any]) -> Reply:
        if style == "json":
            return reply(said, Call(name, arguments))
        return reply(said + as_xml(name, arguments))

    return [
        calls("First a plan.", "todo_write", PLAN),
        calls("Now I count.", "calculator", SUM),
        reply("It is **42**."),
    ]


@in_thread
def set_fields(row: Model, **fields: Any) -> None:
    type(row).objects.filter(pk=row.pk).update(**fields)  # type: ignore[attr-defined]


@in_thread
def scripted_model() -> LanguageModel:
    return LanguageModel.objects.select_related("provider").get(model_id="scripted-small")


@in_thread
def other_model(**fields: Any) -> LanguageModel:
    return make.a_model(Provider.objects.get(name="Scripted"), **fields)


@in_thread
def style_of(talk: Conversation) -> str:
    return Conversation.objects.get(pk=talk.pk).tool_style


@in_thread
def parts_of(talk: Conversation) -> list[dict[str, Any]]:
    rows = Part.objects.filter(conversation=talk).order_by("message__position", "position")
    return [without_ids(row.as_json()) for row in rows]


def without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        own = ("id", "sessionID", "messageID", "callID", "time")
        return {key: without_ids(item) for key, item in value.items() if key not in own}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


def without_marks(html: str) -> str:
    """Ids are random, times pass, and the tokens of forms change with every load."""
    html = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", html)
    html = re.sub(r'(csrfmiddlewaretoken" value|csrf-token" content|nonce)="[^"]*"', "", html)
    html = re.sub(r"\d+\.\d s\b", "", html)
    return re.sub(r'(datetime|data-since|data-seq|data-rev|data-ms)="[^"]*"', "", html)


async def transcript(tab: Tab) -> str:
    """The conversation as a page loaded now shows it."""
    response = await tab.person.client.get(f"/c/{tab.conversation_id}/")
    body = response.content.decode()
    return without_marks(body[body.index('id="t"') : body.index("</main>")])


async def do_task(tab: Tab, provider: ScriptedProvider, style: str) -> None:
    provider.script(*task(style))
    await tab.send("How much is six times seven?")
    await tab.sees_the_end()


def styles_in(request: dict[str, Any]) -> set[str]:
    """The styles in which a request speaks of tools that were used."""
    styles = set()
    if "tools" in request:
        styles.add("json")
    for message in request["messages"]:
        said = json.dumps(message.get("content"))
        if message["role"] == "tool" or "tool_calls" in message:
            styles.add("json")
        if message["role"] == "system" and "# Tools" in said:
            styles.add("xml")
        if message["role"] == "assistant" and re.search("<(calculator|todo_write)>", said):
            styles.add("xml")
        if message["role"] == "user" and re.search(r"\[\w+ Result\]", said):
            styles.add("xml")
    return styles


def styles_of(provider: ScriptedProvider) -> list[set[str]]:
    return [styles_in(request.json) for request in provider.requests if request.method == "POST"]


async def test_the_same_task_in_both_styles_gives_the_same_parts_and_page(site: Site) -> None:
    """C1, C2: whoever reads the conversation cannot tell in which style it was held."""
    model = await scripted_model()
    in_json = await site.tab()
    await do_task(in_json, site.provider, "json")
    assert styles_of(site.provider) == [{"json"}] * 3
    site.provider.requests.clear()

    await set_fields(model, native_tools=False)
    second = await in_thread(make.a_conversation)(site.alice.user, title="A talk")
    in_xml = await site.tab(talk=second)
    await do_task(in_xml, site.provider, "xml")
    assert styles_of(site.provider) == [{"xml"}] * 3
    await in_xml.equals_a_fresh_page()

    assert (await style_of(site.talk), await style_of(second)) == ("json", "xml")
    assert await parts_of(second) == await parts_of(site.talk)
    assert await transcript(in_xml) == await transcript(in_json)


async def test_each_turn_begins_as_the_one_before_it_did(site: Site) -> None:
    """C2: in the XML style too, what was sent once is sent again unchanged."""
    await set_fields(await scripted_model(), native_tools=False)
    tab = await site.tab()
    await do_task(tab, site.provider, "xml")
    await do_task(tab, site.provider, "xml")
    sent = [request.json["messages"] for request in site.provider.requests]
    for before, after in itertools.pairwise(sent):
        assert after[: len(before)] == before


async def test_one_style_in_every_request_whatever_the_conversation_went_through(
    site: Site,
) -> None:
    """C6: work in XML, reload, switch to a model with native tools, go on, and back."""
    native = await other_model(model_id="scripted-large")
    plain = await scripted_model()
    await set_fields(plain, native_tools=False)
    tab = await site.tab()
    await do_task(tab, site.provider, "xml")
    await tab.cut()
    tab = await site.tab()
    await do_task(tab, site.provider, "xml")
    assert styles_of(site.provider) == [{"xml"}] * 6
    stored = await parts_of(site.talk)

    site.provider.requests.clear()
    await set_fields(site.talk, model=native)
    await do_task(tab, site.provider, "json")
    assert styles_of(site.provider) == [{"json"}] * 3
    assert await style_of(site.talk) == "json"

    site.provider.requests.clear()
    await set_fields(site.talk, model=plain)
    await do_task(tab, site.provider, "xml")
    assert styles_of(site.provider) == [{"xml"}] * 3
    assert (await parts_of(site.talk))[: len(stored)] == stored


@pytest.mark.parametrize("style", ["json", "xml"])
async def test_a_setting_changes_new_conversations_only(site: Site, style: str) -> None:
    """C1: the style is locked at the first run; the agent's wish comes before the provider's."""
    other = "xml" if style == "json" else "json"
    agent = await in_thread(Agent.objects.get)(is_default=True)
    provider = (await scripted_model()).provider
    await set_fields(agent, tool_style=style)
    await set_fields(provider, tool_style=other)
    tab = await site.tab()
    site.provider.script(reply("Hello."))
    await tab.send("Hi!")
    await tab.sees_the_end()
    await set_fields(agent, tool_style=other)
    await do_task(tab, site.provider, style)
    assert styles_of(site.provider) == [{style}] * 4

    site.provider.requests.clear()
    second = await in_thread(make.a_conversation)(site.alice.user)
    await do_task(await site.tab(talk=second), site.provider, other)
    assert styles_of(site.provider) == [{other}] * 3


async def test_a_model_that_loses_its_native_tools_is_asked_in_xml(site: Site) -> None:
    """C1: what cannot be done comes before the lock."""
    tab = await site.tab()
    await do_task(tab, site.provider, "json")
    await set_fields(await scripted_model(), native_tools=False)
    site.provider.requests.clear()
    await do_task(tab, site.provider, "xml")
    assert styles_of(site.provider) == [{"xml"}] * 3


async def test_a_second_call_in_one_message_is_refused_and_shown_so(site: Site) -> None:
    """C1: the first call runs; the model must read its result before the next."""
    await set_fields(await scripted_model(), native_tools=False)
    tab = await site.tab()
    two = as_xml("calculator", SUM) + as_xml("calculator", {"expression": "1+1"})
    site.provider.script(reply("Both:" + two), reply("Well."))
    await tab.send("Count!")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    states = [part["state"] for part in await parts_of(site.talk) if part["type"] == "tool"]
    assert [state["status"] for state in states] == ["completed", "error"]
    assert states[1]["error"].startswith("Tool [calculator] was not executed because a tool has")


async def test_code_is_shown_and_never_run(site: Site) -> None:
    """A model may show how a call is written."""
    await set_fields(await scripted_model(), native_tools=False)
    tab = await site.tab()
    call = as_xml("calculator", SUM).strip()
    site.provider.script(reply(f"Write `{call}` or\n\n```xml\n{call}\n```\n"))
    await tab.send("How?")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    assert len(site.provider.requests) == 1
    assert "tool" not in [part["type"] for part in await parts_of(site.talk)]
    assert tab.page.answers()[0].count("<expression>6*7</expression>") == 2
