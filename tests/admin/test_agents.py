"""An agent: its tools are ticked from those that are there, its thinking chosen (A11, A16)."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.urls import reverse

from chat.models import Agent, Conversation, Example, LanguageModel
from chat.protocol.errors import ChatError
from chat.services import Caller, Picks, catalog_for, choose, current_catalog, send
from chat.tools import registry
from chat.tools.registry import ToolLimits
from tests.support import factories as make
from tests.support.model_server import reply
from tests.support.site import Site
from tests.support.tabs import in_thread


def given(**fields: Any) -> dict[str, Any]:
    return {
        "name_en": "Helper", "name_zh_hans": "帮手",
        "description_en": "", "description_zh_hans": "",
        "system_prompt_en": "", "system_prompt_zh_hans": "", "model": "", "max_steps": 8,
        "tool_style": "auto", "unwatched": "stop", "enabled": "on", "for_everybody": "on",
        "examples-TOTAL_FORMS": 0, "examples-INITIAL_FORMS": 0, **fields,
    }  # fmt: skip


def test_every_registered_tool_is_a_checkbox(admin: Client) -> None:
    page = admin.get(reverse("admin:chat_agent_add")).content.decode()
    for tool in registry:
        assert f'type="checkbox" name="tools" value="{tool.name}"' in page


def test_fields_are_named_in_words_and_have_no_pictures_beside_them(admin: Client) -> None:
    """Also those of the examples; Django's pictures lead to windows of their own."""
    agent = make.an_agent(make.a_model())
    Example.objects.create(agent=agent, title_en="Ask", text_en="What is 2+2?")
    page = admin.get(reverse("admin:chat_agent_change", args=[agent.pk])).content.decode()
    for label in ("Name (English)", "Name (简体中文)", "What is asked (简体中文)"):
        assert label in page
    assert "[en]" not in page
    assert "related-widget-wrapper-link" not in page


def test_ticked_tools_are_the_agents_tools(admin: Client) -> None:
    response = admin.post(reverse("admin:chat_agent_add"), given(tools=["calculator"]))
    assert response.status_code == 302
    agent = Agent.objects.get()
    assert agent.tools == ["calculator"]
    assert [str(getattr(agent, f"name_{code}")) for code in ("en", "zh_hans")] == ["Helper", "帮手"]


def test_a_tool_that_is_not_there_cannot_be_ticked(admin: Client) -> None:
    response = admin.post(reverse("admin:chat_agent_add"), given(tools=["rm_rf"]))
    assert "tools" in response.context["adminform"].form.errors


def test_a_tool_that_is_away_for_now_stays_allowed(admin: Client) -> None:
    agent = make.an_agent(tools=["gone_tool"])
    address = reverse("admin:chat_agent_change", args=[agent.pk])
    assert "gone_tool" in admin.get(address).content.decode()
    assert admin.post(address, given(tools=["gone_tool"])).status_code == 302
    assert Agent.objects.get().tools == ["gone_tool"]


def test_what_the_empty_page_offers_to_ask_is_the_agents_in_each_language(admin: Client) -> None:
    """A16"""
    example = {
        "position": 1, "icon": "globe",
        "title_en": "Look it up", "title_zh_hans": "查一查",
        "text_en": "What is new?", "text_zh_hans": "有什么新闻？",
    }  # fmt: skip
    rows = {f"examples-0-{name}": value for name, value in example.items()}
    address = reverse("admin:chat_agent_add")
    default = {"is_default": "on", "examples-TOTAL_FORMS": 1}
    response = admin.post(address, given(**rows, **default))
    assert response.status_code == 302
    # English last: a request leaves its language to the test that comes next.
    for language, title in (("zh-hans", "查一查"), ("en", "Look it up")):
        page = admin.get("/", headers={"Accept-Language": language}).content.decode()
        assert page.count('class="example"') == 1
        assert f"<strong>{title}</strong>" in page


