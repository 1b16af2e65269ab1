"""Who asks: the first argument of every verb."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """A person, the tab they ask from, and an id that makes asking twice harmless.

    `head` is the position of the last message the tab shows: when another one is last by now,
    the tab is behind, and what it asks for may not be what its person means.
    """

    user_id: int
    name: str = ""
    tab_id: str = ""
    client_id: str = ""
    head: int | None = None
