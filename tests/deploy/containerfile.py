"""Reads a Containerfile as far as ours goes, and does its steps without a container."""

import json
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.support.server import ROOT

FILE = ROOT / "deploy/Containerfile"


@dataclass(frozen=True)
class Step:
    verb: str
    words: str


@dataclass(frozen=True)
class Recipe:
    steps: list[Step]

    @classmethod
    def read(cls) -> "Recipe":
        text = re.sub(r"\\\n\s*", " ", FILE.read_text("utf-8"))
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        return cls([Step(*line.split(None, 1)) for line in lines])

    def all(self, verb: str) -> list[str]:
        return [step.words for step in self.steps if step.verb == verb]

    @cached_property
    def environment(self) -> dict[str, str]:
        pairs = (shlex.split(words) for words in self.all("ENV"))
        return dict(pair.split("=", 1) for words in pairs for pair in words)

    @cached_property
    def copied(self) -> list[str]:
        return [source for words in self.all("COPY") for source in shlex.split(words)[:-1]]

    @cached_property
    def installs(self) -> list[str]:
        return [words for words in self.all("RUN") if words.startswith("pip ")]

    @property
    def command(self) -> list[str]:
        [words] = self.all("CMD")
        return list(json.loads(words))

    @property
    def health(self) -> list[str]:
        [words] = self.all("HEALTHCHECK")
        return list(json.loads(words[words.index("CMD") + 3 :]))

    def copy_to(self, folder: Path) -> None:
        """What the image has of the repository, and nothing else."""
        folder.mkdir()
        for words in self.all("COPY"):
            *sources, target = shlex.split(words)
            for source in sources:
                there = folder / (source if target == "./" else target)
                if (ROOT / source).is_dir():
                    shutil.copytree(
                        ROOT / source, there, ignore=shutil.ignore_patterns("__pycache__")
                    )
                else:
                    shutil.copy(ROOT / source, there)

    def install_in(self, folder: Path, programs: Path) -> None:
        """The steps that install, with these programs in place of the image's."""
        for words in self.installs:
            ended = subprocess.run(
                ["sh", "-c", f'PATH="{programs}:$PATH"; {words}'],
                cwd=folder, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert ended.returncode == 0, ended.stderr
