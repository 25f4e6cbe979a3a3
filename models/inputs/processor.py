"""A model's own processors of transformers: made from its settings, called, and what they did."""

import json
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.files.errors import first_line
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


def called(processor: Any, *given: Any, **options: Any) -> dict[str, Tensor]:
    """The tensors that a processor returns, by name.

    Raises:
        ValueError: in one line, for what it refuses.
    """
    from models.inputs.quiet import quiet_transformers

    try:
        with quiet_transformers(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy, in PaliGemma's
            batch = processor(*given, return_tensors="pt", **options)
    except Exception as error:  # each processor checks its inputs in its own way
        raise ValueError(f"{_name(processor)}: {first_line(error)}") from error
    return {name: value for name, value in batch.items() if isinstance(value, Tensor)}


def seen_image(processor: Any, image: "Image") -> "Image | None":
    """The image after resizing and cropping, before its levels are scaled; None if it is cut up."""
    from PIL import Image as Pillow

    steps = ("do_rescale", "do_normalize", "do_flip_channel_order", "do_color_quantize")
    without = {step: False for step in steps if getattr(processor, step, None)}
    try:
        levels = called(processor, [image], **without).get("pixel_values")
    except ValueError:  # a processor that cannot do without one of the steps
        return None
    if levels is None or levels.ndim != 4 or levels.shape[1] not in (1, 3):
        return None
    if not 0 <= float(levels.min()) <= float(levels.max()) <= 255:
        return None
    colours = levels[0].round().to(torch.uint8).permute(1, 2, 0).contiguous().numpy()
    return Pillow.fromarray(colours.squeeze(-1) if colours.shape[-1] == 1 else colours)


def notes_of(processor: Any, image: "Image", seen: "Image | None") -> tuple[str, ...]:
    """What the processor did to an image, for display."""
    if seen is None:
        return (f"prepared by {_name(processor)}",)
    (wide, high), to = image.size, f"{seen.width} × {seen.height}"
    if getattr(processor, "do_center_crop", False):
        return (f"from {wide} × {high} pixels: its middle, read as {to}",)
    if image.size == seen.size:
        return ()
    alike = abs(wide * seen.height - high * seen.width) <= max(wide, high)  # but for rounding
    return (f"{'scaled' if alike else 'stretched'} from {wide} × {high} pixels to {to}",)


def _name(processor: Any) -> str:
    return type(processor).__name__.removesuffix("Pil")
