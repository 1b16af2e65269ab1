"""The bytes of a file → its text."""

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

# Windows' own shell writes what it is told to keep in this way.
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decoded(chunks: Iterable[bytes]) -> Iterator[str]:
    """What is no text is replaced: line by line the rest is still read."""
    source = iter(chunks)
    start = b""
    while len(start) < 2 and (chunk := next(source, b"")):
        start += chunk
    encoding = "utf-16" if start.startswith(_UTF_16) else "utf-8-sig"
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for chunk in chain((start,), source):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)
