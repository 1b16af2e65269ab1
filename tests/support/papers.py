"""Reads the papers of the project for what can be checked in them: paths, links, commands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_PATH = re.compile(r"[\w.*-]+(/[\w.*-]+)*/?")
_SUFFIXES = (".py", ".md", ".html", ".css", ".js", ".po", ".mo", ".toml", ".lock", ".env", ".png")
# The first word of a type such as `text/plain`, which looks like a path.
_TYPES = ("text", "application", "image", "multipart")
_MAKE = re.compile(r"\bmake ([a-z][a-z-]*)")
_MANAGE = re.compile(r"manage\.py (\w+)")
# `chat/engine/loop.py` `run`: a function, and where it is.
_FUNCTION = re.compile(r"`([\w/]+\.py)` `(\w+)`")


@dataclass(frozen=True)
class Example:
    """A block of code; one that shows a file begins with a comment that names it."""

    language: str
    code: str

    @property
    def path(self) -> str:
        first = self.code.partition("\n")[0]
        named = re.match(r"(?:#|\{#|//) ([\w./-]+\.\w+)", first)
        return named[1] if named else ""


class Paper:
    """One Markdown file of the repository."""

    def __init__(self, name: str, text: str | None = None) -> None:
        self.name = name
        self.folder = (ROOT / name).parent
        self.text = (ROOT / name).read_text("utf-8") if text is None else text
        self.prose = _FENCE.sub("", self.text)

    def examples(self) -> list[Example]:
        return [Example(language, code) for language, code in _FENCE.findall(self.text)]

    def section(self, heading: str) -> str:
        """What stands below a heading, down to the next one of its rank."""
        return self.text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]

    def until(self, mark: str) -> "Paper":
        return Paper(self.name, self.text.partition(mark)[0])

    def paths(self) -> list[str]:
        return list(_paths(self.prose))

    def missing_paths(self) -> list[str]:
        """Names of files and folders in backticks that are not there."""
        own = {example.path for example in self.examples()}
        return [
            path
            for paragraph in self.prose.split("\n\n")
            for path in _paths(paragraph)
            if not self._is_there(path, paragraph, own)
        ]

    def broken_links(self) -> list[str]:
        """Links that lead to no file, or to no heading of it."""
        return [link for link in _LINK.findall(self.prose) if not self._leads_somewhere(link)]

    def missing_functions(self) -> list[str]:
        """Functions that are not in the file beside which they are named."""
        return [
            f"{path} {name}"
            for path, name in _FUNCTION.findall(self.prose)
            if not any(_defines(file, name) for file in self._found(path))
        ]

    def make_targets(self) -> set[str]:
        return {name for code in self._commands() for name in _MAKE.findall(code)}

    def manage_commands(self) -> set[str]:
        return {name for code in self._commands() for name in _MANAGE.findall(code)}

    def _commands(self) -> Iterator[str]:
        yield from _CODE.findall(self.prose)
        yield from (example.code for example in self.examples())

    def _is_there(self, path: str, paragraph: str, own: set[str]) -> bool:
        """In the repository, in a folder that the paragraph names, or made by an example."""
        made = any(f"{file}/".startswith(path.rstrip("/") + "/") for file in own)
        near = [folder for folder in _paths(paragraph) if folder.endswith("/")]
        return made or any(self._found(place + path) for place in ("", *near))

    def _found(self, path: str) -> list[Path]:
        """The files of a name: from the top or, for a paper inside `chat/`, anywhere in there."""
        wanted = path.rstrip("/")
        found = list(ROOT.glob(wanted))
        if not found and "/" in self.name:
            found = list((ROOT / self.name.split("/")[0]).rglob(wanted))
        return [file for file in found if file.is_dir() or not path.endswith("/")]

    def _leads_somewhere(self, link: str) -> bool:
        if re.match(r"https?://", link):
            return True
        path, _, anchor = link.partition("#")
        target = (self.folder / path).resolve()
        if path and not target.exists():
            return False
        return not anchor or anchor in _anchors(target.read_text("utf-8") if path else self.text)


def _paths(text: str) -> Iterator[str]:
    """What stands in backticks and looks like the name of a file or a folder."""
    for code in _CODE.findall(text):
        looks_so = "/" in code or code.endswith(_SUFFIXES)
        if looks_so and _PATH.fullmatch(code) and code.split("/")[0] not in _TYPES:
            yield code


def _anchors(text: str) -> set[str]:
    """The names of headings, as Markdown hosts make them."""
    headings = _HEADING.findall(_FENCE.sub("", text))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _defines(file: Path, name: str) -> bool:
    return bool(re.search(rf"^\s*(async )?def {name}\(", file.read_text("utf-8"), re.MULTILINE))
