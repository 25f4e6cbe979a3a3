"""Images from outside: what is opened and how, what is refused, and how it is fitted."""

import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from models.image import (
    Picture,
    fit_image,
    frame_count,
    open_image,
    to_pixels,
)
from models.inputs.video import Video, read_video
from models.run import load, trace
from models.vit import ViTConfig

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")


def saved(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def halves(mode: str = "RGB", left: Any = "red", right: Any = "blue") -> Image.Image:
    """Two colours side by side, 17 × 11."""
    image = Image.new(mode, (17, 11), right)
    image.paste(left, (0, 0, 8, 11))
    return image


def png_header(wide: int, high: int, depth: int = 8, kind: int = 2) -> bytes:
    """A PNG that claims a size, with next to nothing behind it."""
    header = struct.pack(">IIBBBBB", wide, high, depth, kind, 0, 0, 0)
    data = _chunk(b"IDAT", zlib.compress(bytes(100)))
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + data + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def webp_header(wide: int, high: int) -> bytes:
    sides = (wide - 1).to_bytes(3, "little") + (high - 1).to_bytes(3, "little")
    body = b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + sides
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format(kind: str, tmp_path: Path) -> None:
    data = saved(halves(), kind)
    picture = open_image(data)
    assert picture.image.mode == "RGB"
    assert picture.image.size == (17, 11)
    red, blue = picture.image.getpixel((2, 5)), picture.image.getpixel((14, 5))
    assert isinstance(red, tuple)
    assert isinstance(blue, tuple)
    assert min(red[0], blue[2]) > 240  # JPEG and WebP lose a little
    assert max(red[2], blue[0]) < 15
    assert picture.notes == ()
    path = tmp_path / "image.bin"
    path.write_bytes(data)
    assert open_image(path).image.tobytes() == picture.image.tobytes()


REFUSED: dict[str, tuple[bytes, str]] = {
    "zero bytes": (b"", r"the file is empty \(0 bytes\)"),
    "text": (b"hello, this is no image", "no image that can be read: expected PNG, JPEG"),
    "svg": (b"<?xml version='1.0'?><svg xmlns='x'/>", "an SVG is a drawing, not pixels"),
    "tiff": (saved(halves(), "TIFF"), "no image that can be read"),
    "1 × 1": (saved(Image.new("RGB", (1, 1))), "too small: .* received 1 × 1"),
    "20,000 wide": (saved(Image.new("1", (20_000, 2))), "too large: .* received 20000 × 2"),
    "many pixels": (png_header(8001, 8000), "too large: .* 64 million .* received 8001 × 8000"),
    "bomb": (png_header(60_000, 60_000), "the image is too large: expected at most 10,000"),
    "webp bomb": (webp_header(16_000, 16_000), "too large: .* received 16000 × 16000"),
    "a lie": (png_header(500, 500), "the PNG image is damaged or cut off"),
    "png signature": (b"\x89PNG\r\n\x1a\n", "image"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_in_one_line(name: str) -> None:
    data, message = REFUSED[name]
    with pytest.raises(ValueError, match=message) as caught:
        open_image(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.95])
def test_truncated(kind: str, share: float) -> None:
    noise = torch.randint(256, (41, 37, 3), generator=torch.Generator().manual_seed(1))
    whole = saved(Image.frombytes("RGB", (37, 41), bytes(noise.flatten().tolist())), kind)
    with pytest.raises(ValueError, match=r"damaged|no image that can be read") as caught:
        open_image(whole[: int(share * len(whole))])
    assert "\n" not in str(caught.value)


# --- large photos ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_photo_of_48_million_pixels_is_reduced_while_it_is_read(kind: str) -> None:
    photo = Image.new("RGB", (8_064, 6_048), "blue")
    photo.paste("red", (0, 0, 4_032, 6_048))
    picture = open_image(saved(photo, kind))
    assert picture.image.size == (4_032, 3_024)
    assert picture.notes == ("reduced to 4,032 × 3,024 pixels on opening",)
    red, blue = picture.image.getpixel((10, 1_500)), picture.image.getpixel((4_000, 1_500))
    assert isinstance(red, tuple)
    assert isinstance(blue, tuple)
    assert min(red[0], blue[2]) > 240  # JPEG loses a little
    assert max(red[2], blue[0]) < 15


# --- conversions, and that they are said ------------------------------------------------------


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = open_image(saved(halves(), "PNG", exif=exif))
    turned = orientation >= 5
    assert picture.image.size == ((11, 17) if turned else (17, 11))
    assert bool(picture.notes) is (orientation != 1)
    corner = picture.image.getpixel((0, 0))
    assert corner == ((0, 0, 255) if orientation in (2, 3, 7, 8) else (255, 0, 0))


def test_alpha_lies_on_white() -> None:
    picture = open_image(saved(halves("RGBA", (255, 0, 0, 255), (0, 0, 0, 51))))
    assert picture.image.getpixel((0, 0)) == (255, 0, 0)
    assert picture.image.getpixel((16, 0)) == (204, 204, 204)  # a fifth of black on white
    assert picture.notes == ("transparent parts laid on white",)
    assert open_image(saved(halves("RGBA"))).notes == ()


def test_sixteen_bits() -> None:
    grey = Image.new("I;16", (5, 3), 65_535)
    grey.paste(257 * 100, (0, 0, 2, 3))
    picture = open_image(saved(grey))
    assert picture.image.getpixel((4, 0)) == (255, 255, 255)
    assert picture.image.getpixel((0, 0)) == (100, 100, 100)
    assert picture.notes[0] == "16 bits a channel reduced to 8"
    raw = b"".join(b"\x00" + 4 * struct.pack(">3H", 65_535, 25_700, 0) for _ in range(3))
    whole = png_header(4, 3, depth=16).replace(
        png_header(4, 3, depth=16)[33:-12], _chunk(b"IDAT", zlib.compress(raw))
    )
    deep = open_image(whole)
    assert deep.image.getpixel((1, 1)) == (255, 100, 0)
    assert deep.notes == ("16 bits a channel reduced to 8",)


def test_cmyk_palette_grey() -> None:
    cmyk = open_image(saved(Image.new("CMYK", (5, 3), (0, 255, 255, 0)), "JPEG"))
    red = cmyk.image.getpixel((2, 1))
    assert isinstance(red, tuple)
    assert red[0] > 240
    assert max(red[1:]) < 15
    assert open_image(saved(halves().convert("P"))).image.tobytes() == halves().tobytes()
    grey = halves().convert("L")
    assert open_image(saved(grey)).image.tobytes() == grey.convert("RGB").tobytes()


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_frames_are_whole_pictures(kind: str) -> None:
    """Also where a file holds only what changes from frame to frame."""
    frames = [halves(), halves(left="lime"), halves(left="white")]
    data = saved(frames[0], kind, save_all=True, append_images=frames[1:], duration=100)
    assert frame_count(data) == 3
    shown = read_video(Video(data)).frames
    for image, left in zip(shown, ((255, 0, 0), (0, 255, 0), (255, 255, 255)), strict=True):
        for place, expected in (((2, 5), left), ((14, 5), (0, 0, 255))):
            colours = zip(image.getpixel(place), expected, strict=True)
            assert max(abs(a - b) for a, b in colours) < 30  # WebP


def test_frames_of_other_files() -> None:
    assert frame_count(saved(halves(), "JPEG")) == frame_count(saved(halves())) == 1
    with pytest.raises(ValueError, match="no image that can be read"):
        frame_count(b"nothing")


# --- fitting ----------------------------------------------------------------------------------


def test_fitting() -> None:
    picture = Picture(halves())
    assert fit_image(picture, 11, 17) == (picture.image, "")
    crop, note = fit_image(picture, 11, 11)
    assert crop.getpixel((0, 5)) == (255, 0, 0)
    assert crop.getpixel((10, 5)) == (0, 0, 255)
    assert note == "from 17 × 11 pixels: its middle, scaled to 11 × 11"
    assert fit_image(picture, 22, 34)[1] == "scaled from 17 × 11 pixels to 34 × 22"


def test_pixels_by_hand() -> None:
    image = Image.new("RGB", (3, 2), (255, 0, 51))
    image.putpixel((2, 1), (0, 255, 102))
    pixels = to_pixels(image)
    assert pixels.shape == (1, 3, 2, 3)
    assert pixels[0, :, 0, 0].tolist() == pytest.approx([1, -1, -0.6])
    assert pixels[0, :, 1, 2].tolist() == pytest.approx([-1, 1, -0.2])


# --- traced -----------------------------------------------------------------------------------


def test_a_picture_is_traced(tmp_path: Path) -> None:
    model = load(ViTConfig(image=(12, 20), patch=4, registers=2))
    found = trace(model, halves())
    assert not found.trained
    assert found.grid == (3, 5)
    assert found.prefix == 3
    assert found.labels[:5] == ["class", "register 0", "register 1", "patch 0,0", "patch 0,1"]
    assert found.labels[-1] == "patch 2,4"
    assert found.tokens[0].special == (True,) * 3 + (False,) * 15
    assert found.notes == ("from 17 × 11 pixels: its middle, scaled to 20 × 12",)
    assert found.weights(1, 2).shape == (18, 18)
    assert (found.weights(1).sum(-1) - 1).abs().max() < 1e-6
    halves().save(tmp_path / "two.png")
    for source in (tmp_path / "two.png", str(tmp_path / "two.png")):
        assert trace(model, source).output.values.equal(found.output.values)


def test_pixels_of_any_size_are_traced() -> None:
    model = load(ViTConfig(image=12, patch=4, positions="sincos2d", head="mean"))
    pixels = torch.randn(2, 3, 8, 20, generator=torch.Generator().manual_seed(3))
    found = trace(model, pixels)
    assert (found.grid, found.prefix, len(found.tokens)) == ((2, 5), 0, 2)
    assert found.notes == ("positions worked out anew: from 3 × 3 to 2 × 5 patches",)
    assert found.output.values.shape == (2, 10)
    single = trace(model, pixels[1:]).output.values[0]
    assert (found.output.values[1] - single).abs().max() < 1e-5


def test_what_a_vit_cannot_read() -> None:
    model = load(ViTConfig())
    for wrong in (torch.zeros(3, 64, 64), torch.zeros(1, 3, 64, 64, dtype=torch.long)):
        with pytest.raises(ValueError, match="reads pixels: expected floats, batch channel row"):
            trace(model, wrong)
    with pytest.raises(ValueError, match="the picture is smaller than a patch"):
        trace(model, torch.zeros(1, 3, 7, 64))
    with pytest.raises(ValueError, match="there is none"):
        trace(model, "a text")
