"""The items of one answer on the Responses wire, and which of them an event is about.

OpenAI counts them (`output_index`); their ids mean little there, for they may come again or change
on the way. llama.cpp does not count, it names them: a call by its `call_id` alone. Ollama gives a
text and the calls after it the same number.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from chat.providers.answer_reader import BrokenAnswer
from chat.providers.faults import failure

# More than any answer has, so a server that sends on and on is not read to the end of memory.
MOST_ITEMS: Final = 3_000


@dataclass(slots=True)
class Item:
    """One item of the output, as far as it has come."""

    # As it began; nothing where its words came first.
    start: dict[str, Any] = field(default_factory=dict)
    call_id: str = ""
    name: str = ""
    # The arguments of a call, or the words of a thought that are its own and no summary.
    pieces: list[str] = field(default_factory=list)
    # Whether any of its words have come, and how many characters.
    has_text: bool = False
    written: int = 0
    # How many of its sources have come.
    cited: int = 0
    # Of a message: whether it is the answer, or said on the way to it.
    phase: str = ""
    # Whether it is whole, and whether what goes back of it was told before that.
    is_done: bool = False
    is_kept: bool = False

    @property
    def type(self) -> str:
        return str(self.start.get("type") or "")


class Items:
    """All items in the order in which they began."""

    def __init__(self) -> None:
        self.all: list[Item] = []
        self._by_name: dict[tuple[int | None, str], Item] = {}
        self._by_place: dict[int, Item] = {}

    def of_delta(self, event: dict[str, Any]) -> Item:
        """The item to which a piece belongs; some servers send pieces of what they never began."""
        place, name = _place(event), event.get("item_id")
        found = self._by_name.get((place, name)) if isinstance(name, str) else None
        if found is None and place is not None:
            found = self._by_place.get(place)
        if found is None and place is None and not name and self.all:
            found = self.all[-1]
        return found or self._add(place, _names({"id": name}))

    def of_item(self, event: dict[str, Any], item: dict[str, Any], *, begins: bool) -> Item:
        """The item that an event begins or ends."""
        place, names = _place(event), _names(item)
        for name in names:
            if found := self._by_name.get((place, name)):
                return found
        known = self._by_place.get(place) if place is not None else None
        if known is None or known.is_done or known.type not in ("", item.get("type")):
            return self._add(place, names)
        if begins and names and known.start:
            return self._add(place, names)
        return known

    def _add(self, place: int | None, names: tuple[str, ...]) -> Item:
        if len(self.all) >= MOST_ITEMS:
            raise BrokenAnswer(failure("bad_response", "the answer has too many items"))
        added = Item()
        self.all.append(added)
        for name in names:
            self._by_name[place, name] = added
        if place is not None:
            self._by_place[place] = added
        return added


def _place(event: dict[str, Any]) -> int | None:
    place = event.get("output_index")
    return place if isinstance(place, int) else None


def _names(item: dict[str, Any]) -> tuple[str, ...]:
    names = (item.get("id"), item.get("call_id"))
    return tuple(name for name in names if isinstance(name, str) and name)
