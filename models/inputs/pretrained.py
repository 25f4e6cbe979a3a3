"""Prepares inputs for transformers models: forward arguments, and labels."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from models.eval_mode import check_eval
from models.inputs.answers import add_answer, can_write
from models.inputs.features import check_features, refusing_shapes
from models.inputs.generation import ends_of, generate, greedily
from models.inputs.layout import image_layout, spectrogram_layout
from models.inputs.named import as_tensor, as_tensors
from models.inputs.placement import (
    NoGridError,
    has_image_tokens,
    whole_pictures,
    with_grids,
    without_grids,
)
from models.inputs.prompt import Prompt, read_prompt
from models.inputs.sequences import (
    Duration,
    InputSequence,
    image_sequence,
    layout_sequence,
    text_sequence,
)
from models.inputs.sound import Recording, extracted, frame_stride, is_sound, samples_of
from models.picture_grid import Part
from models.text import Tokenizer, Tokens, tokens_of_ids

if TYPE_CHECKING:
    from models.model import Model

IMAGE, TEXT, SOUND = "pixel_values", "input_ids", ("input_features", "input_values")
VIDEO = "pixel_values_videos"
NOT_TRACED = {  # arguments whose tokens are not known, and what to give in their place
    **dict.fromkeys(("past_key_values", "cache_params"), "give the whole text, without a cache"),
    **dict.fromkeys(("inputs_embeds", "decoder_inputs_embeds"), "give ids"),
}
Parameters = Mapping[str, inspect.Parameter]


@dataclass(eq=False)
class ModelInputs:
    """One prepared input.

    Attributes:
        arguments: keyword arguments of forward.
        sequences: input sequences by name.
        notes: how the input was changed, for display.
        parts: what the vision tower sees of the pictures of a prompt.
        answer: place of the first token after a prompt; None for other inputs.
        most_written: the most tokens that the model writes; None for what is usual.
    """

    arguments: dict[str, Any]
    sequences: dict[str, InputSequence] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    answer: int | None = None
    most_written: int | None = None

    @property
    def items(self) -> int:
        """Batch size."""
        if self.sequences:
            return len(next(iter(self.sequences.values())).tokens)
        sizes = [len(x) for x in self.arguments.values() if isinstance(x, Tensor) and x.ndim]
        return sizes[0] if sizes else 1


# Called with what a model goes on from, a prompt or a start token: entered while it writes.
Watch = Callable[[ModelInputs], AbstractContextManager[Any] | None]


def prepare_inputs(
    model: "Model",
    source: Any,
    target: Any = None,
    *,
    watch: Watch | None = None,
    logits_to_keep: int = 1,
) -> ModelInputs:
    """Prepares an input for the model.

    Args:
        model: a transformers model.
        source: a text, a pair of texts, a list of either, ids, pixels, an image, a recording (a
            WAV file or samples), a prompt, or a dict of the model's own inputs (in which texts and
            images may stand for ids and pixels).
        target: text or ids for a decoder, or the answer to a prompt; None generates it.
        watch: what watches the model while it writes an answer or a target; None for nothing.
        logits_to_keep: how many tokens of the prompt get logits then; 0 for all.

    Raises:
        ValueError: for an input the model cannot read.
    """
    takes, target = forward_arguments(model.network), as_tensor(target)
    if isinstance(source, Prompt):
        inputs, target = _of_prompt(model, source, target, watch, logits_to_keep)
    else:
        if isinstance(source, Mapping) and source.keys() >= {"array", "sampling_rate"}:
            source = Recording(samples_of(source["array"]), source["sampling_rate"])
        inputs = _of_dict(model, source) if isinstance(source, Mapping) else _of_one(model, source)
    add_grids(model, inputs)
    unknown = [name for name in inputs.arguments if name not in takes and "kwargs" not in takes]
    if unknown:
        raise ValueError(f"{model.name} does not read {', '.join(unknown)}")
    needs = [name for name in (TEXT, IMAGE) if name in takes and name not in inputs.arguments]
    if needs and _is_pair(model.network) and not isinstance(source, Mapping | Prompt):
        raise ValueError(
            f"{model.name} reads text and images: give it both, as a dict with {TEXT} and {IMAGE}"
        )
    if model.network.config.is_encoder_decoder and "decoder_input_ids" in takes:
        add_target(model, inputs, target, watch)
    elif target is not None:
        raise ValueError(f"target: expected none, {model.name} is no encoder–decoder")
    return inputs


def _of_prompt(
    model: "Model", prompt: Prompt, target: Any, watch: Watch | None, logits_to_keep: int
) -> tuple[ModelInputs, Any]:
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
        inputs.parts, watching = reading.parts, None
        if target is None and watch is not None:
            watching = watch(inputs)
        most = prompt.most_written
        note = add_answer(model, inputs.arguments, target, most, watching, logits_to_keep)
        inputs = _of_dict(model, inputs.arguments)
        inputs.notes, inputs.answer, target = (note,) if note else (), first, None
    inputs.notes, inputs.parts = (*reading.notes, *inputs.notes), reading.parts
    inputs.most_written = prompt.most_written
    return inputs, target


def _taken(model: "Model", arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the network takes."""
    takes = forward_arguments(model.network)
    return {n: v for n, v in arguments.items() if n in takes or "kwargs" in takes}


