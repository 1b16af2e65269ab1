"""Which model answers new chats, and which tools there are: who decides it, what is kept of it."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from chat.models import Agent, AuditEntry, LanguageModel, Provider, ToolSetting
from chat.services.catalog import providers, trial
from chat.services.catalog.defaults import ensure_defaults
from chat.tools import registry
from tests.admin.provider_form import change, given
from tests.support import factories as make
from tests.support.impatient_http import IMPATIENT
from tests.support.model_server import ScriptedProvider, reply

Log = list[tuple[str, str, str, str]]
REFUSED = "You may not decide which model answers new chats."


@pytest.fixture
def sam(
    client: Client,
    staff: User,
    monkeypatch: pytest.MonkeyPatch,
    scripted_provider: ScriptedProvider,
) -> Callable[..., Client]:
    """Somebody with these rights and no other, in a Parley where only the demo answers."""
    monkeypatch.setattr(providers, "LISTING", IMPATIENT)
    monkeypatch.setattr(trial, "TRYING", IMPATIENT)
    ensure_defaults()
    scripted_provider.answer = reply("Hello!")

    def with_rights(*names: str) -> Client:
        rights = Permission.objects.filter(codename__in=names)
        assert rights.count() == len(names)
        staff.user_permissions.set(rights)
        client.force_login(staff)
        return client

    return with_rights


def connect(client: Client, scripted_provider: ScriptedProvider) -> str:
    """Connect the provider; the page where its model is chosen."""
    sent = {"kind": "openai", "base_url": scripted_provider.base_url}
    page: str = client.post(f"{reverse('admin:connect')}?preset=custom", sent)["Location"]
    return page


def written_down() -> Log:
    entries = AuditEntry.objects.order_by("at", "id")
    return [
        (each.verb, each.kind, each.name, ",".join(each.details.get("fields", ())))
        for each in entries
    ]


def test_who_adds_the_first_provider_chooses_its_model_and_no_other(
    sam: Callable[..., Client], scripted_provider: ScriptedProvider
) -> None:
    client = sam("add_provider")
    page = connect(client, scripted_provider)
    model = LanguageModel.objects.get(model_id="scripted-small")
    client.post(page, {"model": str(model.pk)})
    agent = Agent.objects.get(is_default=True)
    assert agent.model == model
    assert written_down() == [
        ("add", "chat.provider", model.provider.name, ""),
        ("change", "chat.agent", agent.name, "model"),
    ]
    assert AuditEntry.objects.latest("id").details["model"] == "scripted-small"
    other = LanguageModel.objects.get(model_id="scripted-large")
    assert 'type="radio"' not in client.get(page).content.decode()
    assert REFUSED in client.post(page, {"model": str(other.pk)}).content.decode()
    assert Agent.objects.get(is_default=True).model == model
    client = sam("add_provider", "change_agent")
    client.post(page, {"model": str(other.pk)})
    assert Agent.objects.get(is_default=True).model == other


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("decided", ["nothing", "the demo"])
def test_new_chats_with_the_demo_are_not_for_whoever_adds_providers_to_decide(
    sam: Callable[..., Client], scripted_provider: ScriptedProvider, decided: str, on: bool
) -> None:
    """Somebody else has connected this provider, and has left new chats as they are."""
    if decided == "nothing":
        Agent.objects.filter(is_default=True).update(model=None)
    before = Agent.objects.get(is_default=True).model
    model = make.a_model(make.a_provider(kind="openai", base_url=scripted_provider.base_url))
    LanguageModel.objects.filter(pk=model.pk).update(enabled=on)
    page = reverse("admin:connected", args=[model.provider.pk])
    client = sam("add_provider")
    assert 'type="radio"' not in client.get(page).content.decode()
    assert REFUSED in client.post(page, {"model": str(model.pk)}).content.decode()
    refused = sam("add_provider", "change_agent").post(page, {"model": str(model.pk)})
    assert (refused.status_code == 200) == (not on)
    assert Agent.objects.get(is_default=True).model == (model if on else before)
    assert LanguageModel.objects.get(pk=model.pk).enabled == on


def test_the_first_choice_is_made_once(
    sam: Callable[..., Client], scripted_provider: ScriptedProvider
) -> None:
    client = sam("add_provider")
    page = connect(client, scripted_provider)
    demo = Agent.objects.get(is_default=True).model
    model = LanguageModel.objects.get(model_id="scripted-small")
    assert client.post(page, {"model": str(model.pk)}).status_code == 302
    Agent.objects.filter(is_default=True).update(model=demo)
    assert REFUSED in client.post(page, {"model": str(model.pk)}).content.decode()
    assert Agent.objects.get(is_default=True).model == demo


@pytest.mark.parametrize("off", ["provider", "model"])
def test_what_was_switched_off_takes_the_right_to_switch_it_on(
    sam: Callable[..., Client], scripted_provider: ScriptedProvider, off: str
) -> None:
    decided = make.a_model(make.a_provider(kind="openai", name="Acme"))
    Agent.objects.filter(is_default=True).update(model=decided)
    model = make.a_model(make.a_provider(kind="openai", base_url=scripted_provider.base_url))
    row: Provider | LanguageModel = model.provider if off == "provider" else model
    type(row).objects.filter(pk=row.pk).update(enabled=False)
    page = reverse("admin:connected", args=[model.provider.pk])
    refused = sam("add_provider", "change_agent").post(page, {"model": str(model.pk)})
    assert REFUSED in refused.content.decode()
    assert not type(row).objects.get(pk=row.pk).enabled
    right = "change_provider" if off == "provider" else "change_languagemodel"
    sam("add_provider", "change_agent", right).post(page, {"model": str(model.pk)})
    assert type(row).objects.get(pk=row.pk).enabled
    assert Agent.objects.get(is_default=True).model == model
    assert [entry[3] for entry in written_down()] == ["enabled", "model"]


def test_the_button_of_a_provider_takes_the_right_to_change_agents(
    sam: Callable[..., Client], scripted_provider: ScriptedProvider
) -> None:
    decided = make.a_model(make.a_provider(kind="openai", name="Acme"))
    Agent.objects.filter(is_default=True).update(model=decided)
    model = make.a_model(make.a_provider(kind="openai", base_url=scripted_provider.base_url))
    rights = ["view_provider", "change_provider"]
    for more, wanted in (([], decided), (["change_agent"], model)):
        client = sam(*rights, *more)
        page = f"{change(model.provider)}?tested={model.pk}"
        assert ('name="_use"' in client.get(page).content.decode()) == bool(more)
        sent = given(base_url=model.provider.base_url, _use=str(model.pk))
        told = client.post(change(model.provider), sent, follow=True).content.decode()
        assert (REFUSED in told) == (not more)
        assert Agent.objects.get(is_default=True).model == wanted
    assert ("change", "chat.agent", "Assistant", "model") in written_down()


def test_what_agents_use_after_the_first_listing_is_written_down(
    sam: Callable[..., Client], scripted_provider: ScriptedProvider
) -> None:
    provider = make.a_provider(kind="openai", base_url=scripted_provider.base_url)
    client = sam("view_provider", "change_provider")
    chosen = {"action": "list_models", "_selected_action": [str(provider.pk)]}
    client.post(reverse("admin:chat_provider_changelist"), chosen)
    changed = {entry[2] for entry in written_down() if entry[1] == "chat.agent"}
    assert changed == {agent.name for agent in Agent.objects.filter(model__provider=provider)}
    assert changed


def test_tools_that_are_switched_in_the_settings_are_written_down(
    sam: Callable[..., Client],
) -> None:
    """And agents that the page does not show keep what they may use."""
    away = make.an_agent(tools=["calculator"], enabled=False)
    tools = [tool.name for tool in registry]
    client = sam("change_toolsetting", "change_agent")
    agents = list(Agent.objects.filter(enabled=True))
    as_it_is = {f"agent-{agent.pk}": agent.tools for agent in agents}
    off = {row.tool for row in ToolSetting.objects.filter(enabled=False)}
    on = [tool for tool in tools if tool not in off]
    page = reverse("chat:tools")
    client.post(page, {**as_it_is, "everywhere": on})
    assert written_down() == []
    as_it_is[f"agent-{agents[0].pk}"] = []
    client.post(page, {**as_it_is, "everywhere": [tool for tool in on if tool != "calculator"]})
    setting = ToolSetting.objects.get(tool="calculator")
    assert sorted(written_down()) == [
        ("change", "chat.agent", agents[0].name, "tools"),
        ("change", "chat.toolsetting", str(setting), "enabled"),
    ]
    assert Agent.objects.get(pk=away.pk).tools == ["calculator"]
