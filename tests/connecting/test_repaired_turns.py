"""A server that refuses something still answers, and is asked in the right way from then on."""

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat import services
from chat.models import Agent, Conversation, LanguageModel, ModelAdjustment, Provider
from tests.providers.recorded_refusals import (
    EXPLAINED,
    GPT_TOOLS,
    REPAIRED,
    Refusal,
    anthropic,
    openai,
)
from tests.support import factories as make
from tests.support.model_server import Call, Received, Reply, Think, refuse, reply
from tests.support.pdf_files import pdf_file
from tests.support.sample_files import PNG
from tests.support.site import Site
from tests.support.tabs import in_thread

NO_TEMPERATURE = REPAIRED["only one temperature"]


def refusing(refusal: Refusal, *answers: Reply | str) -> Callable[[Received], Reply]:
    """A server that refuses what it dislikes, and gives these answers to all else."""
    given = iter(answers)

    def answer(request: Received) -> Reply:
        assert refusal.to_change is not None
        if refusal.to_change(request.json):
            return refuse(refusal.status, refusal.body)
        said = next(given)
        return reply(said) if isinstance(said, str) else said

    return answer


def _kept() -> list[tuple[str, str, Any]]:
    return list(ModelAdjustment.objects.values_list("kind", "name", "value"))


kept = in_thread(_kept)


async def test_a_refusal_is_met_once_and_remembered_for_the_model(failing: Site) -> None:
    await in_thread(Agent.objects.update)(temperature=0.3)
    failing.provider.answer = refusing(NO_TEMPERATURE, "Here I am.", "Still here.")
    tab = await failing.tab()
    await tab.send("Hello?")
    await tab.sees("Here I am.")
    await tab.sees_the_end()
    assert "provider" not in tab.page.text_of("t")
    await tab.equals_a_fresh_page()
    assert await kept() == [("drop", "temperature", None)]

    await tab.send("And now?")
    await tab.sees("Still here.")
    await tab.sees_the_end()
    assert ["temperature" in request.json for request in failing.provider.requests] == [
        True,
        False,
        False,
    ]


def _save_model(client: Client, **changed: Any) -> str:
    """Open a model's page in the administration and save it, changed in this."""
    model = LanguageModel.objects.get(model_id="scripted-small")
    address = reverse("admin:chat_languagemodel_change", args=[model.pk])
    page = client.get(address)
    form = page.context["adminform"].form
    data = {name: value for name, value in form.initial.items() if value not in (None, [])}
    data = {name: json.dumps(v) if isinstance(v, list) else v for name, v in data.items()}
    switched_off = [name for name, value in data.items() if value is False]
    inline = page.context["inline_admin_formsets"][0].formset
    forms = {
        "adjustments-TOTAL_FORMS": inline.total_form_count(),
        "adjustments-INITIAL_FORMS": inline.initial_form_count(),
        **{f"adjustments-{n}-id": each.instance.pk for n, each in enumerate(inline.forms)},
        **{f"adjustments-{n}-model": model.pk for n in range(len(inline.forms))},
    }
    posted = {name: value for name, value in data.items() if name not in switched_off}
    done = client.post(address, {**posted, **forms, **changed})
    assert done.status_code == 302, done.context["errors"]
    return page.content.decode()


@pytest.mark.django_db
def test_administrators_see_what_was_refused_and_a_changed_model_is_asked_anew(
    client: Client,
) -> None:
    client.force_login(make.a_superuser("root"))
    provider = make.a_provider(kind="openai", base_url="http://127.0.0.1:9/v1")
    model = make.a_model(provider, model_id="scripted-small")
    ModelAdjustment.objects.create(
        model=model, kind="drop", name="temperature", refusal="Unsupported value: 'temperature'"
    )
    page = _save_model(client)
    assert "temperature is not sent." in page
    assert "Unsupported value: &#x27;temperature&#x27;" in page
    assert len(_kept()) == 1, "nothing was changed"
    _save_model(client, label="Another")
    assert _kept() == []


async def test_another_address_is_another_server(failing: Site) -> None:
    def change() -> None:
        model = LanguageModel.objects.get(model_id="scripted-small")
        ModelAdjustment.objects.create(model=model, kind="tools")
        services.save_provider(Provider.objects.get(pk=model.provider_id))

    await in_thread(change)()
    assert await kept() == []


