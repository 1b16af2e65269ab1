"""What an XML tool parser finds in the text it reads, in order."""

from dataclasses import dataclass


class MessageTooLong(ValueError):
    """The message is longer than any answer should be."""


@dataclass(frozen=True, slots=True)
class TextShown:
    """Text for the reader, without calls and the blanks around them."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A tag that certainly begins a call."""

    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallGrew:
    """More of the text between a call's tags."""

    call_id: str
    raw: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call is complete, or must not be run for the reason in `fault`.

    `values` are texts: their types are in the tool's schema. `start` is where the call begins in
    the message; `raw` is what follows its opening tag.
    """

    call_id: str
    name: str
    values: dict[str, str]
    raw: str
    start: int
    fault: str = ""

    @property
    def end(self) -> int:
        return self.start + len(f"<{self.name}>") + len(self.raw)


XmlEvent = TextShown | CallStarted | CallGrew | CallEnded
