"""The README of the package shows what the code does, and leaves nothing out."""

import doctest
import re
from pathlib import Path

import chat.rendering.streaming
from chat.rendering.streaming.source import State

PACKAGE = Path(chat.rendering.streaming.__file__).parent
README = (PACKAGE / "README.md").read_text("utf-8")


def _first_column(heading: str) -> list[str]:
    """The first code of each row in the table below a heading."""
    section = README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)", section, re.M)


def test_the_frames_are_what_the_code_produces() -> None:
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", README, re.S))
    frames = doctest.DocTestParser().get_doctest(examples, {}, "README.md", "README.md", 0)
    assert len(re.findall(r">>> show\(", examples)) == 3
    complaints: list[str] = []
    doctest.DocTestRunner(verbose=False).run(frames, out=complaints.append)
    assert complaints == []


def test_the_public_names_are_the_five_of_the_table() -> None:
    assert sorted(_first_column("Five names")) == sorted(chat.rendering.streaming.__all__)
    assert len(chat.rendering.streaming.__all__) == 5


def test_every_state_is_in_the_table() -> None:
    assert _first_column("States") == [state.name for state in State]


def test_every_module_has_its_place() -> None:
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py"}
    named = set(re.findall(r"`(\w+\.py)`", README))
    assert modules - named == set()
    assert {name for name in named - modules if not name.startswith("test_")} == set()
