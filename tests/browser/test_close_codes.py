"""How a page takes it that its socket is closed: with one it comes back, with another it goes."""

import re

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.browser.owner import Enter, Window, equals_a_fresh_page
from tests.browser.talking import answered, begin, send
from tests.support.server import Server

# Those of the protocol that servers, proxies and browsers close with, and our own.
COMES_BACK = (1000, 1001, 1005, 1006, 1011, 1012, 1013, 4429, 4430, 4500, 4503)
GOES = {4401: "/", 4404: r"/\?deleted=[0-9a-f-]{36}"}
# Nobody waits for the pause in which not all pages come back at once.
AT_ONCE = "Math.random = () => 0.01"


@pytest.fixture
def window(enter: Enter) -> Window:
    return enter()


def test_a_page_comes_back_once_after_each_code(window: Window, server: Server) -> None:
    """36: by one socket, and not by two: the extension comes back by itself after some codes."""
    opened: list[WebSocketRoute] = []

    def pass_on(socket: WebSocketRoute) -> None:
        opened.append(socket)
        socket.connect_to_server()

    window.context.add_init_script(AT_ONCE)
    page = window.open("/")
    begin(page, "Hello")
    answered(page, 1)
    page.route_web_socket(re.compile("/ws/"), pass_on)
    page.reload()
    expect(page.locator("#connection")).to_be_hidden()
    for answers, code in enumerate(COMES_BACK, start=2):
        opened[-1].close(code=code)
        send(page, f"After {code}")
        answered(page, answers)
    assert len(opened) == 1 + len(COMES_BACK)
    equals_a_fresh_page(window, page)
    # A browser says that it was cut off, where nobody has closed the socket.
    window.expected("WebSocket connection to", "[object Event]")


@pytest.mark.parametrize("code", GOES)
def test_a_page_that_is_shown_out_stays_away(code: int, window: Window) -> None:
    page = window.open("/")
    begin(page, "Hello")
    answered(page, 1)
    page.route_web_socket(re.compile("/ws/c/"), lambda socket: socket.close(code=code))
    page.reload()
    page.wait_for_url(re.compile(re.escape(window.url) + GOES[code] + "$"))
