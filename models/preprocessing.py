"""Preprocessing of images and sound: the settings of a model's own processor, and their meaning."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from models.files.errors import CheckpointError
from models.files.folder import Folder
from models.files.objects import read_object
from models.patches import Sizes, check_patch, pair
from models.vision_families import usual
from models.vit import ViTConfig

FILE, NESTED = "preprocessor_config.json", "processor_config.json"
ResizeMode = Literal["crop", "pad", "stretch", "none"]
RESAMPLING = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}
BILINEAR = 2
MOST_PIXELS = 10_000  # a side
CODE = ("auto_map", "custom_pipelines", "processor_class")  # settings that name code
UNSTATED = "the model states no image preprocessing"


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
        mean: per channel, subtracted from the scaled levels.
        std: per channel, divides the result.
        resize: "crop", "pad" or "stretch", where the image has another shape; "none" leaves it.
        resample: Pillow's filter, a key of `RESAMPLING`.
        before_crop: rows and columns, or the shortest edge, that the image is resized to before
            its middle is cropped; None resizes to `size` at once.
        crop: whether the middle is cropped.
        rescale: factor of the levels 0 to 255.
        processor: settings of the model's own processor, which is used where it runs.
        notes: for display, on every image.
        stated: whether the checkpoint states it, or its network was made here.
    """

    size: Sizes | None
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    resize: ResizeMode = "crop"
    resample: int = BILINEAR
    before_crop: Sizes | int | None = None
    crop: bool = False
    rescale: float = 1 / 255
    processor: ProcessorSettings | None = None
    notes: tuple[str, ...] = ()
    stated: bool = True


def default_preprocessing(config: ViTConfig) -> Preprocessing:
    """The configured size, and values in [-1, 1]."""
    return Preprocessing(pair(config.image))


def usual_preprocessing(families: Sequence[str], size: Sizes) -> Preprocessing:
    """The preprocessing assumed for a model that states none: that of the first known family."""
    defaults = usual(families)
    if defaults is None:
        note = f"{UNSTATED}: levels scaled to −1 to 1"
        return Preprocessing(size, resize="stretch", notes=(note,), stated=False)
    edge = round(min(size) * defaults.edge)
    mean, std = (
        " ".join(f"{value:.3g}" for value in each) for each in (defaults.mean, defaults.std)
    )
    note = f"{UNSTATED}: what is usual for {defaults.title} is assumed, mean {mean}, std {std}"
    return Preprocessing(
        size,
        defaults.mean,
        defaults.std,
        resize="stretch",
        resample=defaults.resample,
        before_crop=((edge, edge) if defaults.square else edge) if edge else None,
        crop=edge > 0,
        notes=(note,),
        stated=False,
    )


def read_preprocessing(path: Path, config: ViTConfig, family: str) -> Preprocessing:
    """Preprocessing from a checkpoint's preprocessor_config.json; without one, what is usual.

    Args:
        path: of the folder.
        config: ours.
        family: the model type; that of our own checkpoints has levels from −1 to 1.

    Raises:
        ValueError: for a file that cannot be read or has invalid settings.
    """
    file = path / FILE
    if not file.is_file() and usual([family]) is None:
        return default_preprocessing(config)
    if not file.is_file():
        return usual_preprocessing([family], pair(config.image))
    settings = read_object(file)
    if settings.get("do_center_crop") is True and settings.get("crop_size"):
        size = _size(settings["crop_size"], config)
    else:
        size = _size(settings.get("size"), config)
    if settings.get("do_resize") is not False:
        check_patch(size, config.patch)
    return _preprocessing(settings, size, "vit")


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
    given = _settings(folder, "image_processor")
    built = _built_for(config)
    if not given:
        return None if built is None else usual_preprocessing(_families(config), built)
    if built is None and not {"image_processor_type", "image_mean", "do_resize"} & set(given):
        return None
    crops = given.get("do_center_crop") is True or "shortest_edge" in _keys(given.get("size"))
    wanted = given.get("crop_size") if crops and given.get("crop_size") else given.get("size")
    size = built if wanted is None or (built is None and not _sides(wanted)) else _size_of(wanted)
    return _preprocessing(given, size, config.model_type)


def _families(config: Any) -> list[str]:
    """Model types of the vision tower and of the whole model, most specific first."""
    parts = (getattr(config, name, None) for name in ("vision_config", "encoder"))
    types = (getattr(part, "model_type", None) for part in (*parts, config))
    return [family for family in types if isinstance(family, str)]


def library_sound(folder: Folder | None, config: Any) -> ProcessorSettings | None:
    """Settings of the feature extractor of a model that reads sound.

    Returns:
        None without settings, and for settings of images alone.

    Raises:
        CheckpointError: for a file that cannot be read.
    """
    given = _settings(folder, "feature_extractor")
    if not {"feature_extractor_type", "sampling_rate"} & set(given):
        return None
    return _processor_settings(given, config.model_type)


def _settings(folder: Folder | None, part: str) -> Mapping[str, Any]:
    """The settings of a part of the processor; empty without a file."""
    if folder is None:
        return {}
    for name in (NESTED, FILE):
        given = folder.json(name) or {}
        if name == NESTED and part not in given:
            continue
        given = given.get(part, given)
        if not isinstance(given, Mapping):
            raise CheckpointError(f"{name}: expected an object, received {given!r:.40}")
        if given:
            return given
    return {}


