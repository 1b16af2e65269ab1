"""A ZIP archive that is handed on piece by piece while it is made."""

import io
from collections.abc import Iterable, Iterator
from datetime import datetime
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

# So much of the archive is handed on at once.
PIECE = 64 * 1024


class ZipStream:
    """Keeps nothing of what was added but the list at the end of the archive."""

    def __init__(self) -> None:
        self._pieces = _Pieces()
        self._zip = ZipFile(self._pieces, "w", ZIP_DEFLATED)

    def add(
        self, name: str, content: Iterable[bytes], at: datetime | None = None, *, pack: bool = True
    ) -> Iterator[bytes]:
        """The bytes of the archive up to the end of this file. What is packed already – a picture,
        say – need not be packed again."""
        # The format knows no earlier year.
        moment = at.timetuple()[:6] if at is not None and at.year >= 1980 else None
        info = ZipInfo(name, moment) if moment else ZipInfo(name)
        info.compress_type = ZIP_DEFLATED if pack else ZIP_STORED
        info.external_attr = 0o600 << 16
        with self._zip.open(info, "w") as file:
            for piece in content:
                file.write(piece)
                if self._pieces.size > PIECE:
                    yield self._pieces.take()
        yield self._pieces.take()

    def close(self) -> bytes:
        """The last bytes of the archive."""
        self._zip.close()
        return self._pieces.take()


class _Pieces(io.RawIOBase):
    """A file that cannot be gone back in: what is written is taken out."""

    def __init__(self) -> None:
        self._written: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | bytearray | memoryview", /) -> int:  # type: ignore[override]
        self._written.append(bytes(data))
        self.size += len(data)
        return len(data)

    def take(self) -> bytes:
        written, self._written, self.size = b"".join(self._written), [], 0
        return written
