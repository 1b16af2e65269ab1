"""Scripts and style sheets are written for people, and sent without what is for people only."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from chatsite.storage import for_browsers

STATIC = settings.BASE_DIR / "static"


def test_comments_and_indentation_of_a_style_sheet_are_left_out():
    source = "/* One\n   two */\na {\n  color: red; /* three */\n\n  & b { top: 0; }\n}\n"
    assert for_browsers("css/x.css", source) == "a {\ncolor: red;\n& b { top: 0; }\n}\n"


def test_comments_and_indentation_of_a_script_are_left_out():
    source = '// One\nif (a) {\n  // two\n  b("//three"); // four\n}\n'
    assert for_browsers("js/x.js", source) == 'if (a) {\nb("//three"); // four\n}\n'


@pytest.mark.parametrize("script", sorted((STATIC / "js").glob("*.js")), ids=lambda path: path.name)
def test_no_text_of_a_script_goes_over_lines(script: Path):
    """It would lose its indentation on the way."""
    lines = script.read_text("utf-8").splitlines()
    assert [line for line in lines if line.count("`") % 2 or line.endswith("\\")] == []


@pytest.fixture
def gathered(tmp_path, settings):
    """What `collectstatic` makes of the files: the texts by their first names."""
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "chatsite.storage.HashedFilesStorage"},
    }
    call_command("collectstatic", interactive=False, verbosity=0)

    def text(name: str) -> str:
        stem, suffix = name.rsplit(".", 1)
        (found,) = [
            path
            for path in tmp_path.glob(f"{stem}.*.{suffix}")
            if re.fullmatch(r".+\.[0-9a-f]{12}\.\w+", path.name)
        ]
        return found.read_text("utf-8")

    return text


def test_what_is_gathered_has_no_comments_of_ours_and_those_of_others(gathered):
    assert "/*" not in gathered("css/base.css")
    assert "//" not in gathered("js/composer.js")
    # What is left out must not keep an import from being found, and its name from being hashed.
    assert re.search(r"from \"\./socket\.[0-9a-f]{12}\.js\"", gathered("js/composer.js"))
    assert "/* VARIABLE DEFINITIONS" in gathered("admin/css/base.css")


def test_what_the_chat_loads_is_compressed_as_small_as_can_be(gathered, settings):
    """And what only the administration loads as quickly as can be."""
    compressed = {path.name for path in Path(settings.STATIC_ROOT).rglob("*.br")}
    for begin in ("base.", "socket.", "htmx-2.min."):
        assert [name for name in compressed if name.startswith(begin)]
    everything = [path.name for path in Path(settings.STATIC_ROOT).rglob("*.gz")]
    assert [name for name in everything if name.startswith("jquery.")]
    assert not [name for name in compressed if name.startswith("jquery.")]
