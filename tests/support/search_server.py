"""DuckDuckGo's html page on loopback: what ddgs asks, and what it can be answered."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

Row = tuple[str, str, str]

ROWS: tuple[Row, ...] = (
    ("Django Channels", "https://channels.example.org/", "Channels brings WebSockets to Django."),
    ("Bad address", "javascript:alert(1)", "Not a page at all, yet about django channels."),
    ("An advert", "https://duckduckgo.com/y.js?ad=1", "Buy django channels now."),
    *(
        (f"Channels page {n}", f"http://pages.example.org/{n}", f"Django channels, part {n}.")
        for n in range(1, 8)
    ),
)

_ROW = (
    '<div class="result web-result"><div class="links_main result__body">'
    '<h2 class="result__title"><a href="{url}">{title}</a></h2>'
    '<a class="result__snippet" href="{url}">{text}</a></div></div>'
)


@dataclass
class DuckDuckGo:
    """One page for every question; `status` and `hang` make it fail."""

    url: str = ""
    rows: tuple[Row, ...] = ROWS
    status: int = 200
    hang: bool = False
    asked: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def page(self) -> bytes:
        rows = (
            _ROW.format(title=escape(title), url=escape(url), text=escape(text))
            for title, url, text in self.rows
        )
        return f"<html><body><div id='links'>{''.join(rows)}</div></body></html>".encode()


@contextmanager
def running_duckduckgo() -> Iterator[DuckDuckGo]:
    state = DuckDuckGo()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            fields = parse_qs(body, keep_blank_values=True)
            state.asked.append({key: values[0] for key, values in fields.items()})
            if state.hang:
                state.released.wait()
                return
            page = state.page()
            self.send_response(state.status)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}/html/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
