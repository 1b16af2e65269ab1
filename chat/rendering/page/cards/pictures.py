"""Pictures in a page: of a message, or of what a tool returned."""

from typing import NamedTuple

from chat.protocol.files import IMAGES, own_id
from chat.protocol.parts import FilePart

# Pictures in an address that a browser draws and runs nothing in.
_INLINE = tuple(f"data:{mime};" for mime in IMAGES)


class ShownPicture(NamedTuple):
    """A picture in a page: the file that its link leads to, if it is one, and what is looked at."""

    url: str
    shown: str
    name: str


def shown_picture(file: FilePart) -> ShownPicture | None:
    """A picture of ours, or one that is in the address itself; nothing else is loaded."""
    own = file.url.startswith("/") and not file.url.startswith(("//", "/\\"))
    inline = file.url.startswith(_INLINE)
    if not file.mime.startswith("image/") or not (own or inline):
        return None
    # As it is looked at; the link leads to the file itself.
    shown = f"{file.url}?shown" if own_id(file.url) else file.url
    return ShownPicture(file.url if own else "", shown, file.filename or file.mime)
