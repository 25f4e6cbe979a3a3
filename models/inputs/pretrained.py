"""Prepares inputs for transformers models: forward arguments, and labels."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from models.inputs.features import check_features
from models.inputs.layout import image_layout, spectrogram_layout
from models.inputs.named import Parameters, as_tensor, as_tensors, forward_arguments
from models.inputs.placement import with_places
from models.inputs.prompt import Prompt, read_prompt
from models.inputs.sequences import (
    Duration,
    InputSequence,
    ModelInputs,
    image_sequence,
    layout_sequence,
    text_sequence,
)
from models.inputs.sound import Recording, extracted, frame_stride, is_sound, samples_of
from models.inputs.targets import SOUND, TEXT, add_answer, add_target, can_write
from models.inputs.texts import check_ids, padded, padded_ids, read_texts
from models.text import Tokens

if TYPE_CHECKING:
    from models.model import Model

IMAGE, VIDEO = "pixel_values", "pixel_values_videos"
NOT_TRACED = {  # arguments whose tokens are not known, and what to give in their place
    **dict.fromkeys(("past_key_values", "cache_params"), "give the whole text, without a cache"),
    **dict.fromkeys(("inputs_embeds", "decoder_inputs_embeds"), "give ids"),
}


def prepare_inputs(model: "Model", source: Any, target: Any = None) -> ModelInputs:
    """Prepares an input for the model.

    Args:
        model: a transformers model.
        source: a text, a pair of texts, a list of either, ids, pixels, an image, a recording (a
            WAV file or samples), a prompt, or a dict of the model's own inputs (in which texts and
            images may stand for ids and pixels).
        target: text or ids for a decoder, or the answer to a prompt; None generates it.

    Raises:
        ValueError: for an input the model cannot read.
    """
    takes, target = forward_arguments(model.network), as_tensor(target)
    if isinstance(source, Prompt):
        inputs, target = _of_prompt(model, source, target)
    else:
        if isinstance(source, Mapping) and source.keys() >= {"array", "sampling_rate"}:
            source = Recording(samples_of(source["array"]), source["sampling_rate"])
        inputs = _of_dict(model, source) if isinstance(source, Mapping) else _of_one(model, source)
    text, config = inputs.sequences.get("text"), model.network.config
    pixels = inputs.arguments.get(IMAGE, inputs.arguments.get(VIDEO))
    if text is not None and isinstance(pixels, Tensor) and hasattr(config, "text_config"):
        text, notes = with_places(text, inputs.arguments, config, inputs.parts)
        inputs.sequences["text"], inputs.notes = text, (*inputs.notes, *notes)
    unknown = [name for name in inputs.arguments if name not in takes and "kwargs" not in takes]
    if unknown:
        raise ValueError(f"{model.name} does not read {', '.join(unknown)}")
    needs = [name for name in (TEXT, IMAGE) if name in takes and name not in inputs.arguments]
    if needs and _is_pair(model.network) and not isinstance(source, Mapping | Prompt):
        raise ValueError(
            f"{model.name} reads text and images: give it both, as a dict with {TEXT} and {IMAGE}"
        )
    if model.network.config.is_encoder_decoder and "decoder_input_ids" in takes:
        add_target(model, inputs, target)
    elif target is not None:
        raise ValueError(f"target: expected none, {model.name} is no encoder–decoder")
    return inputs


def _of_prompt(model: "Model", prompt: Prompt, target: Any) -> tuple[ModelInputs, Any]:
    """A prompt with its answer, and the target that is left for the decoder of an
    encoder–decoder."""
    if prompt.audio is not None:
        if not any(name in forward_arguments(model.network) for name in SOUND):
            raise ValueError(f"{model.name} reads no sound")
        if prompt.text or prompt.images or prompt.video is not None:
            raise ValueError(f"{model.name} reads sound alone: expected no text or pictures")
        return _of_sound(model, prompt.audio), target
    if _hears_alone(forward_arguments(model.network)):
        raise ValueError(f"{model.name} reads sound alone: expected a recording as audio")
    reading = read_prompt(model, prompt)
    inputs = _of_dict(model, _taken(model, reading.arguments))
    if not model.network.config.is_encoder_decoder and can_write(model.network):
        first = inputs.arguments[TEXT].shape[1]
        note = add_answer(model, inputs, target, prompt.most_written)
        inputs = _of_dict(model, inputs.arguments)
        inputs.notes, inputs.answer, target = (note,) if note else (), first, None
    inputs.notes, inputs.parts = (*reading.notes, *inputs.notes), reading.parts
    inputs.most_written = prompt.most_written
    return inputs, target


def _taken(model: "Model", arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the network takes."""
    takes = forward_arguments(model.network)
    return {n: v for n, v in arguments.items() if n in takes or "kwargs" in takes}


