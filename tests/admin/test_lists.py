"""What lists and forms of the administration say, in words and figures that people read."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation
from lxml import html  # type: ignore[import-untyped]

from chat.models import AuditEntry, Budget
from tests.support import factories as make


@pytest.fixture(autouse=True)
def _language() -> Iterator[None]:
    """A page leaves the language of its reader behind."""
    with translation.override("en"):
        yield


ZH = {"accept-language": "zh-hans"}


def text_of(page: str, path: str) -> list[str]:
    return [" ".join(each.text_content().split()) for each in html.fromstring(page).xpath(path)]


@pytest.mark.parametrize(("headers", "told"), [({}, "2 rows"), (ZH, "共 2 条")])
def test_rows_are_counted_whatever_their_list_is_called(
    headers: dict[str, str], told: str, admin: Client
) -> None:
    for _ in range(2):
        AuditEntry.objects.create(actor="root", verb="read")
    page = admin.get(reverse("admin:chat_auditentry_changelist"), headers=headers)
    [counted] = text_of(page.content.decode(), "//p[@class='paginator']")
    assert counted == told


def test_limits_are_figures_that_can_be_read(admin: Client) -> None:
    Budget.objects.create(tokens_per_day=1_500_000, cost_per_day=0, cost_per_month=Decimal(20))
    page = admin.get(reverse("admin:chat_budget_changelist")).content.decode()
    shown = {
        name: text_of(page, f"//td[contains(@class, 'field-{name}')]")
        for name in ("day_tokens", "month_tokens", "day_cost", "month_cost")
    }
    assert shown == {
        "day_tokens": ["1,500,000"], "month_tokens": ["–"],
        "day_cost": ["$0"], "month_cost": ["$20.00"],
    }  # fmt: skip


def test_of_a_password_it_is_said_that_there_is_one(admin: Client) -> None:
    olivia = make.a_user("olivia")
    olivia.set_unusable_password()
    olivia.save()
    address = reverse("admin:auth_user_change", args=[olivia.pk])
    assert "No password set." in admin.get(address).content.decode()
    olivia.set_password("a very long password")
    olivia.save()
    page = admin.get(address).content.decode()
    assert "A password is set." in page
    assert "hash" not in page
    assert olivia.password.split("$")[-1][:6] not in page


def test_chinese_leaves_no_gap_before_what_is_added(admin: Client) -> None:
    page = admin.get(reverse("admin:chat_budget_add"), headers=ZH).content.decode()
    assert text_of(page, "//h1") == ["增加预算"]
