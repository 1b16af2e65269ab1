"""Compressed bodies, a bounded piece at a time: a small bomb must not become a large one."""

import zlib
from collections.abc import Iterator

from chat.providers.faults import failure

_LARGEST_PIECE = 262_144


class Decompressor:
    """Undoes gzip and deflate; we ask for neither, but some proxies compress anyway."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    @classmethod
    def for_encoding(cls, encoding: str) -> "Decompressor | None":
        """The one for a `content-encoding`; none where nothing is compressed."""
        match encoding.strip().lower():
            case "" | "identity":
                return None
            case "gzip" | "x-gzip" | "deflate":
                return cls()
            case other:
                raise failure("bad_response", f"unknown content encoding {other!r}")

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        try:
            while chunk:
                piece = self._zlib.decompress(chunk, _LARGEST_PIECE)
                if piece:
                    yield piece
                elif chunk == self._zlib.unconsumed_tail:
                    return
                chunk = self._zlib.unconsumed_tail
        except zlib.error:
            raise failure("bad_response", "broken compression") from None
