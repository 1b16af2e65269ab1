"""An agent: its tools are ticked from those that are there, its thinking chosen (A11, A16)."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import Agent
from chat.tools import registry
from tests.support import factories as make


def given(**fields: Any) -> dict[str, Any]:
    return {
        "name_en": "Helper", "name_zh_hans": "帮手",
        "description_en": "", "description_zh_hans": "",
        "system_prompt_en": "", "system_prompt_zh_hans": "", "model": "", "max_steps": 8,
        "tool_style": "auto", "unwatched": "stop", "enabled": "on",
        "examples-TOTAL_FORMS": 0, "examples-INITIAL_FORMS": 0, **fields,
    }  # fmt: skip


def test_every_registered_tool_is_a_checkbox(admin: Client) -> None:
    page = admin.get(reverse("admin:chat_agent_add")).content.decode()
    for tool in registry:
        assert f'type="checkbox" name="tools" value="{tool.name}"' in page


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