async def test_a_model_without_tools_is_told_of_them_in_its_prompt(failing: Site) -> None:
    """C1: in the same turn, and the conversation has that style from then on."""
    refusal = REPAIRED["no tools, at vLLM"]
    call = "<calculator><expression>6*7</expression></calculator>"
    failing.provider.answer = refusing(refusal, call, "It is 42.", "Still 42.")
    tab = await failing.tab()
    await tab.send("How much is six times seven?")
    await tab.sees("It is 42.")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    await tab.send("Sure?")
    await tab.sees("Still 42.")
    await tab.sees_the_end()
    assert len(failing.provider.requests) == 4, "refused once"
    talk = await in_thread(Conversation.objects.get)(pk=failing.talk.pk)
    assert talk.tool_style == "xml"
    assert await kept() == [("tools", "", None)]


async def test_a_server_error_about_a_picture_is_no_reason_to_wait(failing: Site) -> None:
    """llama.cpp says with a 500 that it sees no pictures: the note goes there instead."""
    refusal = REPAIRED["no pictures, at llama.cpp"]

    await in_thread(LanguageModel.objects.update)(vision=True)
    picture = await in_thread(_picture)(failing)
    failing.provider.answer = refusing(refusal, "I cannot see it.")
    tab = await failing.tab()
    await tab.ask("send", content="What is this?", attachments=[picture])
    await tab.sees("I cannot see it.")
    await tab.sees_the_end()
    assert "this model cannot see images" in json.dumps(failing.provider.requests[-1].json)
    assert "Trying again" not in tab.page.text_of("t")
    assert len(failing.provider.requests) == 2


async def test_a_file_that_its_server_cannot_read_is_read_here_and_no_other_is(
    failing: Site,
) -> None:
    """One odd PDF is sent as text in that conversation; others are sent as they are."""
    odd, good = pdf_file("The harbour opens at six."), pdf_file("Another.")

    def answer(request: Received) -> Reply:
        if b64encode(odd).decode() in request.body.decode():
            return refuse(400, anthropic("Could not process PDF"))
        return reply(f"Read of {len(request.json['messages'])}.")

    failing.provider.answer = answer
    await in_thread(LanguageModel.objects.update)(vision=True)
    await in_thread(Provider.objects.exclude(kind="demo").update)(kind="anthropic")
    first, second = await in_thread(_papers)(failing, odd, good)
    tab = await failing.tab()
    await tab.ask("send", content="One?", attachments=[first])
    await tab.sees("Read of 1.")
    await tab.sees_the_end()
    await tab.ask("send", content="Two?", attachments=[second])
    await tab.sees("Read of 3.")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    assert await kept() == []
    sent = [request.body.decode() for request in failing.provider.requests]
    assert ["The harbour opens at six." in body for body in sent] == [False, True, False, True]
    assert b64encode(good).decode() in sent[2]


def _papers(site: Site, *contents: bytes) -> list[str]:
    return [
        str(make.an_attachment(site.alice.user, content=each, mime="application/pdf").pk)
        for each in contents
    ]


def _picture(site: Site) -> str:
    return str(make.an_attachment(site.alice.user, content=PNG, mime="image/png").pk)


async def test_the_newest_models_behind_any_address_think_and_use_tools(failing: Site) -> None:
    """GPT-5.6 at a server that nobody knows: asked on chat, refused, asked on Responses."""
    answers = iter(
        [
            reply(Think("Multiply."), Call("calculator", {"expression": "6*7"}, "c1")),
            reply("It is 42."),
        ]
    )

    def answer(request: Received) -> Reply:
        if request.path.endswith("/chat/completions"):
            return refuse(400, openai(GPT_TOOLS, "reasoning_effort"))
        return next(answers)

    failing.provider.answer = answer
    await in_thread(LanguageModel.objects.update)(reasoning=True)
    tab = await failing.tab()
    await tab.send("How much is six times seven?")
    await tab.sees("It is 42.")
    await tab.sees_the_end()
    assert "Multiply." in tab.page.text_of("t")
    await tab.equals_a_fresh_page()
    assert await kept() == [("wire", "", "responses")]


async def test_a_tool_that_is_refused_is_named(failing: Site) -> None:
    refusal = EXPLAINED["a tool's schema"]
    body = json.loads(json.dumps(refusal.body).replace("get_weather", "calculator"))
    failing.provider.script(refuse(refusal.status, body))
    tab = await failing.tab()
    await tab.send("Hello?")
    await tab.sees("The provider does not accept the tool calculator.")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