def _preprocessing(settings: Mapping[str, Any], size: Sizes | None, family: str) -> Preprocessing:
    """The settings as rules, beside those of the model's own processor.

    Without an image size the processor alone decides, and the other rules stay at their defaults.
    """
    _check_sizes(settings)
    processor = _processor_settings(settings, family)
    if size is None:
        if settings.get("do_normalize") is False:
            mean, std = _mean_and_std(settings)
            return Preprocessing(None, mean, std, rescale=_factor(settings), processor=processor)
        return Preprocessing(None, processor=processor)
    mean, std = _mean_and_std(settings)
    resizes = settings.get("do_resize") is not False
    whole, edge = settings.get("size"), _edge(settings.get("size"))
    crops = settings.get("do_center_crop") is True or edge is not None
    resample = settings.get("resample")
    before = None
    if resizes and crops and whole is not None:
        before = edge if edge is not None else _size_of(whole)
    return Preprocessing(
        size,
        mean,
        std,
        resize="stretch" if resizes else "none",
        resample=resample if resample in RESAMPLING else BILINEAR,
        before_crop=before,
        crop=crops and (resizes or settings.get("do_center_crop") is True),
        rescale=_factor(settings),
        processor=processor,
    )


def _processor_settings(settings: Mapping[str, Any], family: str) -> ProcessorSettings:
    plain = {name: value for name, value in settings.items() if name not in CODE}
    return ProcessorSettings(json.dumps(plain, sort_keys=True), family)


def _factor(settings: Mapping[str, Any]) -> float:
    """The factor of the levels 0 to 255; 1 where they stay as they are."""
    if settings.get("do_rescale") is False:
        return 1.0
    factor = settings.get("rescale_factor")
    return factor if isinstance(factor, float) else 1 / 255


def _edge(size: Any) -> int | None:
    """The shortest edge of a size that names nothing else."""
    keys = _keys(size)
    edge = size.get("shortest_edge") if keys else None
    return edge if type(edge) is int and set(keys) <= {"shortest_edge"} else None


def _sides(size: Any) -> bool:
    """Whether a size gives rows and columns."""
    return isinstance(size, int | list | tuple) or {"height", "width"} <= set(_keys(size))


def _check_sizes(settings: Mapping[str, Any]) -> None:
    """Raises CheckpointError for sizes of more pixels than any model reads."""
    for name in ("size", "crop_size", "pad_size"):
        for key in ("height", "width"):
            side = settings[name].get(key) if isinstance(settings.get(name), Mapping) else None
            if isinstance(side, int) and not 1 <= side <= MOST_PIXELS:
                raise CheckpointError(
                    f"{FILE}: {name}: expected at most {MOST_PIXELS} pixels a side, received {side}"
                )


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


def changed(
    preprocessing: Preprocessing,
    *,
    size: Sizes | None = None,
    resize: ResizeMode | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
) -> Preprocessing:
    """Other preprocessing than a checkpoint states; what is None stays as it is.

    The model's own processor goes on reading the images where only mean or std are changed. With
    another size or resize mode they are resized by Pillow instead.

    Args:
        preprocessing: of the checkpoint.
        size: rows and columns.
        resize: see `Preprocessing`.
        mean: per channel, of levels scaled to 0 to 1.
        std: likewise.

    Raises:
        ValueError: for numbers that no image can be prepared with.
    """
    if (size, resize, mean, std) == (None, None, None, None):
        return preprocessing
    if preprocessing.size is None:
        raise ValueError("the model's image processor decides the size: it cannot be changed here")
    _check(size, mean, std)
    middle = _three(mean or preprocessing.mean)
    spread = _three(std or preprocessing.std)
    now = replace(preprocessing, mean=middle, std=spread, notes=("changed here",), stated=True)
    if size is None and resize is None:
        processor = preprocessing.processor
        if processor is None:
            return now
        numbers = {"do_normalize": True, "image_mean": middle, "image_std": spread}
        settings = json.dumps({**json.loads(processor.json), **numbers}, sort_keys=True)
        return replace(now, processor=replace(processor, json=settings))
    mode = resize or mode_of(preprocessing)
    return replace(
        now,
        size=size or preprocessing.size,
        resize=mode,
        before_crop=None,
        crop=False,
        processor=None,
    )


def mode_of(preprocessing: Preprocessing) -> ResizeMode:
    """The resize mode, "crop" where the middle of a resized image is cropped."""
    return "crop" if preprocessing.crop else preprocessing.resize


def _check(size: Sizes | None, mean: Sequence[float] | None, std: Sequence[float] | None) -> None:
    """Raises ValueError for numbers that no image can be prepared with."""
    if size is not None and not all(1 <= side <= MOST_PIXELS for side in size):
        raise ValueError(f"size: expected 1 to {MOST_PIXELS} pixels a side, received {size}")
    for name, values in (("mean", mean), ("std", std)):
        if values is None:
            continue
        if len(values) != 3 or not all(isfinite(value) for value in values):
            raise ValueError(f"{name}: expected three numbers, received {tuple(values)}")
    if std is not None and min(std) <= 0:
        raise ValueError(f"std: expected numbers above 0, received {tuple(std)}")


def _three(values: Sequence[float]) -> tuple[float, float, float]:
    red, green, blue = (float(value) for value in values)
    return red, green, blue


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
