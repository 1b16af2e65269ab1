"""What changed in a message: enough to save it and to publish it."""

from dataclasses import dataclass
from typing import Literal

from chat.protocol.parts import Part, ToolPart

TextKind = Literal["text", "reasoning"]


@dataclass(frozen=True, slots=True)
class PartOpened:
    """A part was added. A text or reasoning is still empty: `PartGrew` fills it."""

    position: int
    part: Part


@dataclass(frozen=True, slots=True)
class PartGrew:
    """More text for an open part; `offset` counts the characters before it."""

    position: int
    part_id: str
    offset: int
    delta: str
    kind: TextKind


@dataclass(frozen=True, slots=True)
class PartClosed:
    """A text or reasoning is complete, and will not change any more."""

    position: int
    part: Part


@dataclass(frozen=True, slots=True)
class ToolChanged:
    """A tool call is in a new state."""

    position: int
    part: ToolPart


Change = PartOpened | PartGrew | PartClosed | ToolChanged
