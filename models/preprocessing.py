"""Preprocessing of images and sound: the settings of a model's own processor, and what they say.

Images are prepared by the image processor that transformers makes of the settings. A checkpoint
that states none gets what is usual in its family, as settings of the same form. Networks that are
made here need no processor: Pillow scales the middle of a picture to their size.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from models.files.errors import CheckpointError
from models.files.folder import Folder
from models.vit import Sizes, ViTConfig, pair

FILE, NESTED = "preprocessor_config.json", "processor_config.json"
MOST_PIXELS = 10_000  # a side
SIZES = ("size", "crop_size")  # settings in pixels
CODE = ("auto_map", "custom_pipelines", "processor_class")  # settings that name code
UNSTATED = "the model states no image preprocessing"
HALF = (0.5, 0.5, 0.5)  # mean and deviation of levels from −1 to 1
UNKNOWN = {"image_mean": HALF, "image_std": HALF, "resample": 2}
USUAL: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
CROPPED = 224  # pixels for which the table states edges
PART = "_vision_model"  # model types of vision towers alone end with it


@dataclass(frozen=True)
class ProcessorSettings:
    """What transformers makes a model's own image processor or feature extractor of.

    Attributes:
        json: the settings of preprocessor_config.json, without those that name code.
        family: the model type, where the settings name no class.
    """

    json: str
    family: str


@dataclass(frozen=True)
class Preprocessing:
    """The preprocessing of images for a network.

    Attributes:
        size: rows and columns of pixels; None where the model's processor decides.
        processor: settings of the image processor; None where Pillow resizes.
        scale: factor of the sizes that the processor resizes and crops to.
        notes: for display, on every image.
        stated: whether the checkpoint states it, or its network was made here.
    """

    size: Sizes | None
    processor: ProcessorSettings | None = None
    scale: float = 1.0
    notes: tuple[str, ...] = ()
    stated: bool = True

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the image processor; empty where Pillow resizes."""
        return {} if self.processor is None else json.loads(self.processor.json)


def default_preprocessing(config: ViTConfig) -> Preprocessing:
    """The configured size, and levels from −1 to 1."""
    return Preprocessing(pair(config.image))


def usual_preprocessing(families: Sequence[str], size: Sizes) -> Preprocessing:
    """The preprocessing assumed for a model that states none: that of the first known family."""
    known = next((USUAL[each] for each in families if each in USUAL), None)
    stated = known or UNKNOWN
    edge = round(min(size) * (stated.get("edge", 0) / CROPPED))
    sides = {"height": size[0], "width": size[1]}
    square = stated.get("square", False)
    before = {"height": edge, "width": edge} if square else {"shortest_edge": edge}
    settings = {
        "image_processor_type": "CLIPImageProcessorPil",
        "size": before if edge else sides,
        "do_center_crop": edge > 0,
        "crop_size": sides,
        **{name: stated[name] for name in UNKNOWN},
    }
    levels = ", ".join(
        f"{name} {' '.join(f'{value:.3g}' for value in stated[f'image_{name}'])}"
        for name in ("mean", "std")
    )
    note = f"{UNSTATED}: levels scaled to −1 to 1"
    if known:
        note = f"{UNSTATED}: what is usual for {known['title']} is assumed, {levels}"
    processor = _processor_settings(settings, "")
    return Preprocessing(size, processor, notes=(note,), stated=False)


def read_preprocessing(folder: Folder | None, config: Any) -> Preprocessing | None:
    """The preprocessing that a checkpoint states, else what is usual for its config.

    Args:
        folder: of the checkpoint; None for a network in memory.
        config: of transformers, or one with its names.

    Returns:
        None for a model that reads no images of a known size.

    Raises:
        CheckpointError: for a file that cannot be read or has invalid settings.
    """
    given, built = _settings(folder, "image_processor"), built_for(config)
    if not given:
        return None if built is None else usual_preprocessing(_families(config), built)
    if built is None and not {"image_processor_type", "image_mean", "do_resize"} & set(given):
        return None
    _check_sides(given)
    _check_means(given)
    crops = given.get("do_center_crop") is True or _keys(given.get("size")) == {"shortest_edge"}
    size = (crops and given.get("crop_size")) or given.get("size")
    sides = isinstance(size, int | list | tuple) or {"height", "width"} <= _keys(size)
    known = size is not None and (built is not None or sides)
    stated = _sides(size) if known else built
    return Preprocessing(stated, _processor_settings(given, config.model_type))


