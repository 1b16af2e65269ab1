"""What static files say to the browser, and what somebody may send that no browser would. What all
other answers say is looked at where everybody asks for everything, in test_matrix.py."""

import stat
from pathlib import Path

import pytest
from django.test import Client

from tests.security.answers import says_what_it_needs
from tests.security.conftest import World
from tests.support.server import python
from tests.support.tables import lay_tables


@pytest.mark.parametrize("name", ["css/base.css", "js/socket.js", "icon.svg"])
def test_static_files_say_it_too(name: str, db: None) -> None:
    response = Client().get(f"/static/{name}")
    assert response.status_code == 200
    assert says_what_it_needs(response)


def test_no_page_lets_htmx_run_what_it_swaps_in(world: World) -> None:
    """S14: neither a script element nor a filter that is a program."""
    page = world.browser("owner").get("/").content.decode()
    for setting in ('"allowEval":false', '"allowScriptTags":false'):
        assert setting in page


@pytest.mark.parametrize(
    "headers",
    [
        {"cookie": "parley_sessionid=" + "x" * 4_000},
        {"cookie": "=; ;;; a=b=c; \x7f=1; parley_sessionid"},
        {"cookie": "parley_csrftoken=" + "é" * 64},
        {"referer": "http://[::1"},
        {"referer": "javascript:alert(1)"},
        {"origin": "http://[::1"},
        {"accept": "\x00,*/*;q=abc"},
        {"if-none-match": '"' * 1_001},
        {"if-modified-since": "Thu, 99 Foo 9999 99:99:99 GMT"},
        {"range": "bytes=99999999999999999999-1,-"},
        {"user-agent": "<script>alert(1)</script>" * 200},
        {"x-forwarded-for": "<script>, ,,999.999.999.999, ::ffff:1.2.3.4%eth0"},
        {"x-requested-with": "XMLHttpRequest", "hx-request": "true", "hx-target": "<script>"},
        {"hx-current-url": "javascript:alert(1)"},
        {"content-type": "multipart/form-data"},
        {"content-type": "text/html; charset=utf-7"},
        {"content-encoding": "gzip"},
        {"x-method-override": "DELETE"},
    ],
)
def test_strange_headers_are_neither_repeated_nor_an_error(
    headers: dict[str, str], world: World
) -> None:
    owner = world.browser("owner")
    for address in ("/", "/settings/", "/accounts/login/"):
        response = owner.get(address, headers=headers)
        assert response.status_code in (200, 302), address
        text = f"{response.content.decode()} {response.headers}"
        assert "<script>alert" not in text
        assert "javascript:alert" not in text


# --- what others on the machine can read ------------------------------------------------


def test_what_is_made_in_a_folder_of_others_is_ours_alone(tmp_path: Path) -> None:
    """S12: the folder was there before, and whoever likes may enter it."""
    tmp_path.chmod(0o755)
    made = python(tmp_path, "manage.py", "prepare")
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "db.sqlite3").is_file()
    for path in tmp_path.rglob("*"):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_other_servers_make_nothing_for_everybody_either(tmp_path: Path) -> None:
    program = "import os, chatsite.asgi; print(oct(os.umask(0)))"
    lay_tables(tmp_path)
    assert python(tmp_path, "-c", program).stdout.strip() == "0o77"


@pytest.mark.both_databases
@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/s/opens-nothing/"])
def test_a_cookie_that_names_no_session_is_not_looked_for(path: str, db: None) -> None:
    """What stands between quotes may be any character; PostgreSQL refuses to look for some."""
    for key in ('"abcdefgh\\000"', '"\\377\\376abcdefgh"', "x" * 4_000, "A" * 32):
        cookie = "; ".join(
            f"{name}={key}" for name in ("parley_sessionid", "parley_csrftoken", "zone")
        )
        assert Client().get(path, headers={"cookie": cookie}).status_code < 500, key
