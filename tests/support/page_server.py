"""A web server on every address of this machine: what it serves, and who has connected to it."""

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ARTICLE = """<!doctype html><html><head><title>Tides &amp; times</title></head><body>
<nav><a href="/">Home</a> <a href="/about">About</a></nav>
<article><h1>Tides</h1>{paragraphs}</article><footer>Imprint</footer></body></html>"""


def article(paragraphs: int = 4, words: str = "") -> bytes:
    text = "".join(
        f"<p>Paragraph {n}: the tide turns twice a day and nobody on the coast forgets it."
        f' See <a href="/p/{n}">page {n}</a>. {words}</p>'
        for n in range(1, paragraphs + 1)
    )
    return ARTICLE.format(paragraphs=text).encode()


@dataclass
class Answer:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    # Instead of the body: writes it to the connection itself.
    write: Callable[[Any], None] | None = None


@dataclass
class Pages:
    """What is served, by path; all else is an article."""

    port: int = 0
    answers: dict[str, Answer] = field(default_factory=dict)
    # Every connection that was accepted, and the path of every request.
    connections: int = 0
    asked: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def serve(self, path: str, body: bytes, mime: str = "text/html; charset=utf-8") -> str:
        self.answers[path] = Answer(body, headers={"content-type": mime})
        return self.url(path)

    def redirect(self, path: str, location: str, status: int = 302) -> str:
        self.answers[path] = Answer(status=status, headers={"location": location})
        return self.url(path)


@contextmanager
def running_pages(tls: ssl.SSLContext | None = None) -> Iterator[Pages]:
    pages = Pages()
    server = _Server(pages)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    pages.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield pages
    finally:
        pages.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        # IPv6 and IPv4 alike, on every interface: whatever leads to this machine is seen.
        self.address_family = socket.AF_INET6
        super().__init__(("::", 0), _handler(pages))

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def verify_request(self, *_: Any) -> bool:
        self.pages.connections += 1
        return True

    def handle_error(self, *_: Any) -> None:
        """Whoever hangs up is quiet."""


def _handler(pages: Pages) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            pages.asked.append(self.path)
            plain = Answer(article(), headers={"content-type": "text/html"})
            answer = pages.answers.get(self.path, plain)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.write is None:
                self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            if answer.write is None:
                self.wfile.write(answer.body)
            else:
                answer.write(self.wfile)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    return Handler


# --- connections of this process ------------------------------------------------------------------

_watching: list[Any] | None = None
_hooked = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    # Only of streams: a datagram socket that is "connected" sends nothing.
    if event == "socket.connect" and _watching is not None:
        connecting, address = arguments
        internet = connecting.family in (socket.AF_INET, socket.AF_INET6)
        if internet and connecting.type == socket.SOCK_STREAM:
            _watching.append(address)


@contextmanager
def watched_connections() -> Iterator[list[Any]]:
    """Every address that this process tries to connect to, to wherever it leads."""
    global _watching, _hooked
    if not _hooked:
        sys.addaudithook(_hook)  # a hook stays for ever, so there is one
        _hooked = True
    _watching = addresses = []
    try:
        yield addresses
    finally:
        _watching = None
