"""Everybody can use the administration: axe finds nothing on any page, in both themes."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin as django_admin
from django.urls import reverse
from playwright.sync_api import Browser, Page

from tests.browser.test_access import faults
from tests.browser.visitors import Seeded, Visit, Visitor, visiting
from tests.security.routes import routes
from tests.support.process import free_port
from tests.support.server import python, running_server

# Pages of our own, a list and a form every day; all pages in the full run.
EVERY_DAY = (
    "/admin/", "/admin/connect/", "/admin/connect/?preset=custom", "/admin/chat/conversation/",
    "/admin/chat/agent/add/", "/admin/chat/dailyusage/report/", "{conversation}",
)  # fmt: skip
LOOKS = [("en-light", 1440), ("zh-hans-dark", 390)]


# Of the page, or on a phone of a list in it.
TOO_WIDE = """() => Math.max(
  document.documentElement.scrollWidth - innerWidth,
  ...[...document.querySelectorAll(".results, .usage-table")]
    .filter(() => innerWidth < 640).map(list => list.scrollWidth - list.clientWidth),
)"""


def wrong_with(page: Page) -> list[Any]:
    """What axe finds; nobody scrolls sideways either."""
    wide = page.evaluate(TOO_WIDE)
    return [*faults(page), *([f"{wide} px too wide"] if wide > 0 else [])]


def found(visitor: Visitor, page: Page, addresses: list[str]) -> dict[str, Any]:
    """What is wrong, page by page; who is asked for a reason gives one."""
    wrong: dict[str, Any] = {}
    for address in addresses:
        page.goto(visitor.seeded.url + address)
        trouble = wrong_with(page)
        if page.locator("form.reason").count():
            page.locator("form.reason textarea").fill("To see the page")
            with page.expect_navigation():
                page.locator("form.reason button").click()
            trouble += wrong_with(page)
        if page.locator(".filters summary").count():
            page.locator(".filters summary").first.click()
            trouble += wrong_with(page)
        if trouble:
            wrong[address] = trouble
    return wrong


# Whose page it is that has no list of its own rows to come from, and what leads to it.
LINKED = {
    "agent_id": "agent", "answer_id": "message", "conversation_id": "conversation",
    "invitation_id": "invitation", "part_id": "part", "provider_id": "provider", "user_id": "user",
}  # fmt: skip
# Addresses of the administration that show no page of their own: they are posted to, lead on, or
# are data for a page. The inspector of a part is opened on the page of its conversation.
PAGELESS = {
    "chat_part_inspect",
    *("login", "logout", "jsi18n", "autocomplete", "view_on_site", "app_list", "stop_answer"),
    *("chat_conversation_act", "chat_conversation_export", "chat_agent_duplicate"),
    *("chat_invitation_revoke", "auth_user_factor", "auth_user_disconnect", "auth_user_log_out"),
    "auth_user_link",
}
ROW = re.compile(r"/admin/(?:chat|auth)/(\w+)/([^/]+)/change/")


def first_rows(page: Page) -> dict[str, str]:
    """The id of a row of each kind, as the lists have it."""
    found = {}
    for model in django_admin.site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        page.goto(reverse(f"admin:{name}_changelist"))
        link = page.locator("#result_list tbody a[href*='/change/']").first
        if link.count() and (row := ROW.search(link.get_attribute("href") or "")):
            found[row[1]] = row[2]
    return found


def all_pages(page: Page) -> dict[str, str]:
    """An address for each route that shows a page; a new one is visited without being named."""
    rows = first_rows(page)
    pages = {}
    for route in routes():
        name = route.name.removeprefix("admin:")
        kind = route.pattern.removeprefix("admin/").split("/")[1:2]
        if not route.is_admin or name in PAGELESS or "/" in name:
            continue
        values = {key: rows.get(LINKED.get(key, kind[0]), "") for key in route.parameters}
        # Of some there is no row, and a few can be neither added nor deleted by hand.
        if all(values.values()):
            pages[name] = f"/{route.filled(values)}"
    return pages


def wrong_with_a_link(page: Page, person: str) -> list[Any]:
    """The page that has the link to a password, once."""
    page.goto(person)
    page.locator("form[action$='/link/'] button").click()
    page.wait_for_url("**/link/")
    return wrong_with(page)


def wrong_before_deletion(page: Page) -> list[Any]:
    """What it asks before several rows go."""
    page.goto(reverse("admin:chat_languagemodel_changelist"))
    page.locator("#result_list tbody input.action-select").first.check()
    page.locator("select[name=action]").select_option("delete_selected")
    page.locator("button[name=index]").click()
    page.locator("input[name=post]").wait_for(state="attached")
    return wrong_with(page)


def wrong_with_a_refusal(page: Page, conversation: str) -> list[Any]:
    """The inspector, when what was entered breaks a rule of parts."""
    page.goto(conversation)
    page.locator("[data-inspect]").last.click()
    inspector = page.locator(".inspector")
    inspector.locator("summary").first.click()
    inspector.locator("[name=data]").fill("{")
    inspector.locator(".end button").click()
    inspector.locator("[name=data][aria-invalid=true]").wait_for()
    return wrong_with(page)


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeded]:
    """One with a row of everything, apart from the one that all other tests visit."""
    data = tmp_path_factory.mktemp("furnished")
    port = str(free_port())
    with running_server(data, PORT=port) as server:
        people = python(data, "-m", "tests.shots.seed", PORT=port)
        rows = python(data, "-m", "tests.shots.everything", PORT=port)
        assert (people.returncode, rows.returncode) == (0, 0), people.stderr + rows.stderr
        yield Seeded(server.url, json.loads(people.stdout))


@pytest.mark.parametrize(("person", "width"), LOOKS)
def test_pages_of_the_administration_are_for_everybody(
    visit: Visit, person: str, width: int
) -> None:
    visitor = visit(person, width, bypass_csp=True)
    talk = visitor.places["chat"].strip("/").removeprefix("c/")
    conversation = f"/admin/chat/conversation/{talk}/change/"
    addresses = [address.format(conversation=conversation) for address in EVERY_DAY]
    page = visitor.open("/admin/")
    assert found(visitor, page, addresses) == {}
    page.locator("[data-inspect]").last.click()
    page.locator(".inspector").wait_for()
    assert faults(page) == []


@pytest.mark.full
@pytest.mark.parametrize(("person", "width"), LOOKS)
def test_every_page_of_the_administration_is_for_everybody(
    furnished: Seeded, browser: Browser, person: str, width: int
) -> None:
    with visiting(furnished, browser) as come:
        visitor = come(person, width, bypass_csp=True)
        page = visitor.open("/admin/")
        pages = all_pages(page)
        assert pages.keys() >= {
            *("auth_user_password_change", "password_change", "connected"),
            *("chat_message_details", "chat_auditentry_reason"),
        }
        assert len(pages) > 100
        assert found(visitor, page, list(pages.values())) == {}
        assert wrong_with_a_link(page, pages["auth_user_change"]) == []
        assert wrong_before_deletion(page) == []
        assert wrong_with_a_refusal(page, pages["chat_conversation_change"]) == []
