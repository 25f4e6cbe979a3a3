"""Prepares inputs: what a network is given, by name, and what its tokens are."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.image import is_pixels, open_image
from models.inputs.generation import can_write
from models.inputs.layout import Layout, image_layout, spectrogram_layout, unmasked
from models.inputs.named import as_tensor, as_tensors, check_features, forward_arguments
from models.inputs.own import names_of, own_inputs
from models.inputs.placement import with_places
from models.inputs.prompt import Prompt, plain, read_prompt
from models.inputs.sequences import (
    InputSequence,
    ModelInputs,
    check_ids,
    layout_sequence,
    padded,
    padded_ids,
    read_texts,
    text_sequence,
)
from models.inputs.sound import Recording, extracted, frame_stride, is_sound, samples_of
from models.inputs.targets import SOUND, TEXT, add_answer, add_target
from models.inputs.vectors import read_vectors
from models.layer import AttentionLayer
from models.preprocessing import built_for
from models.seq2seq import Seq2Seq
from models.ssru import Translator
from models.text import Tokens
from models.vector_encoder import VectorEncoder

if TYPE_CHECKING:
    from models.model import Model

Text = str | tuple[str, str]
Pixels = Float[Tensor, "batch channel row col"]
Vectors = Float[Tensor, "token dim"] | Float[Tensor, "batch token dim"]
Ids = Int[Tensor, "batch token"]
Input = Text | list[str] | list[Text] | Ids | Pixels | Vectors | Path | np.ndarray
Target = str | list[str] | Int[Tensor, "batch target"] | None
IMAGE, VIDEO = "pixel_values", "pixel_values_videos"
NOT_TRACED = {  # arguments whose tokens are not known, and what to give in their place
    **dict.fromkeys(("past_key_values", "cache_params"), "give the whole text, without a cache"),
    **dict.fromkeys(("inputs_embeds", "decoder_inputs_embeds"), "give ids"),
}


def names_read(model: "Model") -> Collection[str]:
    """The inputs that a model reads, by the names that transformers uses."""
    network = model.network
    return names_of(network) if model.door == "own" else forward_arguments(network).keys()


def prepare_inputs(model: "Model", source: Any, target: Any = None) -> ModelInputs:
    """Prepares an input for the model.

    Args:
        model: that reads it.
        source: a text, a pair of texts, a list of either, ids, pixels, an image, vectors, a
            recording (a WAV file or samples), a prompt, or a mapping of the model's own inputs by
            the names that transformers uses (in which texts and images may stand for ids and
            pixels).
        target: text or ids for a decoder, or the answer to a prompt; None generates it.

    Raises:
        ValueError: for an input the model cannot read.
    """
    network, is_own, target = model.network, model.door == "own", as_tensor(target)
    if isinstance(source, Prompt) and not is_own:
        inputs, target = _of_prompt(model, source, target)
    else:
        inputs = _read(model, plain(model, source) if isinstance(source, Prompt) else source)
    decodes = isinstance(network, Seq2Seq | Translator | AttentionLayer)
    if not is_own:
        decodes = network.config.is_encoder_decoder and "decoder_input_ids" in names_read(model)
    if target is not None and not decodes:
        raise ValueError(f"target: expected none, {model.name} is no encoder–decoder")
    if is_own:
        return inputs if isinstance(network, VectorEncoder) else own_inputs(model, inputs, target)
    text, config = inputs.sequences.get("text"), network.config
    pixels = inputs.arguments.get(IMAGE, inputs.arguments.get(VIDEO))
    if text is not None and isinstance(pixels, Tensor) and hasattr(config, "text_config"):
        text, notes = with_places(text, inputs.arguments, config, inputs.parts)
        inputs.sequences["text"], inputs.notes = text, (*inputs.notes, *notes)
    missing = {TEXT, IMAGE} & ({*names_read(model)} - inputs.arguments.keys())
    pair = hasattr(config, "text_config") and hasattr(config, "vision_config")
    if pair and missing and not isinstance(source, Mapping | Prompt):
        raise ValueError(
            f"{model.name} reads text and images: give it both, as a dict with {TEXT} and {IMAGE}"
        )
    if decodes:
        most = source.most_written if isinstance(source, Prompt) else None
        add_target(model, inputs, target, most)
    return inputs


def _of_prompt(model: "Model", prompt: Prompt, target: Any) -> tuple[ModelInputs, Any]:
    """A prompt with its answer, and the target that is left for the decoder of an
    encoder–decoder."""
    takes = names_read(model)
    if _hears_alone(takes):
        raise ValueError(f"{model.name} reads sound alone: expected a recording, not a prompt")
    reading = read_prompt(model, prompt)
    hands_on = "kwargs" in takes
    inputs = _of_dict(model, {n: v for n, v in reading.arguments.items() if n in takes or hands_on})
    if not model.network.config.is_encoder_decoder and can_write(model.network):
        first = inputs.arguments[TEXT].shape[1]
        note = add_answer(model, inputs, target, prompt.most_written)
        inputs = _of_dict(model, inputs.arguments)
        inputs.notes, inputs.answer, target = (note,) if note else (), first, None
    inputs.notes, inputs.parts = (*reading.notes, *inputs.notes), reading.parts
    return inputs, target


def _read(model: "Model", source: Any) -> ModelInputs:
    """An input that is no prompt."""
    if isinstance(model.network, VectorEncoder):
        return read_vectors(model, as_tensor(source))
    if isinstance(source, Mapping):
        if not source.keys() >= {"array", "sampling_rate"}:
            return _of_dict(model, source)
        source = Recording(samples_of(source["array"]), source["sampling_rate"])
    takes = names_read(model)
    hears = _hears_alone(takes) and getattr(source, "ndim", 1) < 2  # not what extractors return
    if hears or (is_sound(source) and {*SOUND} & {*takes}):
        return _of_sound(model, source)
    if IMAGE in takes and is_pixels(source):
        source = open_image(source).image
    source = as_tensor(source)
    floats = isinstance(source, Tensor) and source.is_floating_point()
    if floats and IMAGE not in takes:
        sound = [name for name in SOUND if name in takes]
        return _of_dict(model, {(sound or [TEXT])[0]: source})
    first = source[0] if isinstance(source, list) and source else source
    image = floats or TEXT not in takes or isinstance(first, Path) or hasattr(first, "getexif")
    return _of_dict(model, {IMAGE if image and IMAGE in takes else TEXT: source})


def _hears_alone(takes: Collection[str]) -> bool:
    """Whether a network reads sound and nothing else."""
    return bool({*takes} & {*SOUND}) and not {*takes} & {TEXT, IMAGE, VIDEO}


def _of_sound(model: "Model", source: Any) -> ModelInputs:
    """A recording, or several."""
    takes = names_read(model)
    if model.sound is None:
        name = next(name for name in SOUND if name in takes)
        raise ValueError(f"{model.name} states no feature extractor: pass a dict with {name}")
    features = extracted(model.sound, source)
    inputs = _of_dict(model, {n: v for n, v in features.arguments.items() if n in {*takes, *SOUND}})
    inputs.notes = (*inputs.notes, *features.notes)
    if features.sound is not None and features.sound.stride is not None:
        ratio = frame_stride(model.network)
        stride = None if ratio is None else ratio * features.sound.stride
        inputs.sound = features.sound._replace(stride=stride)
    return inputs


def _of_dict(model: "Model", source: Mapping[str, Any]) -> ModelInputs:
    """The model's own inputs, with their sequences."""
    inputs, takes, network = ModelInputs({}), names_read(model), model.network
    source = as_tensors(source)
    if model.door != "own" and network.config.is_encoder_decoder and "labels" in source:
        raise ValueError("labels: give their ids as target")
    if unknown := [name for name in source if name not in takes and "kwargs" not in takes]:
        raise ValueError(f"{model.name} does not read {', '.join(unknown)}")
    for name in NOT_TRACED.keys() & source.keys():
        raise ValueError(f"{name}: {NOT_TRACED[name]}")
    if IMAGE in source and not isinstance(source[IMAGE], Tensor):
        source, inputs.notes = _with_pixels(model, source)
    for name, value in source.items():
        if isinstance(value, Tensor):
            kind = next(network.parameters()).dtype if value.is_floating_point() else None
            value = value.to(model.device, kind)
        inputs.arguments[name] = value
    check_features(inputs.arguments)
    _read_text(model, inputs)
    if model.door == "own":
        return inputs
    pixels = inputs.arguments.get(IMAGE)
    if pixels is not None:
        layout = image_layout(pixels, network.config)
        if layout is not None:
            layout = _unmasked(model, inputs, layout)
            inputs.sequences["image"] = layout_sequence(layout, len(pixels))
            other = (pixels.shape[-2], pixels.shape[-1]) != built_for(network.config)
            if other and "interpolate_pos_encoding" in takes:
                inputs.arguments.setdefault("interpolate_pos_encoding", True)
    for values in (inputs.arguments[name] for name in SOUND if name in inputs.arguments):
        inputs.sequences["sound"] = _sound(values, network.config)
    decoder = inputs.arguments.get("decoder_input_ids")
    if decoder is not None:
        mask = inputs.arguments.get("decoder_attention_mask")
        inputs.sequences["target"] = text_sequence(decoder, mask, (), model.tokenizer)
    return inputs