def test_how_hard_an_agent_thinks_is_chosen_in_words(admin: Client) -> None:
    address = reverse("admin:chat_agent_add")
    for language, names in (("zh-hans", ("自动", "极高")), ("en", ("Automatic", "Extra high"))):
        page = admin.get(address, headers={"Accept-Language": language}).content.decode()
        for value, name in zip(("", "xhigh"), names, strict=True):
            assert re.search(rf'<option value="{value}"[^>]*>{name}</option>', page)
    assert admin.post(address, given(effort="high")).status_code == 302
    assert Agent.objects.get().effort == "high"
    response = admin.post(address, given(effort="deepest"))
    assert "effort" in response.context["adminform"].form.errors


@pytest.mark.parametrize(
    ("given_steps", "kept"),
    [('["none", "low"]', ["none", "low"]), ("", None), ("[]", []), ('["<b>"]', 0), ('{"a": 1}', 0)],
)
def test_the_steps_of_a_model_are_a_list_of_names(
    admin: Client, given_steps: str, kept: object
) -> None:
    model = make.a_model(model_id="thinker")
    address = reverse("admin:chat_languagemodel_change", args=[model.pk])
    page = admin.get(address).context
    values = {
        name: value
        for name, value in page["adminform"].form.initial.items()
        if value is not None and value is not False
    }
    for each in page["inline_admin_formsets"]:
        prefix = each.formset.prefix
        values |= {f"{prefix}-TOTAL_FORMS": 0, f"{prefix}-INITIAL_FORMS": 0}
    response = admin.post(address, {**values, "efforts": given_steps})
    if kept == 0:
        assert "efforts" in response.context["adminform"].form.errors
        kept = None
    else:
        assert response.status_code == 302, response.context["adminform"].form.errors
    model.refresh_from_db()
    assert model.efforts == kept


def test_a_copy_has_everything_but_is_switched_off(admin: Client) -> None:
    """A11"""
    agent = make.an_agent(name_en="Writer", system_prompt_en="Write.", tools=["calculator"])
    agent.examples.create(title_en="Ask", text_en="What?")
    address = reverse("admin:chat_agent_duplicate", args=[agent.pk])
    assert admin.get(address).status_code == 405
    made = admin.post(address)
    copy = Agent.objects.get(name_en="Writer (copy)")
    assert made["Location"] == reverse("admin:chat_agent_change", args=[copy.pk])
    assert (copy.system_prompt, copy.tools, copy.model) == ("Write.", ["calculator"], agent.model)
    assert (copy.enabled, copy.is_default) == (False, False)
    assert [example.text_en for example in copy.examples.all()] == ["What?"]
    assert agent.examples.count() == 1


def test_agents_are_archived_and_brought_back_but_not_the_default(admin: Client) -> None:
    one, default = make.an_agent(), make.an_agent(is_default=True)
    rows = reverse("admin:chat_agent_changelist")
    chosen = {"_selected_action": [str(one.pk), str(default.pk)]}
    page = admin.post(rows, {"action": "archive", **chosen}, follow=True).content.decode()
    assert "1 agent was changed." in page
    assert "leave it on" in page
    enabled = Agent.objects.filter(enabled=True)
    assert list(enabled) == [default]
    admin.post(rows, {"action": "bring_back", **chosen})
    assert enabled.all().count() == 2


def test_what_would_leave_somebody_without_an_answer_is_refused(admin: Client) -> None:
    off = make.a_model(enabled=False)
    address = reverse("admin:chat_agent_add")
    for fields, field in (
        ({"is_default": "on", "for_everybody": ""}, "for_everybody"),
        ({"is_default": "on", "enabled": ""}, "enabled"),
        ({"model": str(off.pk)}, "model"),
    ):
        response = admin.post(address, given(**fields))
        assert list(response.context["adminform"].form.errors) == [field]


