"""Images from outside: opened safely, resized, and normalised.

A file's header is checked before a single pixel is decoded; whatever is changed in the picture on
the way stands in its notes.
"""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
NAMES = "PNG, JPEG, WebP, GIF or BMP"
MAX_PIXELS = 64_000_000  # of a file; phones take 48 million
KEPT_PIXELS = 25_000_000  # of the decoded image: more are averaged while the file is read
MAX_SIDE = 10_000
MIN_SIDE = 2
ANIMATED = ("GIF", "WEBP", "PNG")
MAX_FRAMES = 1000
ORIENTATION = 0x0112  # EXIF: 1 is upright
DEEP = ("I", "F")  # modes of more than 8 bits start like this


@dataclass(frozen=True, eq=False)
class Picture:
    """An image as it will be used.

    Attributes:
        image: RGB, 8 bits, upright.
        notes: what was done to the original, one phrase each.
    """

    image: Image.Image
    notes: tuple[str, ...] = ()


def open_image(source: bytes | Path | Image.Image | np.ndarray) -> Picture:
    """Opens a PNG, JPEG, WebP, GIF or BMP (the first frame), as upright 8-bit RGB.

    An array is its pixels, uint8 "row col 3" or "row col".

    A picture of more than `KEPT_PIXELS` is reduced to half its size along each side.

    Raises:
        ValueError: in one line, for anything that is not such an image or is too large or small.
    """
    if isinstance(source, np.ndarray):
        source = Image.fromarray(source)
    if isinstance(source, Image.Image):
        _check_size(*source.size)
        return _upright(source)
    if isinstance(source, Path):
        if not source.is_file():
            raise ValueError(f"expected an image file, received {source.name}: there is none")
        source = source.read_bytes()
    opened = _by_header(source)
    try:
        if opened.format in ("JPEG", "MPO") and _is_large(opened):
            opened.draft(None, (opened.width // 2, opened.height // 2))  # never holds all of it
            return _upright(opened, reduced=True)
        return _upright(opened)
    except Exception as error:  # a damaged file can make a decoder raise anything
        raise ValueError(
            f"the {opened.format} image is damaged or cut off: it could not be decoded"
        ) from error


def is_pixels(source: object) -> bool:
    """Whether an array holds the levels of a picture: uint8, "row col 3" or "row col"."""
    if not isinstance(source, np.ndarray) or source.dtype != np.uint8:
        return False
    return source.ndim == 2 or (source.ndim == 3 and source.shape[2] == 3)


def frame_count(source: bytes) -> int:
    """Number of frames of a GIF, WebP or PNG, at most `MAX_FRAMES`; 1 for any other picture.

    Raises:
        ValueError: as `open_image`.
    """
    opened = _by_header(source)
    if opened.format not in ANIMATED:
        return 1
    try:
        return min(getattr(opened, "n_frames", 1), MAX_FRAMES)
    except Exception as error:  # a damaged frame can make a decoder raise anything
        raise ValueError(f"the {opened.format} image is damaged or cut off") from error


def fit_image(picture: Picture, rows: int, cols: int) -> tuple[Image.Image, str]:
    """The middle of a picture, scaled to another size.

    Returns:
        The image, and a phrase that says what was done (empty if nothing was).
    """
    image, (wide, high) = picture.image, picture.image.size
    if (wide, high) == (cols, rows):
        return image, ""
    said, size = f"from {wide} × {high} pixels", f"{cols} × {rows}"
    same = wide * rows == high * cols
    said = f"scaled {said} to {size}" if same else f"{said}: its middle, scaled to {size}"
    return ImageOps.fit(image, (cols, rows), Image.Resampling.BILINEAR), said


def to_pixels(image: Image.Image) -> Float[Tensor, "1 channel row col"]:
    """The numbers that a network made here reads: levels from −1 to 1."""
    levels = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)[None]
    return levels.contiguous().float() / 127.5 - 1


def _by_header(data: bytes) -> Image.Image:
    """The image, not yet decoded; refuses what its header already gives away."""
    if not data:
        raise ValueError("the file is empty (0 bytes): expected an image")
    if b"<svg" in data[:1000].lower():
        raise ValueError(f"an SVG is a drawing, not pixels: expected {NAMES}")
    _check_webp(data)
    try:
        opened = Image.open(BytesIO(data), formats=FORMATS)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError(f"the image is too large: expected at most {_limit()}") from error
    except UnidentifiedImageError as error:
        raise ValueError(f"this is no image that can be read: expected {NAMES}") from error
    except Exception as error:  # a damaged header can make a decoder raise anything
        raise ValueError(f"the image is damaged: expected a whole {NAMES}") from error
    _check_size(*opened.size)
    return opened


def _check_webp(data: bytes) -> None:
    """Pillow makes room for a whole WebP before its size can be asked for: read it here."""
    if data[:4] != b"RIFF" or data[8:16] != b"WEBPVP8X" or len(data) < 30:
        return
    wide, high = (1 + int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
    _check_size(wide, high)


def _check_size(wide: int, high: int) -> None:
    if min(wide, high) < MIN_SIDE:
        raise ValueError(
            f"the image is too small: expected at least {MIN_SIDE} × {MIN_SIDE} pixels,"
            f" received {wide} × {high}"
        )
    if max(wide, high) > MAX_SIDE or wide * high > MAX_PIXELS:
        raise ValueError(
            f"the image is too large: expected at most {_limit()}, received {wide} × {high}"
        )


def _limit() -> str:
    return f"{MAX_SIDE:,} pixels a side and {MAX_PIXELS // 1_000_000} million in all"


def _is_large(image: Image.Image) -> bool:
    return image.width * image.height > KEPT_PIXELS


def _upright(image: Image.Image, *, reduced: bool = False) -> Picture:
    """The first frame as upright 8-bit RGB."""
    notes: list[str] = []
    if getattr(image, "is_animated", False) and image.format != "MPO":
        notes.append("animated: its first frame")
    if image.mode.startswith(DEEP) or ";16" in str(getattr(image, "tile", "")):
        notes.append("16 bits a channel reduced to 8")  # which decoding forgets
    image.load()
    if image.getexif().get(ORIENTATION, 1) in range(2, 9):
        image = ImageOps.exif_transpose(image)
        notes.append("turned upright, as its EXIF orientation says")
    if image.mode.startswith(DEEP):  # grey levels from 0 to 65,535
        image = image.convert("I").point(lambda level: level * (1 / 257)).convert("L")
    if image.has_transparency_data:
        image, opaque = image.convert("RGBA"), Image.new("RGBA", image.size, "white")
        if image.getchannel("A").getextrema() != (255, 255):
            notes.append("transparent parts laid on white")
        image = Image.alpha_composite(opaque, image)
    image = image.convert("RGB")
    if _is_large(image):
        image, reduced = image.reduce(2), True
    if reduced:
        notes.append(f"reduced to {image.width:,} × {image.height:,} pixels on opening")
    return Picture(image, tuple(notes))
