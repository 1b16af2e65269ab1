"""Citations: the sources that a model names for what it says."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import Field, ValidationError

from chat.protocol.frozen import Frozen, FrozenObject, JsonObject
from chat.protocol.text import clean_json

# More than any answer has; a provider that goes mad must not fill a row.
MOST = 500


class Citation(Frozen):
    """A source of the characters from `start` to `end` of a text."""

    url: str = ""
    title: str = ""
    # Words of the source itself.
    quote: str = ""
    start: int = Field(0, ge=0)
    end: int = Field(0, ge=0)
    # As it came, where the model that made it wants it back.
    raw: FrozenObject | None = None

    def without_raw(self) -> "Citation":
        return self.model_copy(update={"raw": None}) if self.raw else self


@dataclass(frozen=True, slots=True)
class Source:
    """What a reader is led to; several citations may name the same one."""

    url: str
    title: str
    quote: str = ""


def sources_of(citations: Iterable[Citation]) -> tuple[Source, ...]:
    """The sources in the order in which they are first named: the first has the number 1."""
    found: dict[str, Source] = {}
    for citation in citations:
        url = citation.url if is_web_address(citation.url) else ""
        title = " ".join(citation.title.split()) or url
        if title:
            found.setdefault(url or title, Source(url, title, citation.quote))
    return tuple(found.values())


def is_web_address(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def citations_to_json(citations: Iterable[Citation]) -> list[JsonObject]:
    dumped = [each.model_dump(mode="json", exclude_defaults=True) for each in citations]
    return list(clean_json(dumped))


def read_citations(value: Any) -> tuple[Citation, ...]:
    """The citations that are stored; what cannot be read is left out."""
    read = []
    for item in value if isinstance(value, list | tuple) else ():
        try:
            read.append(Citation.model_validate(item, strict=False))
        except ValidationError:
            continue
    return tuple(read)