def add_grids(model: "Model", inputs: ModelInputs) -> None:
    """Adds where image tokens of the text lie on pictures, or a note that says why not."""
    text, config = inputs.sequences.get("text"), model.network.config
    pixels = inputs.arguments.get(IMAGE, inputs.arguments.get(VIDEO))
    if text is None or not isinstance(pixels, Tensor) or not hasattr(config, "text_config"):
        return
    if TEXT not in inputs.arguments or not has_image_tokens(inputs.arguments, config):
        return
    try:
        parts = inputs.parts or whole_pictures(pixels, config)
        inputs.sequences["text"] = with_grids(text, inputs.arguments, config, parts)
    except NoGridError as error:
        inputs.notes = (*inputs.notes, f"image tokens are shown without a picture: {error}")
        inputs.sequences["text"] = without_grids(text, inputs.arguments, config)


def forward_arguments(network: nn.Module) -> Parameters:
    """The parameters of a network's forward, by name."""
    forward = network.forward
    if not inspect.ismethod(forward):  # a wrapper that belongs to this network alone
        return inspect.signature(forward).parameters
    return _parameters(forward.__func__)


@lru_cache(maxsize=1024)
def _parameters(forward: Callable[..., Any]) -> Parameters:
    every = inspect.signature(forward).parameters
    return {name: each for name, each in every.items() if name != "self"}


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
        tokens = read(model, value)
        ids, mask, kinds = batch(model, tokens)
        inputs.arguments[TEXT] = ids
        if mask is not None:
            inputs.arguments["attention_mask"] = mask
        if kinds is not None and "token_type_ids" in forward_arguments(model.network):
            inputs.arguments["token_type_ids"] = kinds
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


def text_config(config: Any) -> Any:
    """The config of the text that a network reads, which may have another for what it writes."""
    text_encoder = getattr(config, "text_encoder", None)
    return config.get_text_config() if text_encoder is None else text_encoder


def check_ids(model: "Model", ids: Tensor) -> None:
    count = getattr(text_config(model.network.config), "vocab_size", None)
    if count is not None and not 0 <= int(ids.min()) <= int(ids.max()) < count:
        raise ValueError(
            f"ids: expected 0 to {count - 1}, received {int(ids.min())} to {int(ids.max())}"
        )


def read(model: "Model", source: Any, tokenizer: Tokenizer | None = None) -> tuple[Tokens, ...]:
    """Tokenises texts.

    Args:
        model: that reads them.
        source: a text, a pair, or a list of either.
        tokenizer: None for that of the model.

    Raises:
        ValueError: for a model without a tokenizer, or no text at all.
    """
    texts = source if isinstance(source, list) else [source]
    tokenizer = tokenizer or model.tokenizer
    if tokenizer is None:
        raise ValueError(f"{model.name} has no tokenizer: give it ids, or load(tokenizer=...)")
    if not all(isinstance(t, str | tuple) for t in texts):
        raise ValueError(f"{model.name} reads text or ids, received {type(texts[0]).__name__}")
    encode = tokenizer.encode
    tokens = tuple(encode(t) if isinstance(t, str) else encode(*t) for t in texts)
    if not tokens or not all(len(item) for item in tokens):
        raise ValueError("the input is empty: expected at least one token")
    return tokens


