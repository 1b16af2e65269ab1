"""The papers speak of what is there: files, links, commands, settings."""

import ast
import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.core.management import get_commands

from tests.support.papers import ROOT, Paper

NAMES = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "chat/README.md",
    "chat/rendering/streaming/README.md",
    "tests/README.md",
]
PAPERS = [Paper(name) for name in NAMES]
# Of what has changed, only the latest is about what is there now.
PAPERS[NAMES.index("CHANGELOG.md")] = Paper("CHANGELOG.md").until("\n## [0.")

# What a paper may name although it is not in the repository, and why.
NOT_HERE = {
    "README.md": {"var/": "made at the first start"},
    "CONTRIBUTING.md": {"tools.py": "of any installed app"},
}

by_name = pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)


@by_name
def test_every_file_that_a_paper_names_is_there(paper: Paper) -> None:
    allowed = NOT_HERE.get(paper.name, {})
    assert [path for path in paper.missing_paths() if path not in allowed] == []


@by_name
def test_every_link_leads_somewhere(paper: Paper) -> None:
    assert paper.broken_links() == []


@by_name
def test_every_function_is_where_a_paper_says(paper: Paper) -> None:
    assert paper.missing_functions() == []


@by_name
def test_every_command_that_a_paper_names_is_there(paper: Paper) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert paper.make_targets() - set(targets) == set()
    assert paper.manage_commands() - set(get_commands()) == set()


def test_every_command_of_ours_is_in_a_paper() -> None:
    ours = {name for name, app in get_commands().items() if app == "chat"}
    assert len(ours) > 5
    assert ours - set().union(*(paper.manage_commands() for paper in PAPERS)) == set()


def test_every_exception_is_needed() -> None:
    for name, allowed in NOT_HERE.items():
        assert set(allowed) <= set(Paper(name).paths())


# --- settings ---------------------------------------------------------------------------

README = Paper("README.md")


def tabled() -> dict[str, str]:
    """The variables in the README's tables, each with what stands as its default."""
    rows = re.findall(r"^\| (.+?) \| (.*?) \|", README.section("Configuration"), re.MULTILINE)
    return {name: default for names, default in rows for name in re.findall("`(\\w+)`", names)}


def read_by(path: str) -> Iterator[str]:
    """The environment variables that a module asks for by name."""
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        match node:
            case ast.Call(func=function, args=[ast.Constant(str(name)), *_]):
                if re.fullmatch(ASKING, ast.unparse(function)) and name.isupper():
                    yield name


ASKING = r"(env|environment|os\.environ)\.\w+|text|words|number|switch|choice|folder|value"
READERS = (
    "chatsite/settings.py",
    "chatsite/environment.py",
    "chat/services/catalog/environment.py",
)


def test_every_variable_that_is_read_is_in_the_table_and_no_other() -> None:
    limits = {f"PARLEY_LIMIT_{name.upper()}" for name in settings.PARLEY_LIMITS}
    read = limits.union(*(read_by(path) for path in READERS))
    assert len(read) > 30
    assert set(tabled()) == read


def test_the_table_has_the_limits_as_they_are() -> None:
    """Those of the product: tests have some of their own."""
    source = (ROOT / "chatsite/settings.py").read_text("utf-8")
    for name, default in re.findall(r'^        "(\w+)": ([\d_]+),$', source, re.MULTILINE):
        assert int(tabled()[f"PARLEY_LIMIT_{name.upper()}"]) == int(default), name


# --- the checks themselves ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`chat/gone.py`", ["chat/gone.py"]),
        ("`chat/engine/`, `loop.py`, `formats/xml_*.py`, `text/plain`, `/ws/`, `a.b`", []),
        ("`nowhere/`, `chat/urls.py/`", ["nowhere/", "chat/urls.py/"]),
        ("```python\n# chat/new.py\n```\n`chat/new.py`", []),
        ("```sh\n`chat/gone.py`\n```", []),
    ],
)
def test_a_file_that_is_not_there_is_found(text: str, found: list[str]) -> None:
    assert Paper("chat/README.md", text).missing_paths() == found


def test_a_paper_at_the_top_names_whole_paths() -> None:
    """Or what is in a folder that it has just named."""
    text = "`chat/engine/` and `loop.py`.\n\n`loop.py`"
    assert Paper("README.md", text).missing_paths() == ["loop.py"]


def test_a_link_to_nowhere_is_found() -> None:
    text = "# A b\n[x](#a-b) [x](../Makefile) [x](https://x.org) [x](#c) [x](gone.md)"
    assert Paper("chat/README.md", text).broken_links() == ["#c", "gone.md"]


def test_a_function_that_is_not_there_is_found() -> None:
    text = "`engine/loop.py` `run`: `engine/loop.py` `walk`"
    assert Paper("chat/README.md", text).missing_functions() == ["engine/loop.py walk"]
