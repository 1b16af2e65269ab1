"""Template tags: thin, the work is done in chat/rendering."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str, classes: str = "") -> SafeString:
    """An icon of the page's sprite."""
    return format_html(
        '<svg class="icon{}" aria-hidden="true"><use href="#i-{}"/></svg>',
        f" {classes}" if classes else "",
        name,
    )