def read_sound(folder: Folder | None, config: Any) -> ProcessorSettings | None:
    """The settings of a checkpoint's feature extractor; None if it states none of sound.

    Raises:
        CheckpointError: for a file that cannot be read.
    """
    given = _settings(folder, "feature_extractor")
    if not {"feature_extractor_type", "sampling_rate"} & set(given):
        return None
    return _processor_settings(given, config.model_type)


def changed(preprocessing: Preprocessing, *, size: int | None = None) -> Preprocessing:
    """Pictures of another size than a checkpoint states.

    Args:
        preprocessing: of the checkpoint.
        size: pixels of the shorter side; None leaves it as it is.

    Raises:
        ValueError: for a size that no image can have, or a model whose processor decides it.
    """
    if size is None:
        return preprocessing
    if preprocessing.size is None:
        raise ValueError("the model's image processor decides the size: it cannot be changed here")
    if not 1 <= size <= MOST_PIXELS:
        raise ValueError(f"size: expected 1 to {MOST_PIXELS} pixels, received {size}")
    factor = size / min(preprocessing.size)
    rows, cols = (round(side * factor) for side in preprocessing.size)
    notes, scale = (*preprocessing.notes, "size changed here"), preprocessing.scale * factor
    return replace(preprocessing, size=(rows, cols), scale=scale, notes=notes)


def patches_of(config: Any) -> int | None:
    """Number of patches of an image of the configured size."""
    size, patch = built_for(config), getattr(config, "patch_size", None)
    if size is None or not isinstance(patch, int) or patch < 1:
        return None
    return (size[0] // patch) * (size[1] // patch)


def built_for(config: Any) -> Sizes | None:
    """Rows and columns of the pixels that a network of patches was built for."""
    for part in (config, getattr(config, "vision_config", None), getattr(config, "encoder", None)):
        size = getattr(part, "image_size", None)
        if isinstance(size, int | list | tuple) and hasattr(part, "patch_size"):
            return _sides(size)
    return None


# --- settings -----------------------------------------------------------------------------------


def _families(config: Any) -> list[str]:
    """Model types of the vision tower and of the whole model, most specific first."""
    parts = (getattr(config, name, None) for name in ("vision_config", "encoder"))
    types = (getattr(part, "model_type", None) for part in (*parts, config))
    return [family.removesuffix(PART) for family in types if isinstance(family, str)]


def _settings(folder: Folder | None, part: str) -> Mapping[str, Any]:
    """The settings of a part of the processor; empty without a file."""
    if folder is None:
        return {}
    given = (folder.json(NESTED) or {}).get(part) or folder.json(FILE) or {}
    given = given.get(part, given) if isinstance(given, Mapping) else given
    if not isinstance(given, Mapping):
        raise CheckpointError(f"{part}: expected an object, received {given!r:.40}")
    return given


def _check_sides(given: Mapping[str, Any]) -> None:
    """Raises CheckpointError for pictures that would fill the memory."""
    for name, key in product((*SIZES, "pad_size"), ("height", "width")):
        side = given[name].get(key) if isinstance(given.get(name), Mapping) else None
        if isinstance(side, int) and not 1 <= side <= MOST_PIXELS:
            expected = f"expected at most {MOST_PIXELS} pixels a side, received {side}"
            raise CheckpointError(f"{FILE}: {name}: {expected}")


def _check_means(given: Mapping[str, Any]) -> None:
    """Raises CheckpointError for a mean or deviation that is not of each channel."""
    for name in ("image_mean", "image_std"):
        values = given.get(name)
        numbers = isinstance(values, list) and all(isinstance(v, int | float) for v in values)
        if isinstance(values, list) and not (numbers and len(values) in (1, 3, 4)):
            raise CheckpointError(
                f"{FILE}: {name}: expected three numbers, received {values!r:.40}"
            )


def _processor_settings(settings: Mapping[str, Any], family: str) -> ProcessorSettings:
    plain = {name: value for name, value in settings.items() if name not in CODE}
    return ProcessorSettings(json.dumps(plain, sort_keys=True), family)


def _keys(size: Any) -> set[str]:
    return set(size) if isinstance(size, Mapping) else set()


def _sides(given: Any) -> Sizes:
    """Rows and columns from a number, a pair, height and width, or the shortest edge."""
    sides = (given, given) if isinstance(given, int) else given
    if isinstance(given, Mapping):
        edge = given.get("shortest_edge", given.get("longest_edge"))
        sides = (given.get("height", edge), given.get("width", edge))
    pairs = isinstance(sides, list | tuple) and len(sides) == 2
    if not pairs or not all(type(side) is int and 1 <= side < 10**5 for side in sides):
        raise CheckpointError(f"{FILE}: size: expected a height and a width, received {given!r}")
    return sides[0], sides[1]
