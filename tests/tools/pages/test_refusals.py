"""No address of a private network is ever connected to, however it is written or led to."""

import socket
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from chat.protocol.errors import ToolFailure
from chat.tools.pages.addresses import Allowed, is_own, is_public
from chat.tools.pages.fetch import Fetcher
from tests.providers.certificates import certificate
from tests.support.page_server import Pages, running_pages, watched_connections

Names = Callable[..., list[str]]


@pytest.fixture
def pages() -> Iterator[Pages]:
    with running_pages() as pages:
        yield pages


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Gives names addresses: each time a name is looked up, the next of its answers."""
    real, answers, asked = socket.getaddrinfo, {}, []

    def look_up(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host not in answers:
            return real(host, port, *rest, **more)
        asked.append(host)
        found = answers[host].pop(0) if len(answers[host]) > 1 else answers[host][0]
        return [entry for address in found for entry in real(address, port, *rest, **more)]

    def name(host: str, *each_time: list[str]) -> list[str]:
        answers[host] = list(each_time)
        return asked

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return name


def own_address() -> str:
    """An address of this machine on a real interface, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


HOSTS = [
    *("127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "localhost", "localhost."),
    *("LOCALHOST", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1"),
    *("017700000001", "0", "00000177.0.0.1", "127.0.0.1.", "%31%32%37.0.0.1", "ⓛocalhost"),
    *("127。0。0。1", "127．0．0．1", "①②⑦.⓪.⓪.①", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]"),
    *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]"),
    *("[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001::7f00:1]"),
    *("[fe80::1]", "[fe80::1%25lo]", "[fe80::1%25eth0]", "[fd00::1]", "[fc00::1]", "[ff02::1]"),
    *("[fd00:ec2::254]", "[2001:db8::1]", "[2a00::5efe:127.0.0.1]", "[100::1]", "[fec0::1]"),
    *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.100.100.200"),
    *("169.254.169.254", "0xa9fea9fe", "2852039166", "168.63.129.16", "192.0.0.192", "198.18.0.1"),
    *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
    *("[::ffff:169.254.169.254]", "[::ffff:10.0.0.1]", "[64:ff9b::10.0.0.1]", "[::ffff:0.0.0.0]"),
]


@pytest.mark.parametrize("host", HOSTS)
async def test_a_private_address_is_not_connected_to(pages: Pages, host: str) -> None:
    with watched_connections() as connected, pytest.raises(ToolFailure):
        await Fetcher().fetch(pages.url("/secret", host))
    assert connected == []
    assert pages.connections == 0


def carriers(port: int) -> dict[str, str]:
    here = f"127.0.0.1:{port}"
    return {
        "a user name": f"http://example.org@{here}/",
        "a user name and a password": f"http://example.org:80@{here}/",
        "two at signs": f"http://a@b@{here}/",
        "a backslash": f"http://example.org\\@{here}/",
        "a backslash before the path": f"http://{here}\\.example.org/",
        "a tab": f"http://127.0.0.1\t:{port}/",
        "a line break": f"http://127.0.0.1:{port}/\r\nHost: example.org",
        "a space in front": f"  http://{here}/",
        "a fragment": f"http://{here}#@example.org/",
        "a question mark": f"http://{here}?@example.org/",
        "no scheme": f"{here}/",
        "only slashes": f"//{here}/",
        "one slash": f"http:/{here}/",
        "three slashes": f"http:///{here}/",
        "another case": f"HTTP://{here}/",
        "https": f"https://{here}/",
        "a file": "file:///etc/passwd",
        "a file of a host": f"file://{here}/etc/passwd",
        "ftp": f"ftp://{here}/",
        "gopher": f"gopher://{here}/_x",
        "dict": f"dict://{here}/info",
        "data": "data:text/html,hello",
        "a script": "javascript:alert(1)",
        "a socket": f"ws://{here}/",
        "a port of mail": "http://example.org:25/",
        "a port of Redis": "http://example.org:6379/",
        "port zero": "http://example.org:0/",
        "a port that is none": "http://127.0.0.1:99999999/",
        "a port with a sign": f"http://127.0.0.1:+{port}/",
        "brackets": f"http://[127.0.0.1]:{port}/",
        "open brackets": f"http://[::1:{port}/",
        "NUL": f"http://127.0.0.1\x00.example.org:{port}/",
        "an empty name": f"http://:{port}/",
        "dots alone": f"http://...:{port}/",
        "this machine's own address": f"http://{own_address()}:{port}/",
        "length": f"http://{here}/" + "x" * 5000,
    }


@pytest.mark.parametrize("carrier", carriers(0))
async def test_no_way_to_write_it_gets_through(pages: Pages, carrier: str) -> None:
    with watched_connections() as connected, pytest.raises(ToolFailure):
        await Fetcher().fetch(carriers(pages.port)[carrier])
    assert connected == []
    assert pages.connections == 0


# --- redirects ------------------------------------------------------------------------------------


@pytest.fixture
def public(pages: Pages, names: Names) -> Fetcher:
    """A fetcher for which one name is as good as public; nothing else of this machine is."""
    names("public.example", ["127.0.0.1"])
    return Fetcher(allowed=Allowed.of(["public.example"]))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_a_private_address_is_not_followed(
    pages: Pages, public: Fetcher, status: int
) -> None:
    pages.redirect("/start", pages.url("/secret"), status)
    with pytest.raises(ToolFailure, match="not on the public internet"):
        await public.fetch(pages.url("/start", "public.example"))
    assert pages.asked == ["/start"]
    assert pages.connections == 1


@pytest.mark.parametrize(
    "location",
    [
        "//127.0.0.1:{port}/secret",
        "http://localhost:{port}/secret",
        "http://[::1]:{port}/secret",
        "http://2130706433:{port}/secret",
        "http://public.example@127.0.0.1:{port}/secret",
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/_x",
        "http://[::ffff:127.0.0.1]:{port}/secret",
        "http://127.0.0.1.:{port}/secret",
        "http://[",
    ],
)
async def test_nor_is_any_other_form_of_it(pages: Pages, public: Fetcher, location: str) -> None:
    pages.redirect("/start", location.format(port=pages.port))
    with pytest.raises(ToolFailure):
        await public.fetch(pages.url("/start", "public.example"))
    assert pages.asked == ["/start"]
    assert pages.connections == 1


async def test_each_hop_is_checked_and_a_circle_ends(pages: Pages, public: Fetcher) -> None:
    pages.redirect("/one", "/two")
    pages.redirect("/two", pages.url("/three", "public.example"))
    pages.redirect("/three", pages.url("/secret"))
    with pytest.raises(ToolFailure, match="not on the public internet"):
        await public.fetch(pages.url("/one", "public.example"))
    assert pages.asked == ["/one", "/two", "/three"]
    pages.redirect("/round", "/round")
    with pytest.raises(ToolFailure, match="too often"):
        await public.fetch(pages.url("/round", "public.example"))
    assert pages.asked.count("/round") == 6


# --- names ----------------------------------------------------------------------------------------


async def test_a_name_that_leads_inside_is_refused(pages: Pages, names: Names) -> None:
    for addresses in (["127.0.0.1"], ["::1"], ["10.0.0.7", "127.0.0.1"], ["::ffff:127.0.0.1"]):
        names("inside.example", addresses)
        with watched_connections() as connected, pytest.raises(ToolFailure, match="public"):
            await Fetcher().fetch(pages.url("/", "inside.example"))
        assert connected == []
    assert pages.connections == 0


async def test_a_name_is_looked_up_once_and_what_was_checked_is_connected_to(
    pages: Pages, names: Names
) -> None:
    asked = names("turning.example", ["198.51.100.7", "93.184.216.34"], ["127.0.0.1"])
    with watched_connections() as connected, pytest.raises(ToolFailure):
        await Fetcher(seconds=1).fetch(pages.url("/", "turning.example"))
    assert asked == ["turning.example"]
    assert {address[0] for address in connected} == {"93.184.216.34"}
    assert pages.connections == 0
    with watched_connections() as connected, pytest.raises(ToolFailure, match="public"):
        await Fetcher(seconds=1).fetch(pages.url("/", "turning.example"))
    assert connected == []


async def test_a_redirect_to_the_same_name_is_looked_up_and_checked_again(
    pages: Pages, names: Names
) -> None:
    names("turning.example", ["127.0.0.1"], ["127.0.0.2"])
    pages.redirect("/start", "/secret")
    fetcher = Fetcher(allowed=Allowed.of(["127.0.0.1"]))
    with pytest.raises(ToolFailure, match="not on the public internet"):
        await fetcher.fetch(pages.url("/start", "turning.example"))
    assert pages.asked == ["/start"]


async def test_proxies_of_the_environment_are_not_asked(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, pages.url())
        monkeypatch.setenv(name.upper(), pages.url())
    for url in ("http://10.0.0.1/", "https://10.0.0.1/"):
        with pytest.raises(ToolFailure):
            await Fetcher().fetch(url)
    assert pages.connections == 0


async def test_the_certificate_must_be_of_the_host_that_was_named(names: Names) -> None:
    server, client = certificate("")
    with running_pages(server) as pages:
        names("other.example", ["127.0.0.1"])
        fetcher = Fetcher(allowed=Allowed.of(["127.0.0.0/8"]), tls=client)
        page = await fetcher.fetch(f"https://127.0.0.1:{pages.port}/")
        assert b"Tides" in page.body
        with pytest.raises(ToolFailure, match="certificate"):
            await fetcher.fetch(f"https://other.example:{pages.port}/")
        # A fetcher that trusts what every computer trusts does not know this one.
        with pytest.raises(ToolFailure, match="certificate"):
            await Fetcher(allowed=fetcher.allowed).fetch(f"https://127.0.0.1:{pages.port}/")
        assert len(pages.asked) == 1


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450::8a", "::ffff:8.8.8.8"),
        *("64:ff9b::808:808", "172.32.0.1", "100.128.0.1", "11.0.0.1", "223.255.255.1"),
    ],
)
def test_what_is_public_can_be_read(address: str) -> None:
    assert is_public(ip_address(address))
    assert not is_own(ip_address(address))


def test_an_operator_can_name_what_is_not_public() -> None:
    allowed = Allowed.of(["Wiki.example.", ".intranet.example", "10.1.0.0/16", "[fd00::1]", ""])
    assert allowed.has_host("wiki.example")
    assert allowed.has_host("a.b.intranet.example.")
    assert not allowed.has_host("intranet.example.evil.test")
    assert not allowed.has_host("notwiki.example")
    assert allowed.has_address(ip_address("10.1.2.3"))
    assert not allowed.has_address(ip_address("10.2.0.1"))
    assert allowed.has_address(ip_address("fd00::1"))
    assert not Allowed().has_address(ip_address("127.0.0.1"))


async def test_this_machine_is_refused_at_its_public_address_too() -> None:
    assert is_own(ip_address("127.0.0.1"))
    own = ip_address(own_address())
    assert is_own(own)
