"""Pictures are sent and shown upright, small, and with nothing in them but pixels."""

import struct
import zlib
from io import BytesIO

import pytest
from PIL import Image

from chat.formats.pictures import LONGEST_SIDE, Picture, UnreadablePicture, prepare_picture
from tests.support.photos import SECRET, a_photo
from tests.support.sample_files import GIF, JPEG, PNG, WEBP


def opened(picture: Picture) -> Image.Image:
    image = Image.open(BytesIO(picture.data))
    image.load()
    return image


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_where_and_how_it_was_taken_stays_here(form: str) -> None:
    data = a_photo(form=form)
    assert SECRET.encode() in data
    picture = prepare_picture(data)
    assert SECRET.encode() not in picture.data
    image = opened(picture)
    assert not image.getexif()
    assert not {"exif", "comment", "xmp", "photoshop", "Description"} & set(image.info)


@pytest.mark.parametrize(
    ("turned", "size", "red"),
    [
        (1, (40, 20), (5, 10)),
        (3, (40, 20), (35, 10)),
        (6, (20, 40), (10, 5)),
        (8, (20, 40), (10, 35)),
    ],
)
def test_it_stands_upright(turned: int, size: tuple[int, int], red: tuple[int, int]) -> None:
    image = opened(prepare_picture(a_photo(turned=turned)))
    assert image.size == size
    pixel = image.convert("RGB").getpixel(red)
    assert isinstance(pixel, tuple)
    assert pixel[0] > 200
    assert pixel[2] < 60


def test_large_ones_are_made_smaller_and_small_ones_left() -> None:
    assert opened(prepare_picture(a_photo((4000, 1000)))).size == (LONGEST_SIDE, 392)
    assert opened(prepare_picture(a_photo((300, 100)))).size == (300, 100)


def test_what_is_transparent_stays_so_and_a_moving_picture_is_its_first_frame() -> None:
    buffer = BytesIO()
    Image.new("RGBA", (9, 9), (255, 0, 0, 0)).save(buffer, "PNG")
    assert opened(prepare_picture(buffer.getvalue())).getpixel((4, 4)) == (255, 0, 0, 0)
    frames = [Image.new("RGB", (9, 9), colour) for colour in ("red", "blue")]
    buffer = BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    picture = prepare_picture(buffer.getvalue())
    assert picture.mime == "image/png"
    assert opened(picture).convert("RGB").getpixel((4, 4)) == (255, 0, 0)


def test_a_large_png_is_sent_as_a_photo() -> None:
    noise = Image.effect_noise((1500, 1500), 100).convert("RGB")
    buffer = BytesIO()
    noise.save(buffer, "PNG", compress_level=1)
    picture = prepare_picture(buffer.getvalue())
    assert picture.mime == "image/jpeg"
    assert len(picture.data) < 2_500_000


def bomb(side: int) -> bytes:
    """A few bytes that say they are a picture of any size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1_000_000))
    return PNG[:8] + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"no picture", JPEG, WEBP, GIF[:10], PNG[:40], a_photo()[:200]),
        *(bomb(9_000), bomb(10_000), bomb(60_000), a_photo(form="PNG")[:60]),
    ],
)
def test_what_is_broken_or_a_bomb_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadablePicture):
        prepare_picture(data)
