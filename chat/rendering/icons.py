"""Icons: each is a reference into the sprite that every page has (`templates/chat/icons.html`)."""

from django.utils.html import format_html
from django.utils.safestring import SafeString


def icon_html(name: str, classes: str = "") -> SafeString:
    """An icon of the page's sprite."""
    return format_html(
        '<svg class="icon{}" aria-hidden="true"><use href="#i-{}"/></svg>',
        f" {classes}" if classes else "",
        name,
    )
