"""Search engines on loopback: what they are asked, and what they can answer."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

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
    # Another page than that of its rows.
    html: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def page(self) -> bytes:
        if self.html:
            return self.html.encode()
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

    with _serving(Handler, state.released) as root:
        state.url = f"{root}/html/"
        yield state


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler], released: threading.Event) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        released.set()
        server.shutdown()
        server.server_close()
        thread.join()


# --- engines with an API --------------------------------------------------------------------------


@dataclass
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any = None


@dataclass
class Engine:
    """Answers every question with the same JSON."""

    url: str = ""
    answer: Any = None
    status: int = 200
    hang: bool = False
    asked: list[Asked] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def running_engine() -> Iterator[Engine]:
    state = Engine()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def _answer(self, body: Any) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.asked.append(Asked(self.command, parts.path, query, headers, body))
            if state.hang:
                state.released.wait()
                return
            raw = isinstance(state.answer, bytes)
            content = state.answer if raw else json.dumps(state.answer).encode()
            self.send_response(state.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    with _serving(Handler, state.released) as root:
        state.url = root
        yield state
