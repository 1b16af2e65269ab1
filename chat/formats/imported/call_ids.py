"""Which result belongs to which call, where servers count their calls anew in every answer, or do
not name them at all."""

from collections import defaultdict, deque
from dataclasses import dataclass, field

# The column that holds them ends here.
LONGEST = 200
NAMELESS = "call"


@dataclass(slots=True, eq=False)
class _Call:
    """A call under the id that it has here; `wanted` is the id that it came with."""

    id: str
    wanted: str
    name: str
    is_open: bool = True


@dataclass(slots=True)
class _Waiting:
    """Open calls, the oldest first, to be found by their id, by their name, or in order."""

    _by_id: defaultdict[str, deque[_Call]] = field(default_factory=lambda: defaultdict(deque))
    _by_name: defaultdict[str, deque[_Call]] = field(default_factory=lambda: defaultdict(deque))
    _all: deque[_Call] = field(default_factory=deque)

    def add(self, call: _Call) -> None:
        for waiting in (self._by_id[call.wanted], self._by_name[call.name], self._all):
            waiting.append(call)

    def with_id(self, call_id: str) -> _Call | None:
        return _first_open(self._by_id.get(call_id))

    def named(self, name: str) -> _Call | None:
        return _first_open(self._by_name.get(name))

    def oldest(self) -> _Call | None:
        return _first_open(self._all)

    def take_over(self, other: "_Waiting") -> None:
        for call in other._all:
            if call.is_open:
                self.add(call)


def _first_open(calls: deque[_Call] | None) -> _Call | None:
    while calls and not calls[0].is_open:
        calls.popleft()
    return calls[0] if calls else None


class CallIds:
    """Gives every call of a conversation an id of its own. The same file gives the same ids, so
    that a conversation which has grown is known again."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last_number: defaultdict[str, int] = defaultdict(int)
        self._now = _Waiting()
        self._earlier = _Waiting()

    def new_turn(self) -> None:
        """Calls that nobody has answered by now are those that a result is looked for last: their
        ids may be in use again."""
        self._earlier.take_over(self._now)
        self._now = _Waiting()

    def called(self, wanted: str, name: str) -> str:
        """The id of a call that came with this one, or with none."""
        call_id = self._own(wanted)
        self._now.add(_Call(call_id, wanted, name))
        return call_id

    def returned(self, wanted: str, name: str) -> str:
        """The id of the call whose result it is: the oldest open one of that id, else of that
        name; without an id, else the oldest of all. A result without a call has an id of its own.
        """
        call = self._open_call(wanted, name)
        if call is not None:
            call.is_open = False
            return call.id
        # Of an id that is known it is a second result.
        return wanted if wanted in self._taken else self._own(wanted)

    def _open_call(self, wanted: str, name: str) -> _Call | None:
        for waiting in (self._now, self._earlier):
            if wanted and (call := waiting.with_id(wanted)):
                return call
        if wanted in self._taken:
            return None
        for waiting in (self._now, self._earlier):
            if name and (call := waiting.named(name)):
                return call
        return None if wanted else self._now.oldest() or self._earlier.oldest()

    def _own(self, wanted: str) -> str:
        made = wanted
        base = wanted if 0 < len(wanted) <= LONGEST - 20 else NAMELESS
        while not made or len(made) > LONGEST or made in self._taken:
            self._last_number[base] += 1
            made = f"{base}-{self._last_number[base]}"
        self._taken.add(made)
        return made
