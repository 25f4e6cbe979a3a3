"""Pictures decoded and encoded for the browser; each file is read once.

Modules that need torch are imported inside functions.
"""

import base64
import io
from functools import lru_cache
from typing import TYPE_CHECKING

from models.request import File

if TYPE_CHECKING:
    from PIL.Image import Image

THUMBNAIL = 96  # pixels of the longer side


@lru_cache(maxsize=32)
def frames(file: File) -> int:
    """Number of frames; 1 for a file that cannot be read."""
    from models.image import frame_count

    try:
        return frame_count(file.data)
    except ValueError:
        return 1


@lru_cache(maxsize=64)
def thumbnail(file: File) -> str:
    """A thumbnail of the picture as a data URL."""
    from models.tracing import decoded

    small = decoded(file).image.convert("RGB")
    small.thumbnail((THUMBNAIL, THUMBNAIL))
    return f"data:image/png;base64,{base64.b64encode(encoded(small)).decode()}"


def encoded(image: "Image") -> bytes:
    """The picture as a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