async def test_an_agent_that_is_off_is_tried_by_whoever_may_change_it(site: Site) -> None:
    """A11: its instructions are tried before anybody else meets them."""
    model = await in_thread(LanguageModel.objects.get)(model_id="scripted-small")
    agent = await in_thread(make.an_agent)(model, name="Draft", enabled=False)
    alice, address = site.alice, f"/?agent={agent.pk}&temporary=1"
    caller, picks = Caller(alice.user.pk), Picks(agent_id=str(agent.pk))
    assert str(agent.pk) not in (await alice.client.get(address)).content.decode()
    assert (await choose(caller, site.talk.pk, picks)).agent != str(agent.pk)
    right = await in_thread(Permission.objects.get)(codename="change_agent")
    await in_thread(alice.user.user_permissions.add)(right)
    page = (await alice.client.get(address)).content.decode()
    assert re.search(rf'value="{agent.pk}"\s[^>]*selected', page)
    assert str(agent.pk) not in (await alice.client.get("/")).content.decode()
    assert (await alice.client.get(f"/introduction/?agent={agent.pk}")).status_code == 200
    site.provider.script(reply("As a draft."))
    tab = await site.tab()
    assert (await choose(caller, site.talk.pk, picks)).agent == str(agent.pk)
    await tab.send("Hi")
    await tab.sees_the_end()
    assert "As a draft." in tab.page.text_of("t")
    await in_thread(alice.user.user_permissions.clear)()
    with pytest.raises(ChatError, match="agent_not_found"):
        await send(caller, site.talk.pk, "Again")


def test_saving_leads_to_a_chat_with_it(admin: Client) -> None:
    response = admin.post(reverse("admin:chat_agent_add"), given(_try="1", enabled=""))
    agent = Agent.objects.get()
    assert response["Location"] == f"/?agent={agent.pk}&temporary=1"
    page = admin.get(reverse("admin:chat_agent_change", args=[agent.pk])).content.decode()
    assert f"/?agent={agent.pk}&amp;temporary=1" in page


async def test_an_agent_for_a_group_is_nobody_elses(site: Site) -> None:
    """A11: neither offered nor answering, whatever a form says, nor when the group is gone."""
    group, agent = await in_thread(_an_agent_for_a_group)()
    alice, talk = site.alice.user, site.talk
    picks = Picks(agent_id=str(agent.pk))
    caller = Caller(alice.pk)
    catalog = await in_thread(catalog_for)(caller)
    assert catalog.picked_agent(str(agent.pk)) is None
    page = (await site.alice.client.get("/")).content.decode()
    assert str(agent.pk) not in page
    introduced = f"/introduction/?agent={agent.pk}"
    assert (await site.alice.client.get(introduced)).status_code == 404
    await in_thread(Conversation.objects.filter(pk=talk.pk).update)(agent=agent)
    with pytest.raises(ChatError, match="agent_not_found"):
        await send(caller, talk.pk, "Hello")
    await in_thread(alice.groups.add)(group)
    assert (await site.alice.client.get(introduced)).status_code == 200
    assert (await choose(caller, talk.pk, picks)).agent == str(agent.pk)
    await in_thread(group.delete)()
    assert (await in_thread(catalog_for)(caller)).picked_agent(str(agent.pk)) is None


def _an_agent_for_a_group() -> tuple[Group, Agent]:
    group = Group.objects.create(name="Writers")
    agent = make.an_agent(name="Theirs", for_everybody=False)
    agent.groups.add(group)
    return group, agent


def test_a_tool_keeps_the_limits_that_were_set_for_it() -> None:
    limits = {"calculator": ToolLimits(timeout=3, output=200)}
    box = registry.toolbox(["calculator", "todo_write"], limits=limits)
    found = {tool.name: (tool.timeout, tool.output_limit) for tool in box._tools.values()}
    assert found["calculator"] == (3, 200)
    assert found["todo_write"] != (3, 200)


def test_limits_of_a_tool_are_in_the_catalog_at_once(admin: Client) -> None:
    row = make.a_tool_setting("calculator")
    address = reverse("admin:chat_toolsetting_change", args=[row.pk])
    given_limits = {"enabled": "on", "timeout": "5", "output_limit": "500"}
    assert admin.post(address, given_limits).status_code == 302
    assert current_catalog().tool_limits == {"calculator": ToolLimits(5, 500)}
    refused = admin.post(address, {"enabled": "on", "timeout": "0", "output_limit": "5"})
    assert set(refused.context["adminform"].form.errors) == {"timeout", "output_limit"}
