"""A connection that is dead without a word, and a network that lets no sockets through."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tests.browser.owner import Enter, Window, equals_a_fresh_page
from tests.browser.talking import answered, begin, send
from tests.faults.proxy import ChaosProxy
from tests.support.process import free_port
from tests.support.server import Server, running_server

# Longer than a page waits for a word.
LONG = 45_000


class Network:
    """What lies between a browser and the server, in a loop of its own."""

    def __init__(self, target: int) -> None:
        self.proxy = ChaosProxy(target)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.proxy.start(), self._loop).result()
        self.url = f"http://127.0.0.1:{self.proxy.port}"

    def hang(self) -> None:
        self._loop.call_soon_threadsafe(self.proxy.hang)

    def go_on(self) -> None:
        self._loop.call_soon_threadsafe(self.proxy.go_on)

    def close(self) -> None:
        self.go_on()
        asyncio.run_coroutine_threadsafe(self.proxy.refuse(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Network]]:
    """A server that is reached through a network."""
    port = free_port()
    network = Network(port)
    data = tmp_path_factory.mktemp("behind")
    with running_server(data, PORT=str(port), ORIGINS=network.url) as server:
        yield replace(server, url=network.url), network
        network.close()


@pytest.fixture
def window(behind: tuple[Server, Network], enter: Enter) -> Window:
    return enter(behind[0])


@pytest.fixture
def network(behind: tuple[Server, Network]) -> Network:
    return behind[1]


def test_a_connection_that_is_silent_is_opened_anew(window: Window, network: Network) -> None:
    """Half open: neither end is told, and the page notices by the silence."""
    page = window.open("/")
    page.clock.install()
    begin(page, "Hello")
    answered(page, 1)
    network.hang()
    page.clock.fast_forward(LONG)
    expect(page.locator("#connection")).to_be_visible()
    network.go_on()
    expect(page.locator("#connection")).to_be_hidden()
    send(page, "Are you there?")
    answered(page, 2)
    equals_a_fresh_page(window, page)
    window.expected("WebSocket connection to")


def test_where_sockets_are_refused_pages_do_as_well(window: Window, network: Network) -> None:
    """A question typed while no socket opens is posted, and its answer is read by loading."""
    network.proxy.pages_only = True
    page = window.open("/")
    begin(page, "What is 6 * 7?")
    answered(page, 1)
    expect(page.locator("#connection")).to_contain_text("No live connection")
    send(page, "And 7 * 7?")
    answered(page, 2)
    expect(page.locator("#t [data-role=user]")).to_have_count(2)
    expect(page.locator("#connection")).to_contain_text("No live connection")
    # What is only half written is nobody's to send, and nothing is asked for again and again.
    page.locator("#text").fill("And 8 *")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with page.expect_event("websocket"):
        pass
    with page.expect_event("websocket"):
        pass
    assert asked == []
    expect(page.locator("#text")).to_have_value("And 8 *")
    window.expected("WebSocket connection to", "[object Event]", "403")
