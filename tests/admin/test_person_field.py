"""Whom a row is about is entered by name."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from lxml import html  # type: ignore[import-untyped]

from chat.admin.person_field import LONGEST
from chat.models import Budget, Profile, Prompt
from tests.support import factories as make

ADD = reverse("admin:chat_budget_add")
LIMITS = (
    "messages_per_minute", "running_answers", "tokens_per_day", "tokens_per_month",
    "cost_per_day", "cost_per_month",
)  # fmt: skip


def field(page: Any, name: str = "person") -> Any:
    [found] = html.fromstring(page.content.decode()).xpath(f"//input[@name='{name}']")
    return found


def suggested(page: Any) -> list[str]:
    options = html.fromstring(page.content.decode()).xpath("//datalist/option")
    return [option.get("value") for option in options]


def add(client: Client, person: str) -> Any:
    given = dict.fromkeys(LIMITS, "")
    return client.post(ADD, {**given, "group": "", "tokens_per_day": "5", "person": person})


@pytest.fixture
def olivia(db: None) -> User:
    return make.a_user(
        "olivia", email="olivia@acme.example", first_name="Olivia", last_name="Núñez"
    )


@pytest.mark.parametrize(
    "typed", ["olivia", " Olivia ", "OLIVIA@acme.example", "olivia Núñez", "oli\0via"]
)
@pytest.mark.both_databases
def test_a_person_is_found_by_what_they_are_called(typed: str, admin: Client, olivia: User) -> None:
    assert add(admin, typed).status_code == 302
    assert Budget.objects.get().person == olivia


def test_it_is_for_nobody_alone_when_it_is_empty(admin: Client, olivia: User) -> None:
    assert add(admin, "").status_code == 302
    assert Budget.objects.get().person is None


def test_who_is_not_there_is_told_and_what_was_typed_stays(admin: Client, olivia: User) -> None:
    for typed in ("oliva", str(olivia.pk), '"><b>'):
        page = add(admin, typed)
        [told] = html.fromstring(page.content.decode()).find_class("errorlist")
        assert told.text_content().strip() == f"Nobody here is called “{typed}”."
        assert field(page).get("value") == typed
    assert not Budget.objects.exists()


def test_what_is_no_name_is_told_like_one(admin: Client, olivia: User) -> None:
    """SQLite compares no text of this length."""
    page = add(admin, "o" * 60_000)
    [told] = html.fromstring(page.content.decode()).find_class("errorlist")
    assert told.text_content().strip() == f"Nobody here is called “{'o' * LONGEST}…”."
    assert len(field(page).get("value")) == 60_000


def test_of_several_with_one_name_the_username_decides(admin: Client, olivia: User) -> None:
    make.a_user("liv", email=olivia.email)
    assert "enter the username" in add(admin, olivia.email).content.decode()
    assert add(admin, "liv").status_code == 302


def test_who_is_leaving_is_nobody_any_more(admin: Client, olivia: User) -> None:
    Profile.objects.create(user=olivia, leaving=True)
    assert "Nobody here" in add(admin, "olivia").content.decode()
    assert suggested(admin.get(ADD)) == ["root"]


def test_the_name_stands_in_the_field_and_saving_changes_nothing(
    admin: Client, olivia: User
) -> None:
    budget = Budget.objects.create(person=olivia, tokens_per_day=5)
    address = reverse("admin:chat_budget_change", args=[budget.pk])
    page = admin.get(address)
    assert field(page).get("value") == "olivia"
    assert set(suggested(page)) == {"olivia", "root"}
    assert add(admin, "root").status_code == 302
    prompt = Prompt.objects.create(
        name="hens", text="Hens", owner=User.objects.get(username="root")
    )
    page = admin.get(reverse("admin:chat_prompt_change", args=[prompt.pk]))
    assert field(page, "owner").get("value") == "root"


def test_who_may_not_see_people_is_told_of_nobody(
    client: Client, staff: User, olivia: User
) -> None:
    rights = Permission.objects.filter(codename__in=("add_budget", "view_budget"))
    staff.user_permissions.add(*rights)
    client.force_login(staff)
    page = client.get(ADD)
    assert suggested(page) == []
    assert field(page).get("list") is None
    assert "olivia" not in page.content.decode()
    assert add(client, "olivia").status_code == 302
