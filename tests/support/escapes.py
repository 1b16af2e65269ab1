"""What a page must not have, whatever text went into it: read as a browser reads HTML."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import html5lib

# What a browser fetches, sends to or runs without a click, on whichever element.
ADDRESSES = {
    *("src", "srcset", "poster", "data", "background", "action", "formaction", "ping", "cite"),
    *("longdesc", "lowsrc", "dynsrc", "codebase", "manifest", "icon", "profile", "usemap"),
}
# Elements that fetch by their `href` alone.
FETCHING = {"link", "image", "use", "feImage", "base"}
NEVER = {"base", "object", "embed", "iframe", "frame", "frameset", "applet", "portal", "marquee"}
_SCRIPT = re.compile(r"(?:javascript|vbscript|livescript|mocha):", re.IGNORECASE)
_HIDDEN = re.compile(r"[\s\x00-\x20]+")
HTMX = re.compile(r"(?:data-)?(?:hx|ws|sse)-")
# Drawn of shapes, and with nothing else in it: whatever is told apart from these is looked at.
_ICON = re.compile(
    r"""<svg(?:\s(?:class|viewBox|aria-hidden)="[\w\s-]*")*>
        (?:\s*(?:</symbol>|</g>
            |<(?:symbol|g|path|circle|rect|line|ellipse|polyline|polygon)
                (?:\s+(?!on)[a-zA-Z]+(?:-[a-z]+|\d)?="[\w\s.,#-]*")*\s*/?>
            |<use\shref="\#i-[\w-]+"\s*/>))*\s*</svg>""",
    re.VERBOSE,
)


def read(page: str) -> Any:
    """Without the hundreds of icons of a page, which take the longest to read."""
    return html5lib.parse(_ICON.sub("", page), namespaceHTMLElements=False)


def escapes(tree: Any) -> Iterator[str]:
    """Every script, handler, foreign address and foreign command of htmx on a page."""
    for element in tree.iter():
        if isinstance(element.tag, str):
            tag = element.tag.rpartition("}")[2]
            yield from _of_element(tag, element)
            for name, value in element.attrib.items():
                yield from _of_attribute(tag, str(name).rpartition("}")[2], value)


def commands(tree: Any) -> set[tuple[str, str]]:
    """What htmx is told on a page."""
    return {
        (str(name), value)
        for element in tree.iter()
        for name, value in element.attrib.items()
        if HTMX.match(str(name))
    }


def _of_element(tag: str, element: Any) -> Iterator[str]:
    if tag in NEVER:
        yield f"<{tag}>"
    if tag == "script":
        data = element.get("type") in ("application/json", "text/template")
        # Ours, and the texts of Django's own scripts.
        source = element.get("src") or ""
        if not data and not source.startswith(("/static/", "/admin/jsi18n/")):
            yield f"<script src={source!r}>{(element.text or '')[:80]}"
    refreshes = tag == "meta" and (element.get("http-equiv") or "").lower() == "refresh"
    # A page without scripts comes back to itself: a number, and no address.
    if refreshes and "url" in (element.get("content") or "").lower():
        yield "<meta http-equiv=refresh>"


def _of_attribute(tag: str, name: str, value: str) -> Iterator[str]:
    plain = _HIDDEN.sub("", value)
    if name.startswith("on") or (HTMX.match(name) and name.partition("-")[2].startswith("on")):
        yield f"<{tag} {name}={value[:80]!r}>"
    if name in ("href", *ADDRESSES) and _SCRIPT.match(plain):
        yield f"<{tag} {name}={value[:80]!r}>"
    if name in ADDRESSES or (name == "href" and tag in FETCHING):
        for address in value.split(",") if name == "srcset" else [value]:
            yield from _foreign(tag, name, address.strip())
    if name == "style" and re.search(r"url\s*\(|expression|@import", value, re.IGNORECASE):
        yield f"<{tag} style={value[:80]!r}>"


def _foreign(tag: str, name: str, address: str) -> Iterator[str]:
    try:
        parts = urlsplit(address.replace("\\", "/"))
    except ValueError:
        yield f"<{tag} {name}={address[:80]!r}>"
        return
    if parts.netloc or parts.scheme not in ("", "data"):
        yield f"<{tag} {name}={address[:80]!r}>"
    if parts.scheme == "data" and not parts.path.startswith("image/"):
        yield f"<{tag} {name}={address[:80]!r}>"
