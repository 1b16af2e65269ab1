"""One's account: where one is logged in, in words."""

import re
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from chat.rendering.page.times import Moment, moment
from chat.rendering.reader import Reader

# The first that is found counts: each names itself after those it wants to be taken for.
_BROWSERS: Final = (
    ("Edge", r"Edg(?:e|A|iOS)?/"),
    ("Opera", r"OPR/|Opera"),
    ("Samsung Internet", r"SamsungBrowser/"),
    ("Vivaldi", r"Vivaldi/"),
    ("Firefox", r"Firefox/|FxiOS/"),
    ("Chrome", r"Chrome/|CriOS/|Chromium/"),
    ("Safari", r"Safari/"),
)
_SYSTEMS: Final = (
    ("iPhone", r"iPhone"),
    ("iPad", r"iPad"),
    ("Android", r"Android"),
    ("ChromeOS", r"CrOS"),
    ("Windows", r"Windows"),
    ("macOS", r"Macintosh|Mac OS X"),
    ("Linux", r"Linux|X11"),
)
# How programs say what they are: `curl/8.1.2`.
_PROGRAM: Final = re.compile(r"[\w.-]{1,30}(?=/\d|$)")


@dataclass(frozen=True, slots=True)
class LogInLine:
    """A browser in which somebody is logged in."""

    id: str
    where: str
    address: str
    seen: Moment
    is_this: bool


def log_in_line(
    key: str, agent: str, address: str, seen: int, *, is_this: bool, reader: Reader
) -> LogInLine:
    return LogInLine(key, agent_in_words(agent), address, moment(seen, reader.now), is_this)


def agent_in_words(agent: str) -> str:
    """Which browser on which system, by what it says about itself."""
    browser, system = _first(_BROWSERS, agent), _first(_SYSTEMS, agent)
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    program = _PROGRAM.match(agent)
    return browser or system or (program[0] if program else "") or _("Unknown browser")


def _first(known: tuple[tuple[str, str], ...], agent: str) -> str:
    return next((name for name, pattern in known if re.search(pattern, agent)), "")
