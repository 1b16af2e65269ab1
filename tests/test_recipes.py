"""The recipes of CONTRIBUTING.md work: they are followed in a copy of the project."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.architecture import breaches_of
from tests.support.papers import ROOT, Paper
from tests.support.server import environment

COPIED = ("chat", "chatsite", "templates", "static", "locale", "tests", "scripts")
FILES = ("manage.py", "pyproject.toml", "Makefile")


def apply(diff: str, text: str) -> str:
    """The text with the changes of a diff that has no line numbers; `…` stands between two."""
    for hunk in diff.split("…\n"):
        lines = [line or " " for line in hunk.splitlines()]
        before = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
        after = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
        found = text.count(before)
        assert found == 1, f"found {found} times, so CONTRIBUTING.md is out of date:\n{before}"
        text = text.replace(before, after)
    return text


class Copy:
    """The project, with every example of the recipes in its place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python_files: list[str] = []
        self.tests: list[str] = []
        ignore = shutil.ignore_patterns("__pycache__", "browser", "shots")
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        for name in FILES:
            shutil.copy(ROOT / name, folder / name)
        (folder / "garden").mkdir()

    def follow(self, paper: Paper) -> None:
        for example in paper.examples():
            if example.path:
                self._put(example.language, example.path, example.code.partition("\n")[2])

    def _put(self, language: str, path: str, code: str) -> None:
        file = self.folder / path
        if language == "diff":
            code = apply(code, file.read_text("utf-8"))
        else:
            assert not file.exists(), f"{path} is there already"
        file.parent.mkdir(exist_ok=True)
        file.write_text(code, "utf-8")
        if path.endswith(".py") and path not in self.python_files:
            self.python_files.append(path)
        if path.startswith("tests/"):
            self.tests.append(path)

    def run(self, *words: str) -> str:
        """The output of a Python program in the copy, which must succeed."""
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.folder,
            env=environment(self.folder / "data"),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    made = Copy(tmp_path_factory.mktemp("parley"))
    made.follow(Paper("CONTRIBUTING.md"))
    return made


def test_the_examples_are_written_as_everything_else_is(copy: Copy) -> None:
    copy.run("ruff", "check", "--no-cache", *copy.python_files)
    copy.run("ruff", "format", "--no-cache", "--check", *copy.python_files)


def test_the_examples_keep_the_rules_of_the_rooms(copy: Copy) -> None:
    # Not `garden`: the rules are for this project, not for whoever builds on it.
    ours = [path for path in copy.python_files if path.startswith(("chat/", "chatsite/"))]
    product = {path: (copy.folder / path).read_text("utf-8") for path in ours}
    found = [breach for path, text in product.items() for breach in breaches_of(path, text)]
    assert [str(breach) for breach in found] == []


def test_the_examples_work(copy: Copy) -> None:
    """With the columns of another language and the constraint of another kind of provider."""
    made = copy.run("manage", "makemigrations", "chat", "--name", "recipes")
    for change in ("name_de to agent", "Create constraint provider_kind"):
        assert change in made
    assert len(copy.tests) > 4
    # It goes through all kinds of providers.
    tests = [*copy.tests, "tests/connecting/test_registry.py"]
    passed = copy.run("pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert "skipped" not in passed


# --- the reading of diffs -------------------------------------------------------------------

TEXT = "one\n\ntwo\nthree\n"


def test_a_diff_is_applied() -> None:
    assert apply("-one\n+1\n…\n three\n+four\n", TEXT) == "1\n\ntwo\nthree\nfour\n"
    assert apply(" one\n\n-two\n", TEXT) == "one\n\nthree\n"


@pytest.mark.parametrize("diff", ["-five\n", " one\n-three\n", "\n"])
def test_a_diff_that_does_not_fit_is_refused(diff: str) -> None:
    with pytest.raises(AssertionError, match="found"):
        apply(diff, TEXT + "\n")