def _is_pair(network: Any) -> bool:
    return hasattr(network.config, "text_config") and hasattr(network.config, "vision_config")


def _of_one(model: "Model", source: Any) -> ModelInputs:
    """A single input: floats and images are pixels, everything else is text."""
    takes = forward_arguments(model.network)
    hears = _hears_alone(takes)
    if (hears and not _is_features(source, takes)) or (
        is_sound(source) and takes.keys() & {*SOUND}
    ):
        return _of_sound(model, source)
    source = as_tensor(source)
    floats = isinstance(source, Tensor) and source.is_floating_point()
    if floats and IMAGE not in takes:
        sound = [name for name in SOUND if name in takes]
        if not sound:
            raise ValueError(
                f"{model.name} reads text or ids: expected whole numbers, received pixels"
            )
        return _of_dict(model, {sound[0]: source})
    first = source[0] if isinstance(source, list) and source else source
    image = floats or isinstance(first, Path) or hasattr(first, "getexif")
    if not image and TEXT not in takes and IMAGE in takes and isinstance(source, str):
        image, source = True, Path(source)
    return _of_dict(model, {IMAGE if image else TEXT: source})


def _hears_alone(takes: Parameters) -> bool:
    """Whether a network reads sound and nothing else."""
    return bool(takes.keys() & {*SOUND}) and not takes.keys() & {TEXT, IMAGE, VIDEO}


def _is_features(source: Any, takes: Parameters) -> bool:
    """Whether an array is what a feature extractor makes, not samples: "batch sample" or more."""
    least = 2 if "input_values" in takes else 3
    floats = isinstance(source, Tensor) and source.is_floating_point()
    floats |= isinstance(source, np.ndarray) and source.dtype.kind == "f"
    return floats and source.ndim >= least


def _of_sound(model: "Model", source: Any) -> ModelInputs:
    """A recording, or several."""
    if model.sound is None:
        raise ValueError(
            f"{model.name} states no feature extractor: pass a dict with"
            f" {next(name for name in SOUND if name in forward_arguments(model.network))}"
        )
    features, takes = extracted(model.sound, source), forward_arguments(model.network)
    inputs = _of_dict(model, {n: v for n, v in features.arguments.items() if n in {*takes, *SOUND}})
    inputs.notes = (*inputs.notes, *features.notes)
    if features.seconds is not None and features.step is not None:
        ratio = frame_stride(model.network)
        stride = None if ratio is None else ratio * features.step
        sound = replace(
            inputs.sequences["sound"], duration=Duration(features.seconds, stride, features.heard)
        )
        inputs.sequences["sound"] = sound
    return inputs


def _of_dict(model: "Model", source: Mapping[str, Any]) -> ModelInputs:
    """The model's own inputs, with their sequences."""
    inputs, kind = ModelInputs({}), next(model.network.parameters()).dtype
    source = as_tensors(source)
    if model.network.config.is_encoder_decoder and "labels" in source:
        raise ValueError("labels: give their ids as target")
    for name in NOT_TRACED.keys() & source.keys():
        raise ValueError(f"{name}: {NOT_TRACED[name]}")
    for name, value in source.items():
        if isinstance(value, Tensor):
            value = value.to(model.device, kind if value.is_floating_point() else None)
        inputs.arguments[name] = value
    if IMAGE in source and not isinstance(source[IMAGE], Tensor):
        _add_pictures(model, inputs, source[IMAGE])
    check_features(model.network, inputs.arguments)
    _read_text(model, inputs)
    pixels = inputs.arguments.get(IMAGE)
    if pixels is not None:
        sequence = image_sequence(pixels, model.network.config, _noise(model, inputs, pixels))
        if sequence is not None:
            inputs.sequences["image"] = sequence
            other = (pixels.shape[-2], pixels.shape[-1]) != _built_for(model)
            if other and "interpolate_pos_encoding" in forward_arguments(model.network):
                inputs.arguments.setdefault("interpolate_pos_encoding", True)
    for name in SOUND:
        if name in inputs.arguments and "sound" not in inputs.sequences:
            inputs.sequences["sound"] = _sound(inputs.arguments[name], model.network.config)
    decoder = inputs.arguments.get("decoder_input_ids")
    if decoder is not None:
        mask = inputs.arguments.get("decoder_attention_mask")
        inputs.sequences["target"] = text_sequence("target", decoder, mask, (), model.tokenizer)
    return inputs


