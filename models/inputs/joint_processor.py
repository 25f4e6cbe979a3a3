"""A model's own processor of text and pictures together, as transformers has it.

Processors that also read videos ask for a video processor, which needs torchvision. Here they are
built with a `FrameProcessor` in its place, for the families that it knows, else without one.
"""

import inspect
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from models.inputs.processor import image_processor
from models.inputs.video import FAMILIES, FrameProcessor
from models.prompting import PromptSettings
from models.text import FileTokenizer

if TYPE_CHECKING:
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


def joint_processor(model: "Model") -> Any | None:
    """The processor that transformers makes of a model's settings; None where none runs here."""
    settings = None if model.preprocessing is None else model.preprocessing.processor
    if model.prompts is None or settings is None or not isinstance(model.tokenizer, FileTokenizer):
        return None
    images, config = image_processor(settings), model.network.config
    if images is None:
        return None
    return _processor(model.prompts, model.tokenizer, images, config.model_type, _of_config(config))


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
    try:
        with quiet_transformers():
            words = PreTrainedTokenizerFast(
                tokenizer_object=tokenizer.copy(), **_named(dict(prompts.tokens))
            )
            kind = _with_frames(ALIKE.get(named, named))
            options = _options(kind, {**dict(stated), **json.loads(prompts.options)})
            if "video_processor" in options and family in FAMILIES:
                settings = json.loads(prompts.video)
                options["video_processor"] = FrameProcessor(images, family, settings)
            return kind(image_processor=images, tokenizer=words, **options)
    except Exception:  # needs a library that is not installed, or settings that are not there
        return None


def _named(tokens: dict[str, str]) -> dict[str, Any]:
    """Special tokens as arguments of a tokenizer."""
    usual = {f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")}
    added = {name: text for name, text in tokens.items() if name not in usual}
    return {n: t for n, t in tokens.items() if n in usual} | {"extra_special_tokens": added}


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


def _of_config(config: Any) -> Settings:
    """Settings of a processor that the config of the model tells."""
    values: dict[str, Any] = {}
    for name, path in STAND_INS.items():
        with suppress(AttributeError):
            values[name] = attrgetter(path)(config)
    return tuple((name, each) for name, each in values.items() if isinstance(each, int | str))


def _options(kind: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the class takes."""
    takes = set(inspect.signature(kind.__init__).parameters)
    given = {name: value for name, value in settings.items() if name in takes}
    return {**given, "video_processor": None} if "video_processor" in takes else given
