"""Saved prompts: kept, changed, deleted by whom they belong to; shared ones for everybody."""

import html
import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Profile, Prompt
from chat.protocol.errors import ChatError
from chat.services import Caller, list_prompts, save_prompt
from chat.services.catalog import prompts as service
from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client: Client) -> User:
    user = make.a_user("alice")
    client.force_login(user)
    return user


def names(user: User) -> list[str]:
    return [prompt.name for prompt in list_prompts(Caller(user.pk))]


def post(client: Client, name: str, text: str, path: str = "/settings/prompts/") -> Any:
    return client.post(path, {"name": name, "text": text}, headers={"accept-language": "en"})


@pytest.mark.both_databases
def test_a_prompt_is_kept_changed_and_deleted(client: Client, alice: User) -> None:
    assert post(client, "/sum-up", " Sum up:\r\n{{text}} ").status_code == 302
    prompt = Prompt.objects.get(owner=alice)
    assert (prompt.name, prompt.text) == ("sum-up", "Sum up:\n{{text}}")
    path = f"/settings/prompts/{prompt.pk}/"
    page = client.get(path).content.decode()
    assert 'value="sum-up"' in page
    assert "Sum up:" in page
    assert post(client, "Sum-Up", "Better", path).status_code == 302
    prompt.refresh_from_db()
    assert (prompt.name, prompt.text) == ("Sum-Up", "Better")
    assert client.post(f"{path}delete/").status_code == 302
    assert names(alice) == []


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("two words", "x", "One word only"),
        ("", "x", "One word only"),
        ("ok", " ", "Write what the prompt says"),
        ("ok", "x" * 20_001, "at most 20000 characters"),
        ("ok", "".join(f"{{{{v{n}}}}}" for n in range(21)), "At most 20 different variables"),
        ("TAKEN", "x", "You have a prompt called TAKEN already"),
    ],
)
def test_a_refused_prompt_says_why_and_keeps_what_was_typed(
    client: Client, alice: User, name: str, text: str, reason: str
) -> None:
    post(client, "taken", "There first")
    response = post(client, name, text)
    page = html.unescape(response.content.decode())
    assert response.status_code == 409
    assert reason in page
    assert f'value="{name}"' in page
    assert text.strip()[:100] in page
    assert names(alice) == ["taken"]
    Profile.objects.filter(user=alice).update(language="zh-hans")
    chinese = html.unescape(post(client, name, text).content.decode())
    assert reason not in chinese


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        ("two words", "x", "error.chat_prompt_name_invalid"),
        ("ok", " ", "error.chat_prompt_text_required"),
        ("ok", "x" * 20_001, "error.chat_prompt_text_too_long"),
        ("ok", "".join(f"{{{{v{n}}}}}" for n in range(21)), "error.chat_prompt_too_many_variables"),
        ("TAKEN", "x", "error.chat_prompt_name_taken"),
    ],
)
def test_a_refusal_has_a_key(client: Client, alice: User, name: str, text: str, key: str) -> None:
    post(client, "taken", "There first")
    with pytest.raises(ChatError) as refused:
        save_prompt(Caller(alice.pk), name, text)
    assert refused.value.key == key


def test_a_strangers_prompt_is_not_there(alice: User) -> None:
    save_prompt(Caller(make.a_user("bob").pk), "theirs", "x")
    with pytest.raises(ChatError) as refused:
        save_prompt(Caller(alice.pk), "mine", "y", Prompt.objects.get().pk)
    assert refused.value.key == "error.chat_prompt_not_found"


def test_there_is_an_end_to_them(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_PROMPTS", 2)
    for name in ("a", "b"):
        save_prompt(Caller(alice.pk), name, "x")
    with pytest.raises(ChatError) as refused:
        save_prompt(Caller(alice.pk), "c", "x")
    assert refused.value.key == "error.chat_prompt_too_many"


def test_shared_ones_are_everybodys_and_nobodys_to_change(client: Client, alice: User) -> None:
    bob = make.a_user("bob")
    shared = Prompt.objects.create(name="all", text="For all")
    of_bob = Prompt.objects.create(owner=bob, name="mine", text="Bob's")
    save_prompt(Caller(alice.pk), "zz", "x")
    assert names(alice) == ["zz", "all"]
    assert names(bob) == ["mine", "all"]
    assert client.get(f"/prompts/{shared.pk}/").status_code == 200
    for prompt in (shared, of_bob):
        path = f"/settings/prompts/{prompt.pk}/"
        assert client.get(path).status_code == 404
        assert post(client, "x", "y", path).status_code == 404
        assert client.post(f"{path}delete/").status_code == 404
    assert client.get(f"/prompts/{of_bob.pk}/").status_code == 404
    assert Prompt.objects.filter(name__in=["all", "mine"]).count() == 2


def pieces(client: Client, text: str) -> tuple[list[dict[str, str]], str]:
    prompt = Prompt.objects.create(name="one", text=text)
    drawn = client.get(f"/prompts/{prompt.pk}/").content.decode()
    (found,) = re.findall(r'data-pieces="([^"]*)"', drawn)
    return json.loads(html.unescape(found)), drawn


def test_what_is_asked_for_and_the_date_in_ones_own_words(client: Client, alice: User) -> None:
    Profile.objects.create(user=alice, language="zh-hans", time_zone="Asia/Shanghai")
    found, drawn = pieces(client, 'On {{date}}: "<b>" {{who:you & me}}')
    assert found[0] == {"text": "On "}
    assert re.fullmatch(r"\d{4}年\d{1,2}月\d{1,2}日", found[1]["text"])
    assert found[2:] == [{"text": ': "<b>" '}, {"variable": "who"}]
    assert "you &amp; me</textarea>" in drawn
    assert "<b>" not in drawn


def test_the_list_is_drawn_in_few_queries(
    client: Client, alice: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        save_prompt(Caller(alice.pk), f"p{number}", "<i>x</i>")
    client.get("/prompts/")  # the first request notes the log-in and reads the catalog
    with django_assert_max_num_queries(5):
        drawn = client.get("/prompts/").content.decode()
    assert drawn.count('role="option"') == 30
    assert "<i>" not in drawn
