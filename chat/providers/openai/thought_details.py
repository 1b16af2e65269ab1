"""`reasoning_details`: thoughts that gateways hand on signed or encrypted, and want back."""

from typing import Any, Final

from chat.protocol.frozen import JsonObject
from chat.protocol.text import clean_json

# Where they are kept in the metadata of a thought.
DETAILS: Final = "details"
# What comes in pieces; of all else the last that is said counts.
_GROWING: Final = ("text", "summary", "data")


class ThoughtDetails:
    """Puts the pieces of each detail together, so that it can go back as the model made it."""

    def __init__(self) -> None:
        self._details: list[JsonObject] = []

    def feed(self, pieces: list[Any]) -> None:
        for piece in pieces:
            if not isinstance(piece, dict):
                continue
            last = self._details[-1] if self._details else {}
            same = all(last.get(name) == piece.get(name) for name in ("type", "index"))
            if last and same and "index" in piece:
                _grow(last, piece)
            else:
                self._details.append(dict(piece))

    def finish(self) -> JsonObject | None:
        """What is kept with the thought, if there is anything."""
        if not self._details:
            return None
        # The empty signature says that nothing more belongs to this thought.
        return {"signature": "", DETAILS: clean_json(self._details)}


def _grow(detail: JsonObject, piece: JsonObject) -> None:
    for name, value in piece.items():
        before = detail.get(name)
        if name in _GROWING and isinstance(value, str) and isinstance(before, str):
            detail[name] = before + value
        elif value is not None:
            detail[name] = value
