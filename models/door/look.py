"""How a library's model wants its images, read from its files without its image processors."""

from collections.abc import Mapping
from typing import Any

from models.catalogue import CheckpointError
from models.look import Look
from models.safe import Folder

FILE = "preprocessor_config.json"
Sizes = tuple[int, int]


def look_in(folder: Folder | None, config: Any) -> Look | None:
    """Size, mean and spread from preprocessor_config.json, else from the config.

    Returns:
        None for a model that reads no images of a known size.

    Raises:
        CheckpointError: for a file that is broken or asks for what makes no sense.
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
    size = built if wanted is None else _size(wanted)
    if given.get("do_normalize") is False:
        return Look(size, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), "crop" if crops else "stretch")
    mean, std = (_three(given, name) for name in ("image_mean", "image_std"))
    if min(std) <= 0:
        raise CheckpointError(f"{FILE}: image_std: expected numbers above 0, received {std}")
    return Look(size, mean, std, "crop" if crops else "stretch")


def _built_for(config: Any) -> Sizes | None:
    for part in (config, getattr(config, "vision_config", None), getattr(config, "encoder", None)):
        size = getattr(part, "image_size", None)
        if isinstance(size, int | list | tuple) and hasattr(part, "patch_size"):
            return _size(size)
    return None


def patches_of(config: Any) -> int | None:
    """How many patches an image of the size the network is built for has."""
    size, patch = _built_for(config), getattr(config, "patch_size", None)
    if size is None or not isinstance(patch, int) or patch < 1:
        return None
    return (size[0] // patch) * (size[1] // patch)


def _keys(size: Any) -> tuple[str, ...]:
    return tuple(size) if isinstance(size, Mapping) else ()


def _size(given: Any) -> Sizes:
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


def _three(given: Mapping[str, Any], name: str) -> tuple[float, float, float]:
    values = given.get(name, (0.5, 0.5, 0.5))
    numbers = isinstance(values, list | tuple) and all(isinstance(v, int | float) for v in values)
    if not numbers or len(values) != 3:
        raise CheckpointError(f"{FILE}: {name}: expected three numbers, received {values!r}")
    return float(values[0]), float(values[1]), float(values[2])
