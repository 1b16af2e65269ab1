"""The rooms, who may import whom, and one owner for each power."""

import re
import subprocess
import sys

import pytest

from tests.support.architecture import (
    MAY_IMPORT,
    PLAIN,
    ROOT,
    breaches_of,
    long_lines_of,
    room_of,
    sources,
    template_breaches_of,
)

PYTHON = dict(sources(".py"))
PAGES = dict(sources(".html", ".css", ".js"))
TESTS = dict(sources(".py", ".html", ".css", ".js", tops=("tests",)))


@pytest.mark.parametrize("path", PYTHON)
def test_a_file_keeps_the_rules_of_its_room(path):
    assert [str(breach) for breach in breaches_of(path, PYTHON[path])] == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_file_trusts_nothing(path):
    assert [str(breach) for breach in template_breaches_of(path, PAGES[path])] == []


def test_no_line_is_too_long_to_be_read():
    texts = {**PYTHON, **PAGES, **TESTS}
    found = [breach for path, text in texts.items() for breach in long_lines_of(path, text)]
    assert [str(breach) for breach in found] == []


def test_every_room_has_rules_and_every_rule_has_a_room():
    assert {room_of(path) for path in PYTHON} == set(MAY_IMPORT)


def test_the_readme_of_the_tests_says_what_every_folder_proves():
    table = (ROOT / "tests/README.md").read_text("utf-8").split("## ")[0]
    named = {name.split("/")[0] for name in re.findall(r"`([\w/]+)`", table)}
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert folders - named == set()


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


def test_the_plain_rooms_and_the_streaming_engine_work_where_there_is_no_django():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DJANGO, *PLAIN, "rendering.streaming"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


WRITES = [
    "Conversation.objects.create(owner=user)",
    "User.objects.create_user('ada')",
    "Profile.objects.get_or_create(user=user)",
    "async def f(row):\n    await row.adelete()",
    "def f(row):\n    row.save(update_fields=['title'])",
    "def f(form):\n    form.save()",
    "class X:\n    def save_model(self, obj):\n        super().save_model(obj)\n        obj.save()",
    "def f(row):\n    row.parts.all().delete()",
    "def f(row):\n    row.delete()",
    "Message.objects.filter(pk=1).update(status='error')",
    "def f(rows: QuerySet[Message]):\n    rows.update(status='error')",
    "rows = Message.objects.shown()\nrows.update(status='error')",
    "def f(row):\n    row.messages.filter(pk=1).update(status='error')",
    "Part.objects.bulk_create(parts)",
    "def f(cursor):\n    cursor.execute('DELETE FROM chat_message')",
]
READS = [
    "from chat import services\nservices.delete(caller, talk)",
    "from django.core.cache import cache\ncache.delete('x')",
    "values = {}\nvalues.update(a=1)",
    "digest = sha256()\ndigest.update(b'x')",
    "rows = Message.objects.filter(pk=1).order_by('pk').first()",
    "def f(self, block):\n    return self.shown.update(block)",
    "def f(cursor):\n    cursor.execute('SELECT 1')",
]


@pytest.mark.parametrize("source", WRITES)
@pytest.mark.parametrize("path", ["chat/views/x.py", "chat/models/x.py", "chatsite/x.py"])
def test_only_services_write_rows(path, source):
    found = [str(breach) for breach in breaches_of(path, source)]
    assert any("writes rows" in breach for breach in found)
    assert list(breaches_of("chat/services/x.py", source)) == []


@pytest.mark.parametrize("source", READS)
def test_whoever_reads_rows_or_changes_other_things_may(source):
    assert list(breaches_of("chat/views/x.py", source)) == []


