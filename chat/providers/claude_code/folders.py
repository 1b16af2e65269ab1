"""Folders: one for each conversation, empty at first, readable by the server alone."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Folder:
    """Where one run works. What a title needs is not kept."""

    path: Path
    is_kept: bool

    @property
    def work(self) -> Path:
        """The folder that tools see."""
        return self.path / "work"

    @property
    def home(self) -> Path:
        """Where the program keeps its sessions."""
        return self.path / "home"

    @property
    def tmp(self) -> Path:
        return self.path / "tmp"

    @property
    def instructions(self) -> Path:
        return self.path / "instructions.md"


def conversation_folder(folders: Path, conversation_id: str) -> Path:
    """Where a conversation's folder is; only an id can name one."""
    return folders / str(UUID(conversation_id))


def open_folder(folders: Path, conversation_id: str, instructions: str) -> Folder:
    """The folder of a conversation, or one to be used once; with what the model is told."""
    folders.mkdir(mode=0o700, parents=True, exist_ok=True)
    if conversation_id:
        path = conversation_folder(folders, conversation_id)
        path.mkdir(mode=0o700, exist_ok=True)
    else:
        path = Path(tempfile.mkdtemp(prefix="once-", dir=folders))
    folder = Folder(path, is_kept=bool(conversation_id))
    for inside in (folder.work, folder.home, folder.tmp):
        inside.mkdir(mode=0o700, exist_ok=True)
    folder.instructions.write_text(instructions, "utf-8", "replace")
    return folder


def close_folder(folder: Folder) -> None:
    """What was to be used once goes."""
    if not folder.is_kept:
        shutil.rmtree(folder.path, ignore_errors=True)


def remove_folder(folders: Path, conversation_id: str) -> None:
    """The conversation is gone for good, or must not be known any more as it was."""
    shutil.rmtree(conversation_folder(folders, conversation_id), ignore_errors=True)
