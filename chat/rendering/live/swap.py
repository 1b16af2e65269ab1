"""Fragments: HTML that says where on the page it belongs (out-of-band swaps of htmx)."""

import re

_TAG = re.compile(r"<[a-zA-Z0-9]+")


def append(element: str, html: str) -> str:
    """Add to the end of an element."""
    return f'<div hx-swap-oob="beforeend:#{element}">{html}</div>'


def prepend(element: str, html: str) -> str:
    """Add to the beginning of an element."""
    return f'<div hx-swap-oob="afterbegin:#{element}">{html}</div>'


def after(element: str, html: str) -> str:
    """Add behind an element."""
    return f'<div hx-swap-oob="afterend:#{element}">{html}</div>'


def replace(html: str) -> str:
    """Put an element in the place of the one that has its id."""
    start = _TAG.match(html)
    assert start is not None, "only an element can take an element's place"
    return f'{start[0]} hx-swap-oob="true"{html[start.end() :]}'


def inner(element: str, html: str) -> str:
    """Put other content into an element."""
    return f'<div hx-swap-oob="innerHTML:#{element}">{html}</div>'


def remove(element: str) -> str:
    return f'<div hx-swap-oob="delete:#{element}"></div>'


def cursor(part: str, length: int) -> str:
    """How much of a part's source the page shows after this frame, for its next `attach`."""
    return f"<!--{part}:{length}-->"


def closed(part: str) -> str:
    """A part that grows no more: the page shows it as it is, not so many characters of it."""
    return f"<!--{part}:-->"
