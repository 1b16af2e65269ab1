"""A link by itself, for places that show a value and no template."""

from django.utils.html import format_html
from django.utils.safestring import SafeString


def link_html(url: str, text: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', url, text)


def with_link(sentence: str, url: str, act: str) -> SafeString:
    """What is said, and where something can be done about it."""
    return format_html('{} <a href="{}">{}</a>', sentence, url, act)
