"""Parley as it is installed elsewhere: without the repository."""

import os
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.containerfile import Recipe


@pytest.fixture(scope="session")
def installed() -> Iterator[Path]:
    """The programs of a virtualenv that has nothing but what the steps of the container bring: the
    wheel that `pip install .` builds, and what it needs. Others may read it."""
    with tempfile.TemporaryDirectory(prefix="parley-installed-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        recipe = Recipe.read()
        # Parley lets nobody else read what it writes, and this process may be one by now.
        before = os.umask(0o022)
        try:
            recipe.copy_to(folder / "src")
            venv.create(folder / "venv", with_pip=True)
            recipe.install_in(folder / "src", folder / "venv/bin")
        finally:
            os.umask(before)
        yield folder / "venv/bin"
