"""What must hold of every HTML page, wherever it comes from."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.http import HttpResponse
from lxml import html  # type: ignore[import-untyped]

# What a browser fetches by itself, before anybody clicks.
FETCHED = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "object": ("data",),
    "embed": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "use": ("href",),
}


def faults_of(page: str) -> Iterator[str]:
    """What a strict content security policy would refuse, or what calls a foreign host."""
    for element in html.fromstring(page).iter():
        if not isinstance(element.tag, str):
            continue
        yield from _inline(element)
        for name in FETCHED.get(element.tag, ()):
            url = urlsplit(element.get(name, ""))
            if url.netloc or url.scheme not in ("", "data"):
                yield f"<{element.tag} {name}={element.get(name)}> is foreign"


def _inline(element: html.HtmlElement) -> Iterator[str]:
    data = element.get("type", "") in ("application/json", "text/template")
    if element.tag == "script" and not element.get("src") and not data:
        yield "an inline <script>"
    if element.tag == "style" and not element.get("nonce"):
        yield "an inline <style>"
    for name, value in element.attrib.items():
        if name.startswith(("on", "hx-on")) or name == "style":
            yield f"<{element.tag} {name}={value!r}>"
        if re.match(r"\s*javascript:", value, re.IGNORECASE):
            yield f"<{element.tag} {name}={value!r}>"


def is_page(response: HttpResponse) -> bool:
    return response.get("Content-Type", "").startswith("text/html") and bool(response.content)
