"""A model's own processors of transformers: made from its settings, called, and what they did.

Processors of text and pictures that also read videos ask for a video processor, which needs
torchvision: here they have a `FrameProcessor` in its place, where it knows the family, or none.
"""

import inspect
import json
import tempfile
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.files.errors import first_line
from models.inputs.video import FAMILIES, FrameProcessor
from models.preprocessing import FILE, SIZES, ProcessorSettings
from models.prompting import PromptSettings
from models.text import FileTokenizer

if TYPE_CHECKING:
    from PIL.Image import Image

    from models.model import Model

Settings = tuple[tuple[str, int | str], ...]
# SmolVLM's own needs num2words, for videos; of pictures it writes what Idefics3's writes.
ALIKE = {"SmolVLMProcessor": "Idefics3Processor"}
STAND_INS = {  # what older checkpoints leave to the config of the model, and where it states that
    "patch_size": "vision_config.patch_size",
    "vision_feature_select_strategy": "vision_feature_select_strategy",
    "num_query_tokens": "num_query_tokens",
    "image_seq_length": "mm_tokens_per_image",
}
NAMED = {f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")}


def image_processor(settings: ProcessorSettings) -> Any | None:
    """The processor that transformers makes of the settings; None where none runs here."""
    from transformers import AutoImageProcessor

    return _from_settings(AutoImageProcessor, settings, "image_processor_type")


def feature_extractor(settings: ProcessorSettings) -> Any | None:
    """The extractor that transformers makes of the settings; None where none runs here."""
    from transformers import AutoFeatureExtractor

    return _from_settings(AutoFeatureExtractor, settings, "feature_extractor_type")


@lru_cache(maxsize=16)
def _from_settings(auto: Any, settings: ProcessorSettings, named_by: str) -> Any | None:
    """An instance of the class that the settings name; of the model type's own where they name
    none, or one that the library does not have."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    from models.inputs.quiet import quiet_transformers

    stated = json.loads(settings.json)
    for given in (stated, {name: value for name, value in stated.items() if name != named_by}):
        # whatever a class raises that is unknown, or needs a library which is not installed
        with suppress(Exception), quiet_transformers(), tempfile.TemporaryDirectory() as place:
            Path(place, FILE).write_text(json.dumps(given), encoding="utf-8")
            config = {} if named_by in given else {"config": CONFIG_MAPPING[settings.family]()}
            safe: Any = {"local_files_only": True, "trust_remote_code": False}
            return auto.from_pretrained(place, **safe, **config)
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


def scaled_sizes(processor: Any, scale: float) -> dict[str, dict[str, int]]:
    """The sizes in pixels that an image processor resizes and crops to, times a factor."""
    stated = {name: getattr(processor, name, None) or {} for name in SIZES}
    return {
        name: {edge: round(side * scale) for edge, side in dict(sizes).items() if side}
        for name, sizes in stated.items()
        if sizes
    }


def seen_image(processor: Any, image: "Image", **options: Any) -> "Image | None":
    """The image after resizing and cropping, before its levels are scaled; None if it is cut up."""
    from PIL import Image as Pillow

    steps = ("do_rescale", "do_normalize", "do_flip_channel_order", "do_color_quantize")
    without = {step: False for step in steps if getattr(processor, step, None)}
    try:
        levels = called(processor, [image], **without, **options).get("pixel_values")
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


# --- of text and pictures together --------------------------------------------------------------


def joint_processor(model: "Model") -> Any | None:
    """The processor that transformers makes of a model's settings; None where none runs here."""
    reading, config = model.preprocessing, model.network.config
    if reading is None or not reading.stated or reading.processor is None:
        return None
    if model.prompts is None or not isinstance(model.tokenizer, FileTokenizer):
        return None
    images = image_processor(reading.processor)
    if images is None:
        return None
    stated: dict[str, Any] = {}
    for name, path in STAND_INS.items():
        with suppress(AttributeError):
            stated[name] = attrgetter(path)(config)
    known = tuple((name, each) for name, each in stated.items() if isinstance(each, int | str))
    return _processor(model.prompts, model.tokenizer, images, config.model_type, known)


@lru_cache(maxsize=4)
def _processor(
    prompts: PromptSettings, tokenizer: FileTokenizer, images: Any, family: str, stated: Settings
) -> Any | None:
    from transformers import PreTrainedTokenizerFast
    from transformers.models.auto import processing_auto

    from models.inputs.quiet import quiet_transformers

    usual: dict[str, str] = vars(processing_auto)["PROCESSOR_MAPPING_NAMES"]
    named = prompts.processor if prompts.processor in usual.values() else usual.get(family)
    if named is None:
        return None
    tokens: dict[str, Any] = {n: text for n, text in prompts.tokens if n in NAMED}
    tokens["extra_special_tokens"] = {n: text for n, text in prompts.tokens if n not in NAMED}
    # whatever one raises that needs a library which is not installed, or settings not stated
    with suppress(Exception), quiet_transformers():
        words = PreTrainedTokenizerFast(tokenizer_object=tokenizer.copy(), **tokens)
        kind = _with_frames(ALIKE.get(named, named))
        options = _options(kind, {**dict(stated), **json.loads(prompts.options)})
        if "video_processor" in options and family in FAMILIES:
            settings = json.loads(prompts.video)
            options["video_processor"] = FrameProcessor(images, family, settings)
        return kind(image_processor=images, tokenizer=words, **options)
    return None


def _with_frames(name: str) -> type:
    """The class of a processor, which takes a `FrameProcessor` or None for that of videos."""
    import transformers

    base: Any = getattr(transformers, name)

    class Processor(base):
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            if argument_name == "video_processor":
                return None
            return super().check_argument_for_proper_class(argument_name, argument)

    Processor.__name__ = name
    return Processor


def _options(kind: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the class takes."""
    takes = set(inspect.signature(kind.__init__).parameters)
    given = {name: value for name, value in settings.items() if name in takes}
    return {**given, "video_processor": None} if "video_processor" in takes else given
