"""Files on messages: what they are (by content, never by name), and what they are called."""

import re
from hashlib import sha256
from typing import Final

from chat.protocol.ids import is_uuid
from chat.protocol.text import clean_text

PDF: Final = "application/pdf"
TEXT: Final = "text/plain"
# Raster images that no browser runs anything in; an SVG is a text here.
IMAGES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")

NAME_LENGTH: Final = 255
NAMELESS: Final = "file"
# As much of a file as it takes to say what it is.
HEAD: Final = 4096

_OWN: Final = "/attachments/"
# Marks that turn the direction of what follows: "gpj.exe" would read "exe.jpg".
_TURNS: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f]+")
# What no text has: all controls but tab, line ends, form feed and escape (in logs).
_BINARY: Final = re.compile(b"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")


def own_url(attachment_id: object) -> str:
    """Where a file of ours is downloaded; this is what its part says."""
    return f"{_OWN}{attachment_id}/"


def own_id(url: str) -> str | None:
    """Which file of ours an address means, if it is one."""
    key = url.removeprefix(_OWN).removesuffix("/")
    return key if url == own_url(key) and is_uuid(key) else None


def fingerprint(url: str) -> str:
    """A short name of the content of a file in an address, the same in whatever form it is sent."""
    return sha256(url.rpartition(",")[2].encode()).hexdigest()[:32]


def kind_of(head: bytes) -> str | None:
    """The type of a file by how it begins; nothing for what is neither picture, PDF nor text."""
    if head.startswith(b"\x89PNG\r\n\x1a\n") and head[12:16] == b"IHDR":
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith(b"%PDF-"):
        return PDF
    return TEXT if _may_be_text(head[:HEAD]) else None


def _may_be_text(head: bytes) -> bool:
    """Whether a text may begin so; its last character may be cut in two."""
    if _BINARY.search(head):
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.end >= len(head) and error.start > len(head) - 4 and len(head) == HEAD
    return True


def clean_name(name: str) -> str:
    """A name to show and to save under: the last piece of a path, in one line, not too long."""
    last = re.split(r"[/\\]", clean_text(name))[-1]
    last = " ".join(_TURNS.sub("", _CONTROLS.sub(" ", last)).split())
    if not last.strip("."):
        return NAMELESS
    if len(last) <= NAME_LENGTH:
        return last
    stem, dot, ending = last.rpartition(".")
    kept = dot + ending if stem and len(ending) <= 20 else ""
    return last[: NAME_LENGTH - len(kept)] + kept
