"""How one kind of display is shown: what every row of the table of cards says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

# The line beside a tool's name is not longer.
MOST_GIST: Final = 160
# Where it is shown on this page what was read at an address, of pages that an answer has read.
PagesRead = Mapping[str, str]


class Result(NamedTuple):
    """What a card shows of a result: a template of `chat/cards/`, and what it is drawn from."""

    kind: str
    value: Any = None

    @property
    def template(self) -> str:
        return f"chat/cards/{self.kind}.html"


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of display is shown; an empty one has no result."""

    result: Callable[[Any], Result | None]
    icon: str = ""
    # The line beside the tool's name, where the display is better for it than the arguments.
    gist: Callable[[Any], str] | None = None
    # Whether the result contains the arguments, so that they are not shown a second time.
    has_arguments: bool = False
