"""The rooms, who may import whom, and one owner for each power."""

import subprocess
import sys

import pytest

from tests.architecture import MAY_IMPORT, PLAIN, ROOT, breaches_of, sources, template_breaches_of

PYTHON = dict(sources(".py"))
PAGES = dict(sources(".html", ".css", ".js"))


@pytest.mark.parametrize("path", PYTHON)
def test_a_file_keeps_the_rules_of_its_room(path):
    assert [str(breach) for breach in breaches_of(path, PYTHON[path])] == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_file_is_short_and_trusts_nothing(path):
    assert [str(breach) for breach in template_breaches_of(path, PAGES[path])] == []


def test_every_room_of_the_table_is_there():
    assert {path.split("/")[1] for path in PYTHON if path.count("/") > 1} >= set(MAY_IMPORT)


WITHOUT_DJANGO = """
import importlib, pkgutil, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("django", "channels", "daphne", "modeltranslation"):
            raise ImportError(name + " is not for the plain rooms")

sys.meta_path.insert(0, Refuse())
for room in sys.argv[1:]:
    package = importlib.import_module("chat." + room)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
assert not [name for name in sys.modules if name.split(".")[0] == "django"]
"""


def test_the_plain_rooms_work_where_there_is_no_django():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DJANGO, *PLAIN],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


LONG_FUNCTION = "def f():\n" + "    x = 1\n" * 60
PLANTED = [
    ("chat/protocol/x.py", "from chat.engine import loop", "protocol imports chat.engine.loop"),
    ("chat/protocol/x.py", "from chat import models", "protocol imports chat.models"),
    ("chat/engine/x.py", "import chat.providers.http", "engine imports"),
    ("chat/engine/x.py", "def f():\n    from chat.tools import registry", "engine imports"),
    ("chat/engine/x.py", "from chat.consumers import x", "engine imports chat.consumers"),
    ("chat/rendering/x.py", "from chat.models import Part", "rendering imports"),
    ("chat/services/x.py", "from chat.rendering import live", "services imports"),
    ("chat/models/x.py", "from chatsite import settings", "models imports"),
    ("chat/tools/x.py", "from django.conf import settings", "knows no Django"),
    ("chat/tools/x.py", "from asgiref.sync import sync_to_async", "knows no Django"),
    ("chat/services/x.py", "import httpx", "outgoing HTTP"),
    ("chat/views.py", "from chat.benchmark import plan", "only measures"),
    ("chat/views.py", "from urllib.request import urlopen", "outgoing HTTP"),
    ("chat/views.py", "from urllib import request", "outgoing HTTP"),
    ("chat/providers/x.py", "import httpx", "outgoing HTTP"),
    ("chat/views.py", "from channels.layers import get_channel_layer", "channel layer"),
    ("chat/views.py", "def f(self):\n    self.channel_layer.send()", "channel layer"),
    ("chat/views.py", "html = mark_safe('x')", "only rendering makes HTML"),
    ("chat/admin/x.py", "html = html_tools.format_html('x')", "only rendering makes HTML"),
    ("chat/consumers.py", "x = '<div id=\"message\">'", "element with an id"),
    ("chat/views.py", 'x = f\'<div class="a" id="m-{n}">\'', "element with an id"),
    ("chat/views.py", "from . import urls", "relative"),
    ("chat/utils.py", "", "says nothing"),
    ("chat/views.py", "x = 1\n" * 300, "has 300 lines"),
    ("chat/views.py", LONG_FUNCTION, "f() has 61 lines"),
]


@pytest.mark.parametrize(("path", "source", "said"), PLANTED)
def test_the_checker_finds_what_is_planted(path, source, said):
    assert said in " ".join(str(breach) for breach in breaches_of(path, source))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("templates/x.html", "{{ text|safe }}"),
        ("templates/x.html", "{{ text | safe }}"),
        ("templates/x.html", "{% autoescape off %}"),
        ("templates/x.html", "<br>\n" * 81),
        ("static/x.css", "a {}\n" * 201),
        ("static/x.js", "a()\n" * 151),
    ],
)
def test_the_checker_finds_what_is_planted_in_pages(path, source):
    assert list(template_breaches_of(path, source))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("chat/providers/http.py", "import httpx"),
        ("chat/tools/web_search.py", "import ddgs"),
        ("chat/services/broadcast.py", "from channels.layers import get_channel_layer"),
        ("chat/rendering/dom.py", "x = mark_safe('<p id=\"a\">')"),
        ("chat/services/send.py", "from chat.engine.loop import run"),
        ("chat/engine/loop.py", "from chat.engine import limits"),
        ("chat/consumers.py", "from chat.rendering import live\nfrom chat.services import send"),
        ("chat/views.py", "from urllib.parse import quote"),
    ],
)
def test_the_checker_lets_the_owners_be(path, source):
    assert list(breaches_of(path, source)) == []
