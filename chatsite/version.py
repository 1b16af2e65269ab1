"""Which version of Parley this is, as `pyproject.toml` says, or the wheel that was installed."""

import tomllib
from importlib import metadata
from pathlib import Path


def read_version(folder: Path) -> str:
    """The version of the project in this folder, or of what was installed; empty where neither
    is known."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
        return str(project["project"]["version"])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        pass
    try:
        return metadata.version("parley")
    except metadata.PackageNotFoundError:
        return ""
