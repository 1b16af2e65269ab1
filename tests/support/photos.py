"""Photos with all that a camera writes into them."""

from io import BytesIO

from PIL import Image

ORIENTATION, DESCRIPTION, GPS = 0x0112, 0x010E, 0x8825
SECRET = "Taken at the harbour"


def a_photo(size: tuple[int, int] = (40, 20), *, turned: int = 1, form: str = "JPEG") -> bytes:
    """Its left half is red, its right half blue; `turned` is how the camera was held."""
    image = Image.new("RGB", size, "red")
    image.paste("blue", (size[0] // 2, 0, *size))
    exif = Image.Exif()
    exif[ORIENTATION], exif[DESCRIPTION] = turned, SECRET
    exif.get_ifd(GPS)[2] = (52.0, 5.0, 27.0)
    buffer = BytesIO()
    more = {"comment": SECRET.encode()} if form == "JPEG" else {}
    image.save(buffer, form, exif=exif, **more)
    return buffer.getvalue()
