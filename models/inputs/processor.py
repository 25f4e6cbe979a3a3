"""A model's own image processor or feature extractor of transformers, made from its settings."""

import json
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.image import resampling_note
from models.preprocessing import BILINEAR, FILE, HALF, ProcessorSettings

if TYPE_CHECKING:
    from PIL.Image import Image


def image_processor(settings: ProcessorSettings) -> Any | None:
    """The processor that transformers makes of the settings; None where none runs here."""
    from transformers import AutoImageProcessor

    return _from_settings(AutoImageProcessor, settings, "image_processor_type")


def plain_processor(settings: ProcessorSettings) -> Any:
    """One that resizes, crops and normalises as the settings say, where the model's own does not
    run, and for settings that are assumed."""
    from transformers import CLIPImageProcessorPil

    usual = {"do_center_crop": False, "resample": BILINEAR, "image_mean": HALF[0]}
    given = {**usual, "image_std": HALF[1], **json.loads(settings.json)}
    takes = {*CLIPImageProcessorPil.valid_kwargs.__annotations__}
    return CLIPImageProcessorPil(**{name: given[name] for name in given if name in takes})


def feature_extractor(settings: ProcessorSettings) -> Any | None:
    """The extractor that transformers makes of the settings; None where none runs here."""
    from transformers import AutoFeatureExtractor

    return _from_settings(AutoFeatureExtractor, settings, "feature_extractor_type")


@lru_cache(maxsize=16)
def _from_settings(auto: Any, settings: ProcessorSettings, named_by: str) -> Any | None:
    """An instance of the class that the settings name, else of the model type's own."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    from models.inputs.quiet import quiet_transformers

    try:
        with quiet_transformers(), tempfile.TemporaryDirectory() as place:
            Path(place, FILE).write_text(settings.json, encoding="utf-8")
            config = {}
            if named_by not in json.loads(settings.json):
                config = {"config": CONFIG_MAPPING[settings.family]()}
            return auto.from_pretrained(
                place, local_files_only=True, trust_remote_code=False, **config
            )
    except Exception:  # a class that is unknown, or needs a library that is not installed
        return None


def processed_inputs(processor: Any, images: "Sequence[Image]") -> dict[str, Tensor]:
    """What the processor returns for the images, by name.

    Raises:
        ValueError: for images that it refuses.
    """
    from models.inputs.quiet import quiet_transformers

    try:
        with quiet_transformers():
            batch = processor(list(images), return_tensors="pt")
    except Exception as error:  # each processor checks its images in its own way
        what = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"{_name(processor)}: {what[0]:.160}") from error
    return {name: value for name, value in batch.items() if isinstance(value, Tensor)}


def seen_image(processor: Any, image: "Image") -> "Image | None":
    """The image after resizing and cropping, before its levels are scaled; None if it is cut up."""
    from PIL import Image as Pillow

    from models.inputs.quiet import quiet_transformers

    steps = ("do_rescale", "do_normalize", "do_flip_channel_order", "do_color_quantize")
    without = {step: False for step in steps if getattr(processor, step, None)}
    try:
        with quiet_transformers():
            levels = processor([image], return_tensors="pt", **without)["pixel_values"]
    except Exception:  # a processor that cannot do without one of the steps
        return None
    if not isinstance(levels, Tensor) or levels.ndim != 4 or levels.shape[1] not in (1, 3):
        return None
    if not 0 <= float(levels.min()) <= float(levels.max()) <= 255:
        return None
    bytes_of = levels[0].round().to(torch.uint8).permute(1, 2, 0).contiguous().numpy()
    return Pillow.fromarray(bytes_of.squeeze(-1) if bytes_of.shape[-1] == 1 else bytes_of)


def notes_of(processor: Any, image: "Image", seen: "Image | None") -> tuple[str, ...]:
    """What the processor did to an image, for display."""
    if seen is None:
        return (f"prepared by {_name(processor)}",)
    (wide, high), crop = image.size, _size(getattr(processor, "crop_size", None))
    crops = bool(getattr(processor, "do_center_crop", False)) and crop is not None
    before = f"from {wide} × {high} pixels"
    resample = getattr(processor, "resample", None)
    how = "" if resample is None else resampling_note(resample)
    notes = []
    if getattr(processor, "do_resize", False) and crops:
        size = getattr(processor, "size", None)
        both, edge = _size(size), getattr(size, "shortest_edge", None)
        to = f"{both[1]} × {both[0]}" if both else f"a shortest edge of {edge}" if edge else ""
        notes.append(f"scaled {before}{f' to {to}' if to else ''}{how}")
    elif image.size != seen.size and getattr(processor, "do_resize", False):
        alike = abs(wide * seen.height - high * seen.width) <= max(wide, high)  # but for rounding
        word = "scaled" if alike else "stretched"
        notes.append(f"{word} {before} to {seen.width} × {seen.height}{how}")
    if crops:
        notes.append(f"its middle, {seen.width} × {seen.height}, cropped")
    if getattr(processor, "do_rescale", True) is False:
        notes.append("levels not scaled")
    return tuple(notes)


def _size(given: Any) -> tuple[int, int] | None:
    height, width = getattr(given, "height", None), getattr(given, "width", None)
    return (height, width) if height and width else None


def _name(processor: Any) -> str:
    return type(processor).__name__.removesuffix("Pil")
