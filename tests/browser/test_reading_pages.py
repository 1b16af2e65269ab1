"""A page of the web is read for a person, who sees which one."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.owner import Enter, equals_a_fresh_page
from tests.browser.talking import answered, send
from tests.support.page_server import Pages, running_pages
from tests.support.process import free_port
from tests.support.server import Server, running_server


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    with running_pages() as pages:
        yield pages


@pytest.fixture(scope="module")
def intranet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Parley whose operator lets this machine's pages be read."""
    data = tmp_path_factory.mktemp("parley")
    settings = {"PORT": str(free_port()), "PARLEY_PRIVATE_HOSTS": "127.0.0.1"}
    with running_server(data, **settings) as server:
        yield server


def test_a_page_that_was_read_shows_its_card(enter: Enter, intranet: Server, pages: Pages) -> None:
    window = enter(intranet)
    page = window.open("/")
    send(page, f"Read {pages.url('/tides')}")
    page.wait_for_url("**/c/**")
    answered(page, 1)
    page.locator("#t .work summary, #t .tool summary").first.click()
    card = page.locator("#t .tool")
    if not card.locator(".web-page").is_visible():
        card.locator("summary").click()
    link = card.get_by_role("link", name="Tides & times")
    expect(link).to_have_attribute("href", pages.url("/tides"))
    expect(link).to_have_attribute("target", "_blank")
    expect(card.locator(".web-page")).to_contain_text("127.0.0.1")
    expect(card.locator(".web-page")).to_contain_text("the tide turns twice a day")
    equals_a_fresh_page(window, page)


def test_nobody_reads_this_machine_unless_the_operator_says_so(enter: Enter, pages: Pages) -> None:
    before = pages.connections
    page = enter(locale="zh-CN").open("/")
    send(page, f"阅读 {pages.url('/secret')}")
    page.wait_for_url("**/c/**")
    answered(page, 1)
    expect(page.locator("#t .tool")).to_contain_text("127.0.0.1 不在公共互联网上")
    assert pages.connections == before
