"""From what a search has found to what was read of it in the same answer."""

from collections.abc import Mapping

from chat.protocol.displays import PageDisplay, SearchDisplay
from chat.protocol.notes import state_notes
from chat.protocol.parts import Part, ToolPart
from chat.protocol.tool_state import ToolCompleted
from chat.rendering.page import dom
from chat.rendering.page.cards.form import PagesRead


def pages_read(parts: Mapping[int, Part], message: int) -> PagesRead:
    """The pages that were read in an answer; of one that was read in pieces, the first."""
    found: dict[str, str] = {}
    for position in sorted(parts):
        for url in addresses_of(parts[position]):
            found.setdefault(url, dom.page_id(dom.part_id(message, position)))
    return found


def addresses_of(part: Part) -> frozenset[str]:
    """Where the page that a card shows is: where it was looked for, and where it was."""
    if not isinstance(part, ToolPart) or _kind(part) != "page":
        return frozenset()
    display = state_notes(part.state).display
    asked = part.state.input.get("url")
    urls = (display.url if isinstance(display, PageDisplay) else "", asked)
    return frozenset(plain(url) for url in urls if url and isinstance(url, str))


def has_found(part: Part, urls: frozenset[str]) -> bool:
    """Whether it is a search that has found one of these."""
    if not isinstance(part, ToolPart) or _kind(part) != "search":
        return False
    display = state_notes(part.state).display
    return isinstance(display, SearchDisplay) and any(plain(h.url) in urls for h in display.hits)


def plain(url: str) -> str:
    """An address as it is compared: with or without a slash at its end it leads to the same."""
    # A model may name any address, also one that `urllib.parse` refuses.
    return url.partition("#")[0].rstrip("/")


def _kind(part: ToolPart) -> object:
    """What is shown of a call that is done; asked of every card, so nothing else is read."""
    state = part.state
    display = (state.metadata or {}).get("display") if isinstance(state, ToolCompleted) else None
    return display.get("type") if isinstance(display, Mapping) else None
