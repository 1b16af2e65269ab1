"""Claude Code in the administration: a form of its own, for superusers, with a test (D3)."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from lxml import html

from chat.models import Agent, Provider
from chat.services.catalog.defaults import ensure_defaults
from chat.services.catalog.providers import connection_of
from tests.admin.provider_form import NO_MODELS, change
from tests.support import factories as make
from tests.support.claude_program import Played

ADD = reverse("admin:chat_provider_add")
OWN_FIELDS = {"program", "program_arguments", "permission_mode", "allowed_tools"}


@pytest.fixture
def program(tmp_path: Path, settings: Any) -> Played:
    settings.PARLEY_CLAUDE_CODE = tmp_path / "claude_code"
    return Played(tmp_path / "program").play([])


def given(path: str, **fields: Any) -> dict[str, Any]:
    return {
        "name_en": "Claude Code", "name_zh_hans": "", "enabled": "on", "program": path,
        "base_url": "", "new_key": "", "permission_mode": "", "allowed_tools": "",
        "program_arguments": "", **NO_MODELS, **fields,
    }  # fmt: skip


def names(page: bytes) -> set[str]:
    form = html.fromstring(page.decode()).get_element_by_id("provider_form")
    return set(form.fields)


def told(client: Client, address: str, posted: dict[str, Any]) -> str:
    page = html.fromstring(client.post(address, posted, follow=True).content.decode())
    return " ".join(" ".join(page.xpath("//*[contains(@class, 'messagelist')]//text()")).split())


def test_its_fields_are_in_its_form_alone(admin: Client) -> None:
    own = names(admin.get(f"{ADD}?preset=claude-code").content)
    assert own >= OWN_FIELDS
    assert not own & {"kind", "wire", "tool_style", "extra_headers"}
    other = admin.get(f"{ADD}?preset=deepseek").content
    assert not names(other) & OWN_FIELDS
    assert b'value="claude_code"' not in other


def test_what_is_set_is_what_is_run(admin: Client, program: Played) -> None:
    lines = {"allowed_tools": "Read\n Bash(git log *) \n\n", "program_arguments": "--max-turns\n20"}
    admin.post(f"{ADD}?preset=claude-code", given(program.path, new_key="sk-ant-1", **lines))
    provider = Provider.objects.get(kind="claude_code")
    command = connection_of(provider).command
    assert command is not None
    assert (command.path, command.permission_mode) == (program.path, "")
    assert command.allowed_tools == ("Read", "Bash(git log *)")
    assert command.arguments == ("--max-turns", "20")
    assert "sk-ant-1" not in admin.get(change(provider)).content.decode()
    assert "Read\nBash(git log *)" in admin.get(change(provider)).content.decode()


def test_a_relative_path_is_refused(admin: Client) -> None:
    page = admin.post(f"{ADD}?preset=claude-code", given("claude")).content.decode()
    assert "Enter the whole path of a program" in page
    assert not Provider.objects.filter(kind="claude_code").exists()


def test_the_test_says_the_version_or_what_is_wrong(admin: Client, program: Played) -> None:
    ensure_defaults()
    before = list(Agent.objects.values_list("model_id", flat=True))
    said = told(admin, f"{ADD}?preset=claude-code", given(program.path, _test="1"))
    assert "Claude Code runs: 9.9.9 (Claude Code)." in said
    provider = Provider.objects.get(kind="claude_code")
    listed = set(provider.models.values_list("model_id", flat=True))
    assert listed == {"sonnet", "opus", "haiku"}
    # Not everybody may use it, so no agent is given it by itself.
    assert list(Agent.objects.values_list("model_id", flat=True)) == before
    Path(program.path).unlink()
    said = told(admin, change(provider), given(program.path, _test="1"))
    assert "Claude Code does not run. The program that answers is not on the server" in said


def test_whoever_may_change_providers_may_not_name_a_program(
    client: Client, staff: User, program: Played
) -> None:
    kinds = Permission.objects.filter(codename__endswith="_provider")
    staff.user_permissions.set(kinds)
    client.force_login(staff)
    form = client.get(f"{ADD}?preset=claude-code").content
    assert b"preset=claude-code" not in form
    assert not names(form) & OWN_FIELDS
    for kind in ({}, {"kind": "claude_code"}):
        client.post(f"{ADD}?preset=claude-code", {**given(program.path), **kind})
    assert not Provider.objects.exclude(program="").exists()
    assert not Provider.objects.filter(kind="claude_code").exists()
    row = make.a_provider(name="Claude Code", kind="claude_code", program="/bin/true")
    assert client.post(change(row), given(program.path)).status_code == 403
    listing = reverse("admin:chat_provider_changelist")
    client.post(listing, {"action": "test", "_selected_action": [str(row.pk)]})
    client.post(
        listing, {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes"}
    )
    row.refresh_from_db()
    assert row.program == "/bin/true"
    assert not row.models.exists()
