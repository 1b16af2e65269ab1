"""Which turn a line of a transcript belongs to: each names the line before it.

Somebody who goes back in a conversation types the next prompt after an earlier line. All else that
follows an earlier one is no sign of that: results of calls that ran beside each other do, and what
the command line notes down itself. Lines may follow some that are not in the file.
"""

from chat.formats.imported import shapes
from chat.protocol.frozen import JsonObject


class Turns:
    """Turns are counted from one; what comes before the first prompt is in turn 0."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}
        self._last = 0
        self._session = ""
        # Whether a prompt has named what it follows: then one that names nothing begins anew.
        self._names_them = False

    def is_known(self, line: JsonObject) -> bool:
        """Whether the line was read before."""
        return shapes.text(line.get("uuid")) in self._turns

    def note(self, line: JsonObject) -> None:
        uuid = shapes.text(line.get("uuid"))
        if uuid:
            parent = shapes.text(line.get("parentUuid"))
            self._turns[uuid] = self._turns.get(parent, self._last)

    def begin(self, line: JsonObject) -> int | None:
        """A prompt begins another turn: after which one, if that is not the last."""
        after = self._followed(line)
        last, self._last = self._last, self._last + 1
        if uuid := shapes.text(line.get("uuid")):
            self._turns[uuid] = self._last
        self._session = shapes.session_id(line)
        return after if after < last else None

    def _followed(self, line: JsonObject) -> int:
        if line.get("isSidechain") is True:
            return self._last
        parent = shapes.text(line.get("parentUuid"))
        if parent in self._turns:
            self._names_them = self._names_them or self._last > 0
            return self._turns[parent]
        return 0 if self._begins_anew(line) else self._last

    def _begins_anew(self, line: JsonObject) -> bool:
        """Whether somebody has gone back to where nothing was said."""
        follows_nothing = "parentUuid" in line and line["parentUuid"] is None
        if not follows_nothing or shapes.session_id(line) != self._session:
            return False
        is_first = shapes.an_object(line.get("turnPosition")).get("turnIndex") == 1
        return is_first or self._names_them
