"""A second factor and a log-in server, as somebody at a browser meets them."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, Page, expect

from tests.browser.owner import Enter
from tests.browser.test_access import faults
from tests.support.issuer import CLIENT, SECRET, Issuer, running_issuer
from tests.support.server import Server, running_server

# What sticks out of the screen, on either side.
OUTSIDE = """[...document.querySelectorAll("main *")].filter(each => {
  const box = each.getBoundingClientRect();
  return box.width && (box.left < 0 || box.right > innerWidth);
}).map(each => each.outerHTML.slice(0, 100))"""


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with running_issuer() as server:
        server.person |= {"preferred_username": "anna", "name": "Anna Li"}
        yield server


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> Iterator[Server]:
    """A Parley that demands a second factor of its administrators, and knows a log-in server."""
    with running_server(
        tmp_path_factory.mktemp("company"),
        PARLEY_SECOND_FACTOR="administration",
        PARLEY_OIDC_ISSUER=issuer.url,
        PARLEY_OIDC_CLIENT_ID=CLIENT,
        PARLEY_OIDC_CLIENT_SECRET=SECRET,
        PARLEY_OIDC_NAME="Example Ltd",
        PARLEY_OIDC_SIGN_UP="1",
    ) as server:
        yield server


def code_of(page: Page, moment: int = 0) -> str:
    """What an app shows that was told the letters."""
    secret = page.locator(".letters").inner_text().replace(" ", "")
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + moment))


def looked_at(page: Page, name: str) -> None:
    """In both themes, on a large and a small screen."""
    if folder := os.environ.get("SHOTS"):
        for width in (1440, 390):
            for theme in ("light", "dark"):
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=theme, reduced_motion="reduce")
                page.screenshot(
                    path=str(Path(folder) / f"{name}-{width}-{theme}.png"), full_page=True
                )
    for theme in ("light", "dark"):
        # Colours that change slowly would be looked at half way.
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert faults(page) == [], f"{name} {theme}"
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate(OUTSIDE) == []
    page.set_viewport_size({"width": 1280, "height": 800})


def test_an_administrator_sets_up_a_second_factor_and_enters(company: Server, enter: Enter) -> None:
    window = enter(company)
    page = window.open("/admin/")
    expect(page).to_have_url(f"{company.url}/settings/account/second-factor/")
    looked_at(page, "set-up")
    page.get_by_label("Code that the app shows").fill("000000")
    page.get_by_role("button", name="Set it up").click()
    expect(page.get_by_role("alert")).to_contain_text("This code is not right")
    page.get_by_label("Code that the app shows").fill(code_of(page))
    # A mistake does not begin anew: the app knows these letters already.
    later = code_of(page, 1)
    page.get_by_role("button", name="Set it up").click()
    expect(page.locator(".codes code")).to_have_count(10)
    looked_at(page, "codes")
    paper = page.locator(".codes code").all_inner_texts()
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    looked_at(page, "account")
    page.goto(f"{company.url}/admin/auth/user/")
    page.get_by_role("link", name="owner", exact=True).click()
    expect(page.get_by_role("button", name="Take off the second factor")).to_be_visible()
    looked_at(page, "person")
    page.goto(f"{company.url}/settings/account/second-factor/")
    expect(page.get_by_text("10 recovery codes are good still.")).to_be_visible()
    looked_at(page, "there")
    page.get_by_label("One-time code").fill(later)
    page.get_by_role("button", name="Make new recovery codes").click()
    expect(page.locator(".codes code").first).not_to_have_text(paper[0])
    # The second is of axe, which wants to measure.
    window.expected("422", "Applying inline style")


def test_somebody_comes_in_by_the_log_in_server(
    company: Server, issuer: Issuer, browser: Browser
) -> None:
    """The policy of our pages lets a browser go there and come back."""
    context = browser.new_context(base_url=company.url)
    page = context.new_page()
    page.goto("/accounts/login/?next=/settings/account/")
    looked_at(page, "log-in")
    page.get_by_role("link", name="Go on with Example Ltd").click()
    expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()
    expect(page.get_by_text("You come in as anna too.")).to_be_visible()
    looked_at(page, "account-of-anna")
    # Somebody else connects the account that they have, from this very page.
    page.get_by_label("New password", exact=True).fill("a longer horse 7")
    page.get_by_label("The same again").fill("a longer horse 7")
    page.get_by_role("button", name="Set a password").click()
    page.get_by_role("button", name="Disconnect").click()
    page.get_by_label("Your password").first.wait_for(state="attached")
    connect = page.locator("section[aria-labelledby=issuer]")
    connect.get_by_label("Your password").fill("a longer horse 7")
    connect.get_by_role("button", name="Connect").click()
    looked_at(page, "connect")
    page.get_by_role("link", name="Go on to Example Ltd").click()
    expect(page.get_by_text("From now on you can log in with Example Ltd.")).to_be_visible()
    # With a factor the log-in server alone is not enough.
    page.get_by_role("link", name="Set up a second factor").click()
    page.get_by_label("Your password").fill("a longer horse 7")
    page.get_by_label("Code that the app shows").fill(code_of(page))
    later = code_of(page, 1)
    page.get_by_role("button", name="Set it up").click()
    expect(page.locator(".codes code")).to_have_count(10)
    other = browser.new_context(base_url=company.url).new_page()
    other.goto("/accounts/login/")
    other.get_by_role("link", name="Go on with Example Ltd").click()
    expect(other.get_by_role("heading", name="One more step")).to_be_visible()
    looked_at(other, "code")
    other.get_by_label("One-time code").fill(later)
    other.get_by_role("button", name="Log in").click()
    expect(other.locator("#composer")).to_be_visible()
    for each in (context, other.context):
        each.close()
