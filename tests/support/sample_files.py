"""Small files of every kind, and those that pretend to be another."""

import struct
import zlib
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def a_png(colour: tuple[int, int, int] = (200, 60, 40), side: int = 8) -> bytes:
    """A real picture of one colour."""
    rows = (b"\x00" + bytes(colour) * side) * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    pieces = (b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*piece) for piece in pieces)


PNG = a_png()
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01" + bytes(40) + b"\xff\xd9"
GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00"
WEBP = b"RIFF\x24\x00\x00\x00WEBPVP8 " + bytes(24)
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<!doctype html><script>alert(1)</script>"
CODE = "def f():\n    return '中文 ```'\n".encode()

EVIL = b"<script>alert(document.domain)</script>"
# Valid as what they begin with; a browser that sniffs would run what is inside.
POLYGLOTS = {
    "gif with a page in it": (GIF + b"/*" + EVIL, "image/gif"),
    "gif that is a script": (b"GIF89a/*" + EVIL + b"*/=1;alert(1)", "image/gif"),
    "png with a page after it": (PNG + EVIL, "image/png"),
    "jpeg with a page in it": (JPEG + EVIL, "image/jpeg"),
    "webp with a page in it": (WEBP + EVIL, "image/webp"),
    "pdf with a page in it": (PDF + EVIL, "application/pdf"),
    "page that is a pdf later": (EVIL + PDF, "text/plain"),
    "svg": (SVG, "text/plain"),
    "html": (HTML, "text/plain"),
    "xml": (b'<?xml version="1.0"?><x xmlns:x="http://www.w3.org/1999/xhtml"/>', "text/plain"),
}

NAMES = [
    "../../etc/passwd", "..\\..\\windows\\win.ini", "%2e%2e%2f%2e%2e%2fetc", "/etc/passwd",
    "C:\\boot.ini", "a\x00.png", "\x00", "x" * 300 + ".txt", "y" * 300, "CON", "con.txt", "NUL",
    "AUX.png", "photo\u202egpj.exe", "\u202e", "\u2066a\u2069.txt", ".env", ".htaccess", "..", ".",
    "...", "", " ", "a/b/../c.txt", "....//....//etc/passwd", "file:///etc/passwd", "~root",
    "a\nb\r\nc.txt", 'quote".txt', "semi;colon.txt", "中文 文件.md", "🎉.png", "a'b.txt", "%00.txt",
    "..%c0%af..%c0%afetc", "\\\\server\\share", "aux/../../x", "-rf", "|ls", "$(id)", "`id`",
    "<img src=x onerror=alert(1)>.txt", "name.txt/", "\ud800.txt", "a\tb.txt",
]  # fmt: skip


_QUOTED = {'"': "%22", "\r": "%0D", "\n": "%0A"}


def form_of(*files: tuple[str, bytes]) -> tuple[bytes, str]:
    """A form as a browser sends it, with names as they are, and its content type."""
    body = b""
    for name, content in files:
        said = "".join(_QUOTED.get(sign, sign) for sign in name).encode("utf-8", "surrogatepass")
        body += b'--edge\r\nContent-Disposition: form-data; name="attachments"; filename="'
        body += said + b'"\r\nContent-Type: text/html\r\n\r\n' + content + b"\r\n"
    return body + b"--edge--\r\n", "multipart/form-data; boundary=edge"


def upload_of(name: str, content: bytes) -> SimpleUploadedFile:
    """A file as a browser sends it; what it says of its type is never believed."""
    file = SimpleUploadedFile("x", content, content_type="text/html")
    file._name = name  # type: ignore[attr-defined]  # the setter would clean it
    return file


def stored() -> set[Path]:
    """Every file under MEDIA_ROOT."""
    return {path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()}
