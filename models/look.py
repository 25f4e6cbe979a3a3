"""How a network wants its images: how large, how cut to shape, and on which scale of numbers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from models.patches import Sizes, check_patch, pair
from models.vit import ViTConfig

How = Literal["crop", "pad", "stretch"]


@dataclass(frozen=True)
class Look:
    """What is done to an image before a network reads it.

    Attributes:
        size: rows and columns of pixels.
        mean: per channel, taken away from values between 0 and 1.
        std: per channel, what the rest is divided by.
        how: "crop", "pad" or "stretch", where the image has another shape.
    """

    size: Sizes
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    how: How = "crop"


def look_of(config: ViTConfig) -> Look:
    """The size a network is built for, and values from -1 to 1."""
    return Look(pair(config.image))


def read_look(path: Path, config: ViTConfig) -> Look:
    """What a checkpoint's preprocessor_config.json says; without one, `look_of`.

    Raises:
        ValueError: for a file that cannot be read or asks for what is not known here.
    """
    file = path / "preprocessor_config.json"
    if not file.is_file():
        return look_of(config)
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"preprocessor_config.json: unreadable: {error}") from error
    if not isinstance(settings, dict):
        raise ValueError(f"preprocessor_config.json: expected an object, received {settings!r:.40}")
    size = _size(settings.get("size"), config)
    check_patch(size, config.patch)
    if settings.get("do_normalize") is False:
        return Look(size, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), "stretch")
    mean, std = (_three(settings, name) for name in ("image_mean", "image_std"))
    if min(std) <= 0:
        raise ValueError(f"image_std: expected numbers above 0, received {std}")
    return Look(size, mean, std, "stretch")


def _size(given: Any, config: ViTConfig) -> Sizes:
    if given is None:
        return pair(config.image)
    sides = (
        (given.get("height"), given.get("width")) if isinstance(given, Mapping) else (given, given)
    )
    rows, cols = sides
    if type(rows) is not int or type(cols) is not int or min(rows, cols) < 1:
        raise ValueError(f"size: expected a height and a width, received {given!r}")
    return rows, cols


def _three(settings: Mapping[str, Any], name: str) -> tuple[float, float, float]:
    values = settings.get(name, (0.5, 0.5, 0.5))
    numbers = isinstance(values, Sequence) and all(isinstance(v, int | float) for v in values)
    if not numbers or len(values) != 3:
        raise ValueError(f"{name}: expected three numbers, received {values!r}")
    return float(values[0]), float(values[1]), float(values[2])
