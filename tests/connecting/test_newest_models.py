"""A fresh installation and a key: the first message is answered by the newest models, with tools
and with their thoughts in sight, whatever has been set that they refuse."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from chat.models import Agent, LanguageModel, ModelAdjustment, Provider
from chat.services.catalog import providers
from chat.services.catalog.environment import connect_environment
from tests.support.impatient_http import IMPATIENT
from tests.support.model_server import Call, Received, Reply, Think, refuse, reply
from tests.support.model_server.vendor_rules import gpt_5_6, opus_4_8, ruled_by
from tests.support.site import Site
from tests.support.tabs import in_thread
from tests.support.world import KEY

TASK = (
    reply(Think("Multiply.", signature="opaque"), Call("calculator", {"expression": "6*7"}, "c1")),
    reply("It is **42**."),
)


@dataclass(frozen=True)
class Newest:
    """A model, the variables with which it is connected, and what it refuses."""

    model: str
    rules: Callable[[Received], Reply | None]
    key: str
    address: str
    answered_at: str


MODELS = {
    "GPT-5.6": Newest("gpt-5.6-sol", gpt_5_6, "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1/responses"),
    "Opus 4.8": Newest(
        "claude-opus-4-8", opus_4_8, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "/v1/messages"
    ),
}


def _install(site: Site, newest: Newest) -> None:
    """As a first start does it: no provider but the one that the environment names."""
    Agent.objects.update(model=None)
    Provider.objects.exclude(kind="demo").delete()
    site.provider.models = (newest.model,)
    named = {newest.key: KEY, newest.address: site.provider.base_url}
    [report] = connect_environment(named)
    assert report.chosen == newest.model


def _set_what_they_refuse() -> None:
    Agent.objects.update(temperature=0.2, effort="minimal")
    LanguageModel.objects.exclude(provider__kind="demo").update(output_limit=4000)


async def _first_message(site: Site) -> str:
    """The address of the conversation that a first message makes."""
    response = await site.alice.client.post("/new/", {"content": "How much is six times seven?"})
    assert response.status_code == 302, response.content
    return str(response["location"])


@pytest.mark.parametrize("set_by_somebody", [False, True])
@pytest.mark.parametrize("name", MODELS)
async def test_a_first_message_with_tools_is_answered_with_thoughts_in_sight(
    site: Site, name: str, set_by_somebody: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A2, A3: on the page that watches, and on the page drawn afresh."""
    monkeypatch.setattr(providers, "LISTING", IMPATIENT)
    newest = MODELS[name]
    await in_thread(_install)(site, newest)
    if set_by_somebody:
        await in_thread(_set_what_they_refuse)()
    site.provider.answer = ruled_by(newest.rules, *TASK, reply("Still 42."))
    place = await _first_message(site)
    [found] = re.findall(r"/c/([0-9a-f-]{36})/", place)
    site.talk.pk = found
    tab = await site.tab()
    await tab.sees("It is 42.")
    await tab.sees_the_end()
    assert "Multiply." in tab.page.text_of("t")
    await tab.equals_a_fresh_page()

    asked = [request for request in site.provider.requests if request.method == "POST"]
    refused = [request for request in asked if newest.rules(request)]
    assert [each.path for each in asked[-2:]] == [newest.answered_at] * 2
    learnt = await in_thread(lambda: list(ModelAdjustment.objects.values_list("kind", "name")))()
    expected = [("wire", "")] if name == "GPT-5.6" else []
    assert learnt[: len(expected)] == expected
    assert len(learnt) == len(expected) + len(refused)

    # What was refused once is not tried again.
    await tab.send("Are you sure?")
    await tab.sees("Still 42.")
    await tab.sees_the_end()
    assert newest.rules(site.provider.requests[-1]) is None
    posted = [request for request in site.provider.requests if request.method == "POST"]
    assert len(posted) == len(asked) + 1


async def test_a_gateway_without_the_other_wire_uses_tools_without_thinking(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GPT-5.6 behind a server that knows Chat Completions alone."""
    monkeypatch.setattr(providers, "LISTING", IMPATIENT)
    newest = MODELS["GPT-5.6"]
    await in_thread(_install)(site, newest)
    answer = ruled_by(newest.rules, *TASK)

    def only_chat(request: Received) -> Reply:
        if request.path.endswith("/responses"):
            return refuse(404, {"detail": "Not Found"})
        return answer(request)

    site.provider.answer = only_chat
    [found] = re.findall(r"/c/([0-9a-f-]{36})/", await _first_message(site))
    site.talk.pk = found
    tab = await site.tab()
    await tab.sees("It is 42.")
    await tab.sees_the_end()
    learnt = await in_thread(lambda: list(ModelAdjustment.objects.values_list("name", "value")))()
    assert learnt == [("reasoning_effort", "none")]
    assert sum(each.path.endswith("/responses") for each in site.provider.requests) == 1