BESIDE = "\n".join(
    f"from chat.protocol.{name} import x"
    for name in ("ids", "text", "errors", "events", "follow", "parts", "notes", "messages")
)
LONG_FUNCTION = "def f():\n" + "    x = 1\n" * 60
PLANTED = [
    ("chat/protocol/x.py", "from chat.engine import loop", "protocol imports chat.engine.loop"),
    ("chat/protocol/x.py", "from chat import models", "protocol imports chat.models"),
    ("chat/engine/x.py", "import chat.providers.http", "engine imports"),
    ("chat/engine/x.py", "def f():\n    from chat.tools import registry", "engine imports"),
    (
        "chat/engine/x.py",
        "from chat.consumers.consumer import x",
        "engine imports chat.consumers.consumer",
    ),
    ("chat/rendering/x.py", "from chat.models import Part", "rendering imports"),
    ("chat/services/x.py", "from chat.rendering import live", "services imports"),
    ("chat/models/x.py", "from chatsite import settings", "models imports"),
    (
        "chat/rendering/page/x.py",
        "from chat.rendering.streaming.markdown import StreamingMarkdown",
        "only what chat.rendering.streaming itself exports",
    ),
    ("chat/views/x.py", "import chat.rendering.streaming.parse", "itself exports"),
    ("chat/views/x.py", "from chat.rendering.streaming import marks", "itself exports"),
    ("chat/tools/x.py", "from django.conf import settings", "knows no Django"),
    ("chat/tools/x.py", "from asgiref.sync import sync_to_async", "knows no Django"),
    ("chat/services/x.py", "import httpx", "outgoing HTTP"),
    ("chat/views/x.py", "from tests.benchmark import plan", "for tests only"),
    ("chat/views/x.py", "from urllib.request import urlopen", "outgoing HTTP"),
    ("chat/views/x.py", "from urllib import request", "outgoing HTTP"),
    ("chat/providers/x.py", "import httpx", "outgoing HTTP"),
    ("chat/views/x.py", "from channels.layers import get_channel_layer", "channel layer"),
    ("chat/views/x.py", "def f(self):\n    self.channel_layer.send()", "channel layer"),
    ("chat/views/x.py", "html = mark_safe('x')", "only rendering makes HTML"),
    ("chat/admin/x.py", "html = html_tools.format_html('x')", "only rendering makes HTML"),
    ("chat/consumers/x.py", "x = '<div id=\"message\">'", "element with an id"),
    ("chat/views/x.py", 'x = f\'<div class="a" id="m-{n}">\'', "element with an id"),
    ("chat/views/x.py", "from . import urls", "relative"),
    ("chat/views/x.py", "from chat.engine.loop import run", "views imports chat.engine.loop"),
    ("chat/views/x.py", "from chat.consumers.consumer import ChatConsumer", "views imports"),
    ("chat/views/x.py", "from chat.services.turns.start import begin", "itself exports"),
    ("chat/views/x.py", "from chat.services import signals", "itself exports"),
    ("chat/apps.py", "from chat.models import Part", "apps imports chat.models"),
    ("chat/checks.py", "from chat import services", "checks imports chat.services"),
    ("chat/checks.py", "from chatsite.asgi import application", "checks imports chatsite.asgi"),
    ("chat/urls.py", "from chat.models import Part", "urls imports chat.models"),
    ("chat/routing.py", "from chat.services import send", "routing imports chat.services"),
    ("chat/translation.py", "from chat.services import send", "translation imports"),
    ("chatsite/x.py", "from chat.models import Part", "chatsite imports chat.models"),
    ("chat/loose.py", "", "no room that has rules"),
    ("chat/newroom/x.py", "", "no room that has rules"),
    ("chat/utils.py", "", "says nothing"),
    ("chat/views/x.py", "from chat.services.turns.send import send", "only what chat.services"),
    ("chat/admin/x.py", "from chat.services import pool", "only what chat.services"),
    ("chatsite/x.py", "import chat.services.layer", "only what chat.services"),
    ("chat/protocol/x.py", BESIDE, "imports 8 modules beside it"),
    ("chat/views/x.py", LONG_FUNCTION, "f() has 61 lines"),
]


@pytest.mark.parametrize(("path", "source", "said"), PLANTED)
def test_the_checker_finds_what_is_planted(path, source, said):
    assert said in " ".join(str(breach) for breach in breaches_of(path, source))


@pytest.mark.parametrize("path", ["chat/x.py", "templates/x.html", "static/x.css", "tests/x.js"])
def test_the_checker_finds_a_long_line(path):
    assert list(long_lines_of(path, "x" * 120)) == []
    (breach,) = long_lines_of(path, "x\n" + "x" * 121)
    assert str(breach) == f"{path}:2: has 121 characters"


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("templates/x.html", "{{ text|safe }}"),
        ("templates/x.html", "{{ text | safe }}"),
        ("templates/x.html", "{% autoescape off %}"),
    ],
)
def test_the_checker_finds_what_is_planted_in_pages(path, source):
    assert list(template_breaches_of(path, source))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("chat/providers/http/client.py", "import httpx"),
        ("chat/tools/web_search.py", "import ddgs"),
        ("chat/services/broadcast.py", "from channels.layers import get_channel_layer"),
        ("chat/rendering/dom.py", "x = mark_safe('<p id=\"a\">')"),
        ("chat/services/send.py", "from chat.engine.loop import run"),
        ("chat/engine/loop.py", "from chat.engine import limits"),
        ("chat/consumers/x.py", "from chat.rendering import live\nfrom chat.services import send"),
        ("chat/views/x.py", "from urllib.parse import quote"),
        ("chat/rendering/live/text.py", "from chat.rendering.streaming import StreamingText"),
        ("chat/rendering/streaming/text.py", "from chat.rendering.streaming.chrome import Labels"),
    ],
)
def test_the_checker_lets_the_owners_be(path, source):
    assert list(breaches_of(path, source)) == []
