"""The search box: a piece of the page as one types, a whole page without scripts."""

from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from lxml import html  # type: ignore[import-untyped]

from chat.services.conversations.search import PAGE
from tests.search.talks import a_searchable_talk
from tests.support import factories as make

pytestmark = pytest.mark.django_db
SCRIPTED = {"HX-Request": "true"}


@pytest.fixture
def alice() -> User:
    return make.a_user("alice")


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def piece(browser: Client, query: str, **headers: str) -> html.HtmlElement:
    response = browser.get(f"/search/?{query}", headers={**SCRIPTED, **headers})
    assert response.status_code == 200
    return html.fromstring(response.content.decode())


def test_what_was_found_is_a_list_of_links(alice: User, browser: Client) -> None:
    talk = a_searchable_talk(alice, "Say <b>needle</b> & go", title="One <i>needle</i>")
    found = piece(browser, "q=needle", **{"HX-Current-URL": f"http://testserver/c/{talk.pk}/"})
    assert found.get("data-count") == "1 conversation found"
    (link,) = found.xpath("//li/a")
    assert link.get("href") == f"/c/{talk.pk}/#m1"
    assert link.get("aria-current") == "page"
    assert [mark.text for mark in link.xpath(".//mark")] == ["needle", "needle"]
    assert link.xpath("string(*[@class='name'])") == "One <i>needle</i>"
    assert link.xpath("string(*[@class='snippet'])") == "Say <b>needle</b> & go"


@pytest.mark.django_db(transaction=True)
def test_a_message_far_up_is_shown_among_those_around_it(alice: User, browser: Client) -> None:
    talk = a_searchable_talk(alice, "needle", *["hay"] * 80)
    (url,) = piece(browser, "q=needle").xpath("//li/a/@href")
    assert url == f"/c/{talk.pk}/?at=1#m1"
    page = html.fromstring(browser.get(url.split("#")[0]).content.decode())
    shown = page.xpath("//*[@id='t']/*[contains(@class, 'message')]/@id")
    assert shown == [f"m{position}" for position in range(1, 26)]
    (newer,) = page.xpath("//*[@id='newer']/a/@href")
    assert newer == f"/c/{talk.pk}/?after=25"
    assert page.xpath("//form[@id='composer']")


def test_nothing_found_is_said(browser: Client) -> None:
    assert piece(browser, "q=needle").text.strip() == "Nothing was found."
    chinese = browser.get("/search/?q=x", headers={**SCRIPTED, "Accept-Language": "zh-hans"})
    assert "没有" in chinese.content.decode()


def test_more_comes_where_the_way_to_it_was(alice: User, browser: Client) -> None:
    for number in range(PAGE + 1):
        a_searchable_talk(alice, "天气 a&b", title=f"Talk {number}")
    (more,) = piece(browser, f"q={quote('天气 a&b')}").xpath("//a[contains(@class, 'more')]")
    following = browser.get(more.get("data-more"), headers=SCRIPTED).content.decode()
    assert following.startswith("<ul")
    assert following.count("<li") == 1
    # The same without scripts.
    whole = html.fromstring(browser.get(more.get("href")).content.decode())
    assert len(whole.xpath("//*[@id='column']//li")) == 1


def test_without_scripts_it_is_a_page(alice: User, browser: Client) -> None:
    a_searchable_talk(alice, "the needle", title="A talk")
    a_searchable_talk(alice, "hay", title="Another")
    leading = browser.get("/search/?q=needle")
    assert leading.headers["Location"] == "/?q=needle"
    page = html.fromstring(browser.get("/?q=needle").content.decode())
    assert page.xpath("//*[@id='words']/@value") == ["needle"]
    assert page.xpath("//*[@id='column']//span[@class='name']/text()") == ["A talk"]
    assert page.xpath("//*[@id='column']//mark/text()") == ["needle"]


@pytest.mark.parametrize("query", ["q=%00", "q=%ED%A0%80", "page=x", "q=a&page=-1", "q=a&page=999"])
def test_odd_addresses_do_not_fail(browser: Client, query: str) -> None:
    piece(browser, query)
    assert browser.get(f"/?{query}").status_code == 200
