"""What a browser keeps for whoever sits at it next, and tells the sites that links lead to."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.talking import answered, begin
from tests.support.chromium import FLAGS, chromium_program
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.server import Server, python
from tests.support.waiting import PATIENCE

CANARY = "zanzibar7431"
HOW = "location.href + ' ' + performance.getEntriesByType('navigation')[0].type"


@pytest.fixture
def remembering(browser: Browser) -> Iterator[Browser]:
    """As people use it: drivers tell it to forget the pages that one may go back to. Only all of
    Chromium keeps them, which the full run has."""
    own = browser.browser_type.launch(
        executable_path=str(chromium_program()),
        args=FLAGS,
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield own
    own.close()


def come_in(context: BrowserContext, parley: Server) -> Page:
    """By a link of its own, for each works once."""
    context.set_default_timeout(PATIENCE * 1000)
    port = parley.url.rpartition(":")[2]
    made = python(parley.data, "manage.py", "login_link", PORT=port)
    assert made.returncode == 0, made.stderr
    page = context.new_page()
    page.goto(made.stdout.split()[-1])
    page.get_by_role("button", name="Log in").click()
    page.locator("#composer").wait_for()
    # The scripts that send what is typed are there when all is loaded.
    page.wait_for_load_state("load")
    return page


def talk(context: BrowserContext, parley: Server, question: str) -> Page:
    """A conversation of whoever has just come in, with one answer."""
    page = come_in(context, parley)
    begin(page, question)
    answered(page, 1)
    return page


def test_nothing_is_seen_by_going_back_after_logging_out(
    remembering: Browser, parley: Server, provider: ScriptedProvider
) -> None:
    """74: neither from a cache of pages nor from one that keeps them as they were."""
    provider.script(reply(Say([f"It is {CANARY}."])))
    context = remembering.new_context(base_url=parley.url)
    page = talk(context, parley, f"What is {CANARY}?")
    url = page.url
    for place in ("/settings/", f"/?q={CANARY[:4]}", url, f"{url}?at=1"):
        page.goto(place)
    expect(page.locator("body")).to_contain_text(CANARY)
    page.locator("details:has(form[action*=logout]) > summary").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login/**")
    for _ in range(7):
        page.evaluate("history.back()")
        page.wait_for_load_state("load")
        page.wait_for_timeout(100)
        assert CANARY not in page.content(), page.evaluate(HOW)
        if page.url.startswith("about:"):
            break
    # Where a page is asked for again, it is refused.
    page.goto(url)
    page.wait_for_url("**/login/**")
    context.close()


@pytest.mark.full
def test_a_browser_does_keep_pages_that_one_may_go_back_to(remembering: Browser) -> None:
    """Or the test above would prove nothing."""
    page = remembering.new_page()
    for path in ("one", "two"):
        page.route(
            f"http://kept.example/{path}",
            lambda route: route.fulfill(body="<p>x</p>", content_type="text/html"),
        )
    page.goto("http://kept.example/one")
    page.evaluate("addEventListener('pageshow', event => document.title = event.persisted)")
    page.goto("http://kept.example/two")
    # A moment later: a kept page is back before the driver has its answer.
    page.evaluate("setTimeout(() => history.back())")
    page.wait_for_function("document.title === 'true'")


class Elsewhere(BaseHTTPRequestHandler):
    """Another site, which writes down what it is told about whoever comes."""

    told: list[dict[str, str]]

    def do_GET(self) -> None:
        if self.path == "/landing":
            self.told.append({name.lower(): value for name, value in self.headers.items()})
        body = b"<title>Elsewhere</title><script>document.title += !!opener + document.referrer"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(body + b"</script>")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    Elsewhere.told = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        # By another name: it is another site to the browser.
        yield f"http://localhost:{site.server_port}/landing"
        site.shutdown()


def test_a_site_that_a_link_leads_to_does_not_learn_whence(
    browser: Browser, parley: Server, provider: ScriptedProvider, elsewhere: str
) -> None:
    """73: neither the address of the conversation nor its title, nor a window to write into."""
    provider.script(reply(Say([f"Read [this]({elsewhere})."])))
    context = browser.new_context(base_url=parley.url)
    page = talk(context, parley, f"Where is {CANARY}?")
    with context.expect_page() as opened:
        page.get_by_role("link", name="this").click()
    there = opened.value
    there.wait_for_load_state("load")
    assert there.title() == "Elsewherefalse"
    [headers] = Elsewhere.told
    assert not {"referer", "origin", "cookie"} & headers.keys()
    assert "127.0.0.1" not in str(headers)
    assert CANARY not in str(headers)
    context.close()