def batch(
    model: "Model", tokens: tuple[Tokens, ...]
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Ids, attention mask (None without padding), and token types where the model has them."""
    config, longest = model.network.config, max(len(item) for item in tokens)
    fill = getattr(text_config(config), "pad_token_id", None) or 0
    ids = torch.full((len(tokens), longest), fill)
    mask, kinds = torch.zeros_like(ids), torch.zeros_like(ids)
    for row, item in enumerate(tokens):
        ids[row, : len(item)] = torch.tensor(item.ids)
        kinds[row, : len(item)] = torch.tensor(item.segments)
        mask[row, : len(item)] = 1
    there = int(kinds.max()) < (getattr(config, "type_vocab_size", 0) or 0) and kinds.any()
    return (
        ids.to(model.device),
        None if mask.all() else mask.to(model.device),
        kinds.to(model.device) if there else None,
    )


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


EXTRA_TOKENS = 16  # a model may write this many tokens more than it read
SPOKEN_TOKENS = 224  # longest generated transcript: half of Whisper's positions


def add_target(
    model: "Model", inputs: ModelInputs, target: Any, watch: Watch | None = None
) -> None:
    """Adds the decoder's input: the start token, then the target without its end.

    Ids lose their last one. A text loses the end symbol that the tokenizer adds, and nothing where
    it adds none: the last row then tells what follows the last word.
    """
    if "decoder_input_ids" in inputs.arguments:
        if target is not None:
            raise ValueError("target: expected none beside decoder_input_ids")
        return
    begin = _begin(model)
    if target is None:
        check_eval(model.network)
        with refusing_shapes(model, inputs.arguments):
            rows, note = generate_target(model, inputs, watch)
        inputs.notes = (*inputs.notes, note)
        _add_target_tokens(model, inputs, tuple(map(partial(generated_tokens, model), rows)))
        return
    if isinstance(target, Tensor):
        whole = tuple(tokens_of_ids(row, model.tokenizer)[:-1] for row in target.tolist())
    else:
        texts = read(model, target, target_reader(model))
        begin = _begin_of(model, texts[0], begin)
        whole = tuple(item[:-1] if item.special[-1] else item for item in texts)
    first = _begun(model, begin)
    items = (item[1:] if item.ids[:1] == (begin,) else item for item in whole)
    tokens = tuple(first + item for item in items)
    if len(tokens) != inputs.items:
        raise ValueError(f"target: expected {inputs.items} items, received {len(tokens)}")
    _add_target_tokens(model, inputs, tokens)


def _add_target_tokens(model: "Model", inputs: ModelInputs, tokens: tuple[Tokens, ...]) -> None:
    """Adds tokens that the decoder reads, one entry per item."""
    ids, mask, _ = batch(model, tokens)
    check_ids(model, ids)
    inputs.arguments["decoder_input_ids"] = ids
    if mask is not None:
        inputs.arguments["decoder_attention_mask"] = mask
    inputs.sequences["target"] = text_sequence("target", ids, mask, tokens)


def _into_language(model: "Model") -> dict[str, int]:
    """The setting by which a translator writes in the language that was chosen."""
    if model.targets is None or not model.language:
        return {}
    code = model.targets.id(model.language)
    (item,) = read(model, model.language, model.target_tokenizer)
    begins = _begin_of(model, item, -1) == code
    return {"decoder_start_token_id" if begins else "forced_bos_token_id": code}


def target_reader(model: "Model") -> Tokenizer | None:
    """What reads the targets of a model; None for one that reads ids alone.

    Raises:
        ValueError: for a translator that is not told which of its languages a target is in.
    """
    targets = model.targets
    if model.target_tokenizer is not None or targets is None:
        return model.target_tokenizer or model.tokenizer
    config = getattr(model.network, "generation_config", None)  # without a head there is none
    names = ("forced_bos_token_id", "decoder_start_token_id")
    begins = (getattr(config, name, None) for name in names)
    code = targets.stated or next(filter(None, map(targets.code, begins)), "")
    if targets.codes and not code:
        raise ValueError(
            f"target: choose its language, of which {model.name} writes {len(targets.codes)}; in"
            f" Python, model.into({targets.codes[0]!r})"
        )
    return targets.reader(code)


def _begin_of(model: "Model", target: Tokens, begin: int) -> int:
    """The start token of a target in a language, which may be the code of that language."""
    if not model.languages:
        return begin
    return int(_shifted(model, torch.tensor([target.ids], device=model.device), begin)[0, 0])


def _begun(model: "Model", begin: int) -> Tokens:
    """The start token, labelled."""
    code = "" if model.targets is None else model.targets.code(begin)
    return Tokens.of_ids([begin], {begin: code or "<begin>"})


def _shifted(model: "Model", labels: Tensor, begin: int) -> Tensor:
    """The decoder's input that the model makes of labels."""
    shift = getattr(model.network, "prepare_decoder_input_ids_from_labels", None)
    if shift is not None:
        return shift(labels=labels)
    return torch.cat([torch.full_like(labels[:, :1], begin), labels[:, :-1]], dim=1)


def generated_tokens(model: "Model", ids: Sequence[int]) -> Tokens:
    """Labels of generated ids."""
    return _begun(model, ids[0]) + tokens_of_ids(ids[1:], model.tokenizer)


def _begin(model: "Model") -> int:
    whole = model.network.config
    for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"):
        for config in (whole, whole.get_text_config(decoder=True)):
            if isinstance(getattr(config, name, None), int):
                return getattr(config, name)
    raise ValueError(
        f"{model.name} states no decoder start token: pass a dict with decoder_input_ids"
    )


def _target_limit(config: Any) -> int:
    """The longest target of a model whose config has a limit of its own for it."""
    most = getattr(config, "max_target_positions", None)
    return most if isinstance(most, int) else 10**6


def generate_target(
    model: "Model", inputs: ModelInputs, watch: Watch | None = None
) -> tuple[list[list[int]], str]:
    """What an encoder–decoder writes, greedily.

    Args:
        model: an encoder–decoder.
        inputs: of its encoder.
        watch: what watches it; None for nothing.

    Returns:
        The ids of each item, those that it begins with included, and a note for the trace.

    Raises:
        ValueError: for a network without a language-model head.
    """
    network = model.network
    if network.get_output_embeddings() is None or not network.can_generate():
        raise ValueError(f"{model.name} has no language-model head to generate with: pass a target")
    source = inputs.arguments.get(TEXT)
    heard = any(name in inputs.arguments for name in SOUND)
    most = SPOKEN_TOKENS if heard else EXTRA_TOKENS + (0 if source is None else source.shape[1])
    most = most if inputs.most_written is None else inputs.most_written
    limit = min(model.limit - 1, _target_limit(network.config) - 1, most)
    first = replace(inputs, arguments={**inputs.arguments}, sequences={**inputs.sequences})
    watching = watch(first) if watch is not None and inputs.items == 1 else None
    options: dict[str, Any] = {"return_dict_in_generate": True}
    options["force_unique_generate_call"] = True  # of Whisper: to return what it begins with
    options |= _into_language(model)
    with watching or nullcontext():
        # the start token, and one that is written and not read any more
        out = generate(network, first.arguments, max_length=limit + 2, **options)
    ends, rows, ended = ends_of(network.generation_config), [], True
    for row in out.sequences.tolist():
        end = next((place for place, id in enumerate(row) if place and id in ends), None)
        ended &= end is not None
        rows.append(row[: len(row) - 1 if end is None else end])
    note = f"target: generated by the model, {greedily(network)}"
    return rows, note if ended else f"{note}; cut off after {max(map(len, rows)) - 1} tokens"
