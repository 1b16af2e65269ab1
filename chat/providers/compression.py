"""Compressed bodies, a bounded piece at a time: a small bomb must not become a large one."""

import zlib
from collections.abc import Iterator

from chat.providers.faults import failure

_PIECE = 262_144


class Inflater:
    """Undoes gzip and deflate; we ask for neither, but some proxies compress anyway."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    @classmethod
    def of(cls, encoding: str) -> "Inflater | None":
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
                piece = self._inflate.decompress(chunk, _PIECE)
                if piece:
                    yield piece
                elif chunk == self._inflate.unconsumed_tail:
                    return
                chunk = self._inflate.unconsumed_tail
        except zlib.error:
            raise failure("bad_response", "broken compression") from None
