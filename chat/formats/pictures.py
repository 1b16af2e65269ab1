"""A picture as it is sent and shown: upright, not larger than is looked at, and nothing else in it.

A photo says where and with what it was taken, and may lie on its side. What is made here has the
pixels alone; the file that somebody uploaded is kept as it is.
"""

from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from PIL.Image import Image

# The longest side. Providers make larger ones smaller themselves, after they were sent.
LONGEST_SIDE: Final = 1568
# A small file can say that it has any number of pixels; a good camera makes 50 million.
MOST_PIXELS: Final = 80_000_000
# A PNG that is larger than this is a photo, and is sent as one.
LARGEST_PNG: Final = 2_500_000
_FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")


class UnreadablePicture(Exception):
    """Broken, or with more pixels than we take apart."""


@dataclass(frozen=True, slots=True)
class Picture:
    mime: str
    data: bytes = field(repr=False)


def prepare_picture(data: bytes) -> Picture:
    """The first frame of a PNG, JPEG, WebP or GIF, as a PNG or JPEG; takes a while."""
    # Imported late: an installation without pictures never needs it.
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(BytesIO(data), formats=_FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise UnreadablePicture("it has too many pixels")
            # A photo is read as small as it is needed, which takes a fraction of the memory.
            image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
            upright = ImageOps.exif_transpose(image)
            upright.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            return _encoded(upright, photo=image.format == "JPEG")
    except (UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise UnreadablePicture("it is no picture") from error
    # What a broken file raises depends on where it is broken.
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError, OverflowError) as error:
        raise UnreadablePicture("it is broken") from error


def _encoded(image: "Image", *, photo: bool) -> Picture:
    transparent = "A" in image.getbands() or "transparency" in image.info
    # Comments, places and thumbnails are in here; colours would be wrong without their profile.
    image.info = {key: image.info[key] for key in ("icc_profile",) if key in image.info}
    if not photo:
        kept = image.convert("RGBA" if transparent else "RGB")
        if len(png := _saved(kept, "PNG", optimize=False)) <= LARGEST_PNG:
            return Picture("image/png", png)
        image = kept
    return Picture("image/jpeg", _saved(_on_white(image), "JPEG", quality=88))


def _on_white(image: "Image") -> "Image":
    from PIL import Image

    if "A" not in image.getbands():
        return image.convert("RGB")
    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def _saved(image: "Image", form: str, **options: object) -> bytes:
    buffer = BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()
