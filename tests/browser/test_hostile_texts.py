"""50: every hostile text in a real browser, wherever it is shown: nothing of it runs, nothing asks
anybody else, and the policy of the page has nothing to stop.

That only allowed elements come out is proven without a browser (`tests/security`); here a browser
says what it makes of them.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.owner import Enter
from tests.browser.talking import answered, send
from tests.browser.visitors import SESSION
from tests.security.hostile import PAYLOADS
from tests.support.model_server import Call, Say, ScriptedProvider, Think, reply
from tests.support.server import Server, python
from tests.support.waiting import PATIENCE

pytestmark = [pytest.mark.full]

# Before any script of a page: whatever a payload would do is told, and so is what a policy stopped.
WATCH = """
for (const name of ["alert", "confirm", "prompt", "print"])
  window[name] = (...words) => marked(`${name}(${words})`)
document.addEventListener("securitypolicyviolation", event =>
  marked(`stopped by ${event.violatedDirective}: ${event.blockedURI} ${event.sample}`))
"""
# What waits for a click, a key or a pointer, and what htmx would be told.
SLEEPING = """
() => [...document.querySelectorAll("*")].flatMap(element => [...element.attributes]
  .filter(({ name, value }) => name.startsWith("on")
    || /^(data-)?hx-on/.test(name)
    || /^(data-)?(hx-(get|post)|ws-connect)$/.test(name) && /^(\\/x|\\/logout|\\/evil)$/.test(value)
    || /^(href|src|action|formaction)$/.test(name)
      && /^(javascript|vbscript|file|blob|ftp):/i.test(element[name] ?? value))
  .map(({ name, value }) => `<${element.localName} ${name}=${value}>`))
"""


class Watched:
    """A browser of one person that says what a text has done in it."""

    def __init__(self, browser: Browser, url: str, session: str = "") -> None:
        self.done: list[str] = []
        self.words = 0
        self.url = url
        self.context: BrowserContext = browser.new_context(base_url=url)
        self.context.set_default_timeout(PATIENCE * 1000)
        if session:
            self.context.add_cookies([{"name": SESSION, "value": session, "url": url}])
        watch(self.context, self.done, url)

    def look(self, page: Page, address: str) -> None:
        """The page as it is now."""
        self.done += [f"{each} on {address}" for each in page.evaluate(SLEEPING)]
        self.words += "alert(1)" in page.content()

    def visit(self, page: Page, address: str) -> None:
        page.goto(address, wait_until="load")
        self.look(page, address)


def watch(context: BrowserContext, done: list[str], url: str) -> None:
    context.expose_binding(
        "marked", lambda source, what: done.append(f"{what} in {source['page'].url}")
    )
    context.add_init_script(WATCH)
    context.on(
        "dialog", lambda dialog: (done.append(f"a dialog: {dialog.message}"), dialog.dismiss())
    )
    context.on("request", lambda request: _look(request.url, done, url))


def _look(asked: str, done: list[str], url: str) -> None:
    if not asked.startswith((f"{url}/", "data:", "file:", "about:")):
        done.append(f"a request: {asked}")


@pytest.fixture(scope="module")
def rows(parley: Server) -> dict[str, Any]:
    port = parley.url.rpartition(":")[2]
    made = python(parley.data, "-m", "tests.security.hostile_rows", PORT=port)
    assert made.returncode == 0, made.stderr
    places: dict[str, Any] = json.loads(made.stdout)
    return places


@pytest.mark.parametrize(
    ("markup", "mark"),
    [
        ("<img src=x: onerror=alert(1)>", "alert(1)"),
        ("<img src=http://127.0.0.2:9/x>", "a request: http://127.0.0.2:9/x"),
        ("<svg onload=alert(1)>", "stopped by script-src"),
        ("<b onmouseover=alert(1)>", "<b onmouseover"),
        ("<a href='java&#10;script:alert(1)'>", "<a href"),
        ("<i data-hx-get=/x>", "<i data-hx-get"),
    ],
)
def test_the_watch_itself_sees_what_runs(browser: Browser, markup: str, mark: str) -> None:
    """Or the tests below would prove nothing."""
    watched = Watched(browser, "http://127.0.0.1:9")
    policy = "script-src 'none'" if mark.startswith("stopped") else ""
    headers = {"content-type": "text/html", "content-security-policy": policy}
    watched.context.route(
        "http://127.0.0.1:9/", lambda route: route.fulfill(body=markup, headers=headers)
    )
    watched.visit(watched.context.new_page(), "/")
    assert any(mark in each for each in watched.done)
    watched.context.close()


def test_nothing_runs_wherever_its_owner_is_shown_it(
    browser: Browser, parley: Server, rows: dict[str, Any], tmp_path: Path
) -> None:
    watched = Watched(browser, parley.url, rows["owner"])
    page = watched.context.new_page()
    for address in rows["pages"]:
        watched.visit(page, address)
    page.goto("/")
    page.keyboard.press("Control+k")
    page.locator("#q").fill("alert")
    page.locator("#search .hit, #search [role=option], #search li").first.wait_for()
    watched.look(page, "search")
    # Its exports, opened from the disk; then what is read back from one.
    for form, ending in (("html", "html"), ("markdown", "txt"), ("json", "json")):
        answer = watched.context.request.get(f"{rows['talk']}export/{form}/")
        assert answer.ok
        assert answer.headers["content-disposition"].startswith("attachment")
        kept = tmp_path / f"kept.{ending}"
        kept.write_bytes(answer.body())
        watched.visit(page, kept.as_uri())
    page.goto("/import/")
    page.locator("input[type=file]").first.set_input_files(tmp_path / "kept.json")
    page.get_by_role("button", name="Import").click()
    page.locator("#import-report a").first.click()
    page.wait_for_url("**/c/**")
    watched.look(page, "imported")
    assert watched.words >= 10
    assert watched.done == []
    watched.context.close()


def test_nothing_runs_for_whoever_is_given_a_link(
    browser: Browser, parley: Server, rows: dict[str, Any]
) -> None:
    watched = Watched(browser, parley.url)
    watched.visit(watched.context.new_page(), rows["shared"])
    assert watched.words
    assert watched.done == []
    watched.context.close()


def test_nothing_runs_in_the_administration(
    browser: Browser, parley: Server, rows: dict[str, Any]
) -> None:
    watched = Watched(browser, parley.url, rows["root"])
    page = watched.context.new_page()
    for address in rows["administration"]:
        watched.visit(page, address)
    assert watched.words >= 30
    assert watched.done == []
    watched.context.close()


def test_nothing_runs_while_it_comes(
    enter: Enter, parley: Server, provider: ScriptedProvider
) -> None:
    """As question, thought, answer, call and result, in pieces of five characters."""
    window = enter(parley)
    done: list[str] = []
    watch(window.context, done, parley.url)
    page = window.open("/")
    some = 24
    for number, start in enumerate(range(0, len(PAYLOADS), some), 1):
        payloads = PAYLOADS[start : start + some]
        text = "\n\n".join(payloads)
        pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
        calls = [Call("calculator", {"expression": payloads[0]}), Call(payloads[1][:60], {})]
        provider.script(reply(Think(pieces), *calls), reply(Say(pieces)))
        send(page, text)
        page.wait_for_url("**/c/**")
        answered(page, number)
        done += page.evaluate(SLEEPING)
    assert page.locator("#t .message").count() == 2 * number
    assert done == []
