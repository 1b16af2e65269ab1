"""The parts of a run as rows: inserted, or brought forward."""

from collections.abc import Sequence

from chat.models import Part
from chat.protocol import parts as values
from chat.services import statements

# A part and its place in the message.
Placed = tuple[int, values.Part]


def write_parts(placed: Sequence[Placed]) -> None:
    """Insert parts, or bring the rows of known ones forward; the caller has a transaction."""
    statements.write_parts([Part.of(part, position) for position, part in placed])