def _sound(values: Tensor, config: Any) -> InputSequence:
    """Audio frames of the input, of which attention after convolutions usually has fewer; or the
    patches of a spectrogram."""
    layout = spectrogram_layout(values, config)
    if layout is not None:
        return layout_sequence("sound", layout, len(values))
    count = values.shape[-1]
    return InputSequence("sound", (Tokens.of_ids(range(count)),) * len(values), count)


def _noise(model: "Model", inputs: ModelInputs, pixels: Tensor) -> Tensor | None:
    """The noise that a masked autoencoder sorts patches by, drawn here so that their order is
    known; rising where it hides none, which keeps them row by row."""
    config = model.network.config
    if not hasattr(config, "mask_ratio") or "noise" not in forward_arguments(model.network):
        return None
    share, layout = config.mask_ratio, image_layout(pixels, config)
    if layout is None:
        return None
    if "noise" not in inputs.arguments:
        shape = len(pixels), layout.patches
        rising = torch.arange(layout.patches, dtype=torch.float32).expand(shape)
        inputs.arguments["noise"] = (torch.rand(shape) if share else rising).to(pixels.device)
        kept = int(layout.patches * (1 - share))
        if kept < layout.patches:
            note = f"{layout.patches - kept} of {layout.patches} patches hidden at random"
            inputs.notes = (*inputs.notes, note)
    return inputs.arguments["noise"]


def _built_for(model: "Model") -> tuple[int, int] | None:
    config = model.network.config
    size = getattr(getattr(config, "vision_config", None) or config, "image_size", None)
    return (size, size) if isinstance(size, int) else None if size is None else tuple(size)


# --- text ---------------------------------------------------------------------------------------


def _read_text(model: "Model", inputs: ModelInputs) -> None:
    """Tokenises texts and adds the text sequence."""
    value = inputs.arguments.get(TEXT)
    if value is None:
        return
    tokens: tuple[Tokens, ...] = ()
    if not isinstance(value, Tensor):
        tokens = read_texts(model.name, value, model.tokenizer)
        inputs.arguments[TEXT], mask = padded_ids(model, tokens)
        if mask is not None:
            inputs.arguments["attention_mask"] = mask
        kinds = padded(tokens, "segments")
        known = int(kinds.max()) < (getattr(model.network.config, "type_vocab_size", 0) or 0)
        if kinds.any() and known and "token_type_ids" in forward_arguments(model.network):
            inputs.arguments["token_type_ids"] = kinds.to(model.device)
    ids = inputs.arguments[TEXT]
    if ids.ndim != 2 or not ids.numel():
        raise ValueError(f"ids: expected batch token, received {tuple(ids.shape)}")
    if ids.shape[1] > model.limit:
        raise ValueError(
            f"{model.name} reads at most {model.limit} tokens, received {ids.shape[1]}"
        )
    check_ids(model, ids)
    mask = inputs.arguments.get("attention_mask")
    mask = mask if mask is not None and mask.shape == ids.shape else None
    inputs.sequences["text"] = text_sequence("text", ids, mask, tokens, model.tokenizer)


# --- images -------------------------------------------------------------------------------------


def _add_pictures(model: "Model", inputs: ModelInputs, source: Any) -> None:
    """What the model reads of a picture, or of several."""
    from models.inputs.pictures import processed, with_channels

    if model.preprocessing is None:
        raise ValueError(f"{model.name} states no image preprocessing: pass pixel values")
    pixels, takes = processed(model.preprocessing, source), forward_arguments(model.network)
    kind = next(model.network.parameters()).dtype
    for name, value in pixels.arguments.items():
        if name == IMAGE or name in takes:
            value = with_channels(model, value) if name == IMAGE else value
            inputs.arguments[name] = value.to(
                model.device, kind if value.is_floating_point() else None
            )
    inputs.notes = (*inputs.notes, *pixels.notes)
