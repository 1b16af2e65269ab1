"""The page that a share link leads to, and the links in the dialog of whoever shares."""

from dataclasses import dataclass
from typing import Any

from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from chat.protocol.messages import WithParts
from chat.rendering.page import times
from chat.rendering.page.dom import IDS
from chat.rendering.page.remembered import Remembering
from chat.rendering.reader import Reader


@dataclass(frozen=True, slots=True)
class SharedPage:
    title: str
    messages: tuple[WithParts, ...]
    live: bool
    created: int
    running: bool
    # Where earlier and later messages are, and where one goes on with it.
    earlier: str = ""
    later: str = ""
    copy: str = ""
    login: str = ""


@dataclass(frozen=True, slots=True)
class ShareEntry:
    """A link in the list of its owner."""

    id: str
    url: str
    facts: str


def shared_context(page: SharedPage, reader: Reader) -> dict[str, Any]:
    with reader.speaking():
        remembering = Remembering(reader)
        drawn = "".join(remembering.html(message) for message in page.messages)
        return {
            "page": page,
            "reader": reader,
            "ids": IDS,
            "when": times.moment(page.created, reader.now),
            # Each was drawn by `message_html`.
            "transcript": mark_safe(drawn),
        }


def share_entry(
    key: str,
    url: str,
    *,
    live: bool,
    thinking: bool,
    tools: bool,
    created: int,
    expires: int | None,
    reader: Reader,
) -> ShareEntry:
    """What a link shows, and for how long, in one line."""
    made = times.moment(created, reader.now).text
    pieces = [
        _("Live") if live else _("Snapshot"),
        _("made %(when)s") % {"when": made},
        "" if thinking else _("without thinking"),
        "" if tools else _("without tools"),
        _("until %(when)s") % {"when": times.moment(expires, reader.now).full}
        if expires
        else _("does not expire"),
    ]
    return ShareEntry(key, url, " · ".join(piece for piece in pieces if piece))


def expiry_choices() -> tuple[tuple[int, str], ...]:
    """For how many days a link may be made."""
    return (
        (0, _("Never")),
        (1, _("After 1 day")),
        (7, _("After 7 days")),
        (30, _("After 30 days")),
    )
