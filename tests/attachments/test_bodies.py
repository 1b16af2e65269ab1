"""A body that is too large is refused before it is sent whole, by every server."""

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from chatsite.bodies import AROUND
from tests.support.server import running_server
from tests.support.waiting import PATIENCE

LARGEST = 1_000_000
CHUNK = 65_536


@pytest.fixture(scope="module", params=["daphne", "uvicorn"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data: Path = tmp_path_factory.mktemp(request.param)
    limit = str(LARGEST)
    with running_server(data, PARLEY_SERVER=request.param, PARLEY_LIMIT_UPLOAD_BYTES=limit) as it:
        yield it.url


def head(url: str, path: str, *headers: str) -> bytes:
    host = urlsplit(url).netloc
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]
    return "\r\n".join(lines).encode()


def connected(url: str) -> socket.socket:
    place = urlsplit(url)
    return socket.create_connection((place.hostname, place.port), timeout=PATIENCE)


def answer_of(connection: socket.socket) -> str:
    """All that is answered until the server hangs up."""
    received = b""
    try:
        while piece := connection.recv(CHUNK):
            received += piece
    except ConnectionResetError:
        pass
    return received.decode()


@pytest.mark.parametrize("path", ["/attachments/", "/accounts/login/", "/nowhere/"])
def test_it_is_refused_by_the_length_it_says_it_has(url: str, path: str) -> None:
    """76 MB are announced, and not one byte of them is sent."""
    with connected(url) as connection:
        connection.sendall(head(url, path, "Content-Length: 76000000", "Accept-Language: zh-CN"))
        answer = answer_of(connection)
    assert answer.startswith("HTTP/1.1 413 ")
    assert "请求过大" in answer


def test_without_a_length_it_is_refused_when_it_has_grown_too_large(url: str) -> None:
    sent = 0
    with connected(url) as connection:
        connection.sendall(head(url, "/attachments/", "Transfer-Encoding: chunked"))
        try:
            while sent < 100 * LARGEST:
                connection.sendall(b"%x\r\n%s\r\n" % (CHUNK, bytes(CHUNK)))
                sent += CHUNK
        except OSError:
            # The server has hung up.
            pass
        assert sent < 100 * LARGEST
        assert sent > LARGEST - AROUND


def test_what_is_allowed_comes_through(url: str) -> None:
    with connected(url) as connection:
        length = f"Content-Length: {LARGEST}"
        connection.sendall(head(url, "/attachments/", length, "Connection: close"))
        connection.sendall(bytes(LARGEST))
        answer = answer_of(connection)
    # It is nobody's, and has no token: Django itself says so.
    assert answer.startswith("HTTP/1.1 403 ")
