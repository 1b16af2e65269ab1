"""An export as it is downloaded: a ZIP with the conversations and the files that are in them."""

import os
import re
import zipfile
import zlib
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import IO

from chat.formats.claude_stream import AgentFile, AgentFiles, agent_noted, agent_of
from chat.formats.imported.chats import read_chats
from chat.formats.imported.decode import decoded
from chat.formats.imported.items import Item, Skipped
from chat.formats.imported.updates import InlineFile
from chat.protocol.files import HEAD, TEXT, clean_name, kind_of

MAGIC = b"PK\x03\x04"
CHUNK = 256 * 1024
# Files in it; an export of many years has some ten thousand.
MOST_FILES = 200_000
# Of one message, so many files are looked for.
MOST_OF_MESSAGE = 100
# How many times larger than the archive the files for messages may be together, or this many bytes:
# pictures hardly pack. A text does, so a fifth of it counts.
FILES_UNPACKED = 4
FEW_BYTES = 20_000_000
TEXT_PACKS = 5

_CHATS = re.compile(r"(?:^|/)conversations(?:[-_]?\d{1,4})?\.json$")
_OTHERS = re.compile(r"(?:^|/)[^/]+\.(?:json|jsonl|ndjson)$")
# Of a name like `file-AbC123-holiday.jpg`, what a message calls it by.
_NAMED = re.compile(r"^(file[-_][0-9A-Za-z]+)")
# Of the others, a few bytes are unpacked to gigabytes at once, whatever is asked for.
_PACKED_BY = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FAULTS = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError)


class TooMuch(Exception):
    """More is packed in it than is read."""


class Archive:
    """`most` is how many bytes may be unpacked in all, `most_of_file` of a picture."""

    def __init__(self, file: IO[bytes], most: int, most_of_file: int) -> None:
        self._left = most
        # How much of the archive has been read, as it is packed.
        self.taken = 0.0
        self._most_of_file = most_of_file
        self._left_of_files = max(FILES_UNPACKED * file.seek(0, os.SEEK_END), FEW_BYTES)
        # What is broken, of no kind that is kept, or too much: it is not unpacked again.
        self._refused: set[zipfile.ZipInfo] = set()
        # Files of sub-agents that broke off.
        self._broken: dict[zipfile.ZipInfo, None] = {}
        # How many files the message that is being read has found.
        self._of_message = 0
        self._members: list[zipfile.ZipInfo] = []
        self._named: dict[str, zipfile.ZipInfo] = {}
        self._zip: zipfile.ZipFile | None = None
        try:
            self._zip = zipfile.ZipFile(file)
        except _FAULTS:
            return
        self._members = [each for each in self._zip.infolist() if not each.is_dir()][:MOST_FILES]
        for member in self._members:
            self._named.setdefault(member.filename, member)
            name = member.filename.rpartition("/")[2]
            self._named.setdefault(name, member)
            self._named.setdefault(name.rpartition(".")[0] or name, member)
            if found := _NAMED.match(name):
                self._named.setdefault(found[1], member)

    def read(self, missing_prompt: str) -> Iterator[Item]:
        """The conversations in it; what is broken in one of its files costs no other."""
        if self._zip is None:
            yield Skipped("archive_broken", "ZIP")
            return
        members = self._chats()
        if not members:
            yield Skipped("file_not_understood")
        of_agents = {
            each: AgentFile(each.filename, partial(self._whole, self._zip, each))
            for each in members
            if agent_of(each.filename)
        }
        agents = AgentFiles(of_agents.values())
        try:
            for member in members:
                if member not in of_agents:
                    yield from self._member(self._zip, member, missing_prompt, agents)
            for member, file in of_agents.items():
                # Those that no session has named.
                if file not in agents.read and member not in self._broken:
                    yield from self._member(self._zip, member, missing_prompt)
            for member in self._broken:
                yield Skipped("archive_broken", clean_name(member.filename))
        except TooMuch:
            yield Skipped("archive_too_large")

    def find(self, name: str) -> InlineFile | None:
        """The file that a message means, if it is here, is whole, and of a size and kind that
        can be kept."""
        if name in self._named:
            self._of_message += 1
        if self._of_message > MOST_OF_MESSAGE or not (data := self.data(name)):
            return None
        mime = kind_of(data[:HEAD])
        url = f"data:{mime};base64,{b64encode(data).decode()}"
        return InlineFile(str(mime), url, clean_name(self._named[name].filename))

    def data(self, name: str) -> bytes:
        """What lies under a name; nothing where that is not here, broken, too large or of no kind
        that can be kept."""
        member = self._named.get(name)
        if self._zip is None or member is None or member in self._refused:
            return b""
        try:
            data = self._file(self._zip, member)
        except _FAULTS:
            data = b""
        if not data:
            self._refused.add(member)
        return data

    def _file(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
        """A file for a message. It counts before it is unpacked, for it may turn out broken."""
        size = member.file_size
        if size > self._most_of_file:
            return b""
        with _opened(archive, member) as file:
            head = file.read(HEAD)
            kind = kind_of(head)
            cost = size // TEXT_PACKS if kind == TEXT else size
            if kind is None or cost > self._left_of_files or size > self._left:
                return b""
            self._left_of_files -= cost
            self._left -= size
            # No more than its size, though more may be packed in it.
            return head + file.read(size)

    def _chats(self) -> list[zipfile.ZipInfo]:
        """The files of conversations in their order, or whatever else may be some."""
        named = [each for each in self._members if _CHATS.search(each.filename)]
        if not named:
            named = [each for each in self._members if _is_chat(each.filename)]
        return sorted(named, key=lambda each: each.filename)

    def _member(
        self,
        archive: zipfile.ZipFile,
        member: zipfile.ZipInfo,
        missing_prompt: str,
        agents: AgentFiles | None = None,
    ) -> Iterator[Item]:
        name = clean_name(member.filename)
        try:
            text = decoded(self._bytes(archive, member))
            for item in read_chats(text, missing_prompt, self.find, agents):
                self._of_message = 0
                if isinstance(item, Skipped):
                    yield replace(item, inside=item.inside or name)
                else:
                    yield item
        except _FAULTS:
            yield Skipped("archive_broken", name)

    def _whole(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[str]:
        """The file of a sub-agent, as far as it can be read."""
        try:
            yield from decoded(self._bytes(archive, member))
        except _FAULTS:
            self._broken[member] = None

    def _bytes(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
        with _opened(archive, member) as file:
            while chunk := file.read(CHUNK):
                self._take(len(chunk))
                self.taken += member.compress_size * len(chunk) / max(member.file_size, 1)
                yield chunk

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise TooMuch


def _opened(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    if member.compress_type not in _PACKED_BY:
        raise NotImplementedError
    return archive.open(member)


def _is_chat(name: str) -> bool:
    """Whether a file may be a conversation: what Parley puts beside them is none, whatever it is
    called, nor what Claude's command line notes of a sub-agent."""
    is_other = name.startswith("files/") or bool(agent_noted(name))
    return bool(_OTHERS.search(name)) and not is_other
