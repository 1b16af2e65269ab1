"""A ZIP archive that is handed on piece by piece while it is made."""

import io
from zipfile import ZIP_DEFLATED, ZipFile


class ZipStream:
    """Keeps nothing of what was added but the list at the end of the archive."""

    def __init__(self) -> None:
        self._pieces = _Pieces()
        self._zip = ZipFile(self._pieces, "w", ZIP_DEFLATED)

    def add(self, name: str, text: str) -> bytes:
        """The bytes of the archive up to the end of this file."""
        self._zip.writestr(name, text.encode())
        return self._pieces.take()

    def close(self) -> bytes:
        """The last bytes of the archive."""
        self._zip.close()
        return self._pieces.take()


class _Pieces(io.RawIOBase):
    """A file that cannot be gone back in: what is written is taken out."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | bytearray | memoryview", /) -> int:  # type: ignore[override]
        self._written.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        written, self._written = b"".join(self._written), []
        return written
