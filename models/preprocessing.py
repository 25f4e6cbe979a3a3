"""Image preprocessing configs: size, resize mode, mean, std."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from models.files.errors import CheckpointError
from models.files.folder import Folder
from models.patches import Sizes, check_patch, pair
from models.vit import ViTConfig

FILE = "preprocessor_config.json"
ResizeMode = Literal["crop", "pad", "stretch"]


@dataclass(frozen=True)
class Preprocessing:
    """The preprocessing of images for a network.

    Attributes:
        size: rows and columns of pixels.
        mean: per channel, subtracted from values in [0, 1].
        std: per channel, divides the result.
        resize: "crop", "pad" or "stretch", where the image has another shape.
    """

    size: Sizes
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    resize: ResizeMode = "crop"


def default_preprocessing(config: ViTConfig) -> Preprocessing:
    """The configured size, and values in [-1, 1]."""
    return Preprocessing(pair(config.image))


def read_preprocessing(path: Path, config: ViTConfig) -> Preprocessing:
    """Preprocessing from a checkpoint's preprocessor_config.json, or the default without one.

    Raises:
        ValueError: for a file that cannot be read or has invalid settings.
    """
    file = path / FILE
    if not file.is_file():
        return default_preprocessing(config)
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{FILE}: unreadable: {error}") from error
    if not isinstance(settings, dict):
        raise ValueError(f"{FILE}: expected an object, received {settings!r:.40}")
    size = _size(settings.get("size"), config)
    check_patch(size, config.patch)
    return Preprocessing(size, *_mean_and_std(settings), "stretch")


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


def library_preprocessing(folder: Folder | None, config: Any) -> Preprocessing | None:
    """Preprocessing from preprocessor_config.json, else from the model config.

    Returns:
        None for a model that reads no images of a known size.

    Raises:
        CheckpointError: for a file that cannot be read or has invalid settings.
    """
    given = (folder.json(FILE) if folder is not None else None) or {}
    given = given.get("image_processor", given)
    if not isinstance(given, Mapping):
        raise CheckpointError(f"{FILE}: expected an object, received {given!r:.40}")
    built = _built_for(config)
    if built is None:
        return None
    crops = given.get("do_center_crop") is True or "shortest_edge" in _keys(given.get("size"))
    wanted = given.get("crop_size") if crops and given.get("crop_size") else given.get("size")
    size = built if wanted is None else _size_of(wanted)
    return Preprocessing(size, *_mean_and_std(given), "crop" if crops else "stretch")


def _built_for(config: Any) -> Sizes | None:
    for part in (config, getattr(config, "vision_config", None), getattr(config, "encoder", None)):
        size = getattr(part, "image_size", None)
        if isinstance(size, int | list | tuple) and hasattr(part, "patch_size"):
            return _size_of(size)
    return None


def patches_of(config: Any) -> int | None:
    """Number of patches of an image of the configured size."""
    size, patch = _built_for(config), getattr(config, "patch_size", None)
    if size is None or not isinstance(patch, int) or patch < 1:
        return None
    return (size[0] // patch) * (size[1] // patch)


def _keys(size: Any) -> tuple[str, ...]:
    return tuple(size) if isinstance(size, Mapping) else ()


def _size_of(given: Any) -> Sizes:
    """Rows and columns from a number, a pair, height and width, or the shortest edge."""
    sides = given
    if isinstance(given, Mapping):
        edge = given.get("shortest_edge", given.get("longest_edge"))
        sides = (given.get("height", edge), given.get("width", edge))
    elif isinstance(given, int):
        sides = (given, given)
    if not isinstance(sides, list | tuple) or len(sides) != 2:
        raise CheckpointError(f"{FILE}: size: expected a height and a width, received {given!r}")
    rows, cols = sides
    if type(rows) is not int or type(cols) is not int or not 1 <= min(sides) <= max(sides) < 10**5:
        raise CheckpointError(f"{FILE}: size: expected a height and a width, received {given!r}")
    return rows, cols


def _mean_and_std(
    settings: Mapping[str, Any],
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Mean and std per channel; 0 and 1 where the images are not normalised."""
    if settings.get("do_normalize") is False:
        return (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    mean, std = (_channels(settings, name) for name in ("image_mean", "image_std"))
    if min(std) <= 0:
        raise CheckpointError(f"{FILE}: image_std: expected numbers above 0, received {std}")
    return mean, std


def _channels(given: Mapping[str, Any], name: str) -> tuple[float, float, float]:
    values = given.get(name, (0.5, 0.5, 0.5))
    numbers = isinstance(values, list | tuple) and all(isinstance(v, int | float) for v in values)
    if not numbers or len(values) != 3:
        raise CheckpointError(f"{FILE}: {name}: expected three numbers, received {values!r}")
    return float(values[0]), float(values[1]), float(values[2])
