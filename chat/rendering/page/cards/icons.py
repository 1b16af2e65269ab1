"""The icon of a card."""

from functools import lru_cache
from typing import Final

from django.template.loader import get_template

from chat.rendering.page.cards.known_tools import ICONS, own_name
from chat.rendering.reader import Reader

NEUTRAL_ICON: Final = "nut"


def icon_of(tool: str, shown: str, reader: Reader) -> str:
    """The tool's own, then that of what it shows; a name nobody drew is the neutral one."""
    own = reader.names.icons.get(tool, NEUTRAL_ICON)
    if own != NEUTRAL_ICON and own in _drawn_icons():
        return own
    return shown or ICONS.get(own_name(tool), NEUTRAL_ICON)


@lru_cache(maxsize=1)
def _drawn_icons() -> frozenset[str]:
    """The names of the icons in the page's sprite."""
    sprite: str = get_template("chat/icons.html").render()
    return frozenset(piece.partition('"')[0] for piece in sprite.split('id="i-')[1:])
