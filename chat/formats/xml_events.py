"""What an XML tool parser has to say of the text it reads."""

from dataclasses import dataclass


class MessageTooLong(ValueError):
    """The message is longer than any answer should be."""


@dataclass(frozen=True, slots=True)
class Shown:
    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallGrew:
    call_id: str
    raw: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """`values` are texts: their types are in the tool's schema. `fault` says why not to run it.

    `start` is where the call begins in the whole message; its opening tag is not in `raw`.
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


XmlEvent = Shown | CallStarted | CallGrew | CallEnded