def _with_pixels(model: "Model", source: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The inputs with what the model reads of a picture, or of several, in their place."""
    from models.inputs.pictures import processed, with_channels

    if model.preprocessing is None:
        raise ValueError(f"{model.name} states no image preprocessing: pass pixel values")
    result, takes = processed(model.preprocessing, source[IMAGE]), names_read(model)
    more = {name: value for name, value in result.arguments.items() if name in takes}
    return {**source, **more, IMAGE: with_channels(model, result.pixels)}, result.notes


def _sound(values: Tensor, config: Any) -> InputSequence:
    """Audio frames of the input, of which attention after convolutions usually has fewer; or the
    patches of a spectrogram."""
    layout = spectrogram_layout(values, config)
    if layout is not None:
        return layout_sequence(layout, len(values))
    count = values.shape[-1]
    return InputSequence((Tokens.of_ids(range(count)),) * len(values), count)


def _unmasked(model: "Model", inputs: ModelInputs, layout: Layout) -> Layout:
    """The patches that a masked autoencoder keeps, by noise that is drawn here so that their order
    is known; it rises where none are hidden, which keeps them row by row."""
    share = getattr(model.network.config, "mask_ratio", None)
    if share is None or "noise" not in names_read(model):
        return layout
    if "noise" not in inputs.arguments:
        count, shape = layout.patches, (len(inputs.arguments[IMAGE]), layout.patches)
        noise = torch.rand(shape) if share else torch.arange(float(count)).expand(shape)
        inputs.arguments["noise"] = noise.to(model.device)
        if hidden := count - int(count * (1 - share)):
            note = f"{hidden} of {count} patches hidden at random"
            inputs.notes = (*inputs.notes, note)
    return unmasked(layout, inputs.arguments["noise"], share)


def _read_text(model: "Model", inputs: ModelInputs) -> None:
    """Tokenises texts and adds the text sequence."""
    value, config = inputs.arguments.get(TEXT), model.network.config
    if value is None:
        return
    tokens: tuple[Tokens, ...] = ()
    if not isinstance(value, Tensor):
        tokens = read_texts(model.name, value, model.tokenizer)
        inputs.arguments[TEXT], padding = padded_ids(model, tokens)
        if padding is not None:
            inputs.arguments["attention_mask"] = (~padding).long()
        kinds = padded(tokens, "segments")
        most = getattr(config, "type_vocab_size", getattr(config, "segments", 0)) or 0
        if kinds.any() and int(kinds.max()) < most and "token_type_ids" in names_read(model):
            inputs.arguments["token_type_ids"] = kinds.to(model.device)
    ids, mask = inputs.arguments[TEXT], inputs.arguments.get("attention_mask")
    check_ids(model, ids)
    mask = mask if mask is not None and mask.shape == ids.shape else None
    inputs.sequences["text"] = text_sequence(ids, mask, tokens, model.tokenizer)
