"""A conversation as one HTML file: to be kept, sent to somebody, printed. It asks nobody for
anything – styles and pictures are in it – and nothing in it can run."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from chat.protocol.messages import WithParts
from chat.rendering.page import times
from chat.rendering.page.messages import message_html
from chat.rendering.reader import Reader

# In the order in which a page has them; the last is only for files.
STYLES: Final = ("base", "layout", "message", "work", "markdown", "export")
_HERE: Final = "<!--messages-->"


def export_html(
    title: str, messages: Iterable[WithParts], queue: Iterable[WithParts], reader: Reader
) -> Iterator[str]:
    """The file, piece by piece; a message at a time is drawn."""
    # What only staff may read is not for a file that goes elsewhere.
    reader = replace(reader, may_act=False, is_staff=False, in_admin=False)
    with reader.speaking():
        head, tail = _around(title, reader)
    yield head
    for message in messages:
        yield message_html(message, reader)
    between = True
    for message in queue:
        if between:
            with reader.speaking():
                yield f'<p class="waiting">{_("Not sent yet")}</p>'
            between = False
        yield message_html(message, reader)
    yield tail


def _around(title: str, reader: Reader) -> tuple[str, str]:
    styles = _styles()
    digest = b64encode(sha256(styles.encode()).digest()).decode()
    values = {
        "reader": reader,
        "title": title,
        "when": times.moment(reader.now, reader.now),
        "styles": mark_safe(styles),
        "policy": f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "here": mark_safe(_HERE),
    }
    head, _here, tail = render_to_string("chat/export.html", values).partition(_HERE)
    return head, tail


@lru_cache(maxsize=1)
def _styles() -> str:
    """Our own style sheets, which contain nothing that would end the element they are put in."""
    found = (finders.find(f"css/{name}.css") for name in STYLES)
    return "\n".join(Path(path).read_text("utf-8") for path in found if path)
