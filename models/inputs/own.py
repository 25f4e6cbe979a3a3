"""Prepares inputs for our networks: text or ids, source and target, an image, or vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.attention.edit_protocols import PixelsEdit
from models.decode import greedy
from models.decoder import Decoder
from models.encoder import Encoder
from models.inputs import vectors
from models.inputs.edited import edited_within
from models.inputs.layout import unread_note
from models.inputs.named import as_tensor, as_tensors
from models.inputs.prompt import Prompt, plain
from models.layer import AttentionLayer
from models.model import Model
from models.picture_grid import WHOLE, Box, cells_box
from models.preprocessing import default_preprocessing
from models.seq2seq import Seq2Seq
from models.smallest import Smallest
from models.ssru import Translator
from models.text import Tokenizer, Tokens, tokens_of_ids
from models.trace import TokenAxis
from models.vector_encoder import VectorEncoder
from models.vit import ViT

if TYPE_CHECKING:
    from PIL.Image import Image

    from models.model import Model

Text = str | tuple[str, str]
Pixels = Float[Tensor, "batch channel row col"]
Vectors = Float[Tensor, "token dim"] | Float[Tensor, "batch token dim"]
Ids = Int[Tensor, "batch token"]
Input = Text | list[str] | list[Text] | Ids | Pixels | Vectors | Path | np.ndarray
Target = str | list[str] | Int[Tensor, "batch target"] | None
EXTRA_TOKENS = 10  # tokens that a model may write beyond the length of its source


@dataclass(frozen=True, eq=False)
class Inputs:
    """One prepared input.

    Attributes:
        arguments: keyword arguments of forward.
        tokens: one entry per item of the batch.
        grid: rows and columns of patches; None for text.
        prefix: number of tokens before the patches.
        box: the area of the picture that the patches cover.
        notes: how the input was changed, for display.
        target_tokens: input of the decoder of an encoder–decoder, one entry per item.
    """

    arguments: dict[str, Any]
    tokens: tuple[Tokens, ...]
    grid: tuple[int, int] | None = None
    prefix: int = 0
    box: Box = WHOLE
    notes: tuple[str, ...] = ()
    target_tokens: tuple[Tokens, ...] | None = None


def prepare_inputs(model: Model, source: "Input | Image | Prompt", target: Target = None) -> Inputs:
    """Prepares an input for the model.

    Args:
        model: one of our networks.
        source: the input.
        target: for the decoder of an encoder–decoder; None generates it.

    Raises:
        ValueError: for an input the model cannot read.
    """
    source = plain(model, source) if isinstance(source, Prompt) else source
    source, target = as_tensor(source), as_tensor(target)
    if isinstance(model.network, Seq2Seq | Translator):
        return _of_pair(model, model.network, source, target)
    if isinstance(model.network, AttentionLayer):
        return _of_two(model, source, target)
    _no_target(model, target)
    if isinstance(model.network, ViT):
        return _of_image(model, model.network, source)
    if isinstance(model.network, VectorEncoder):
        return _of_vectors(vectors.read_tensor(model, source))
    return _of_text(model, source)


def _no_target(model: Model, target: Target) -> None:
    if target is not None:
        raise ValueError(f"target: expected none, {model.name} is no encoder–decoder")


# --- text ---------------------------------------------------------------------------------------


def _of_text(model: Model, source: Any) -> Inputs:
    config: Any = model.network.config
    tokens = read(model, source, TextSpec(model.tokenizer, config.vocab))
    _fits(model, tokens)
    ids, padding = batch(tokens, model.device)
    if isinstance(model.network, Decoder | Smallest):
        return Inputs({"ids": ids, "padding": padding}, tokens)
    segment = max(max(item.segments) for item in tokens)
    if config.segments and segment >= config.segments:
        raise ValueError(
            f"{model.name} distinguishes {config.segments} segments, received {segment + 1}"
        )
    segments, _ = batch(tokens, model.device, of="segments")
    return Inputs({"ids": ids, "padding": padding, "segments": segments}, tokens)


@dataclass(frozen=True)
class TextSpec:
    """How text is read on the source or target side.

    Attributes:
        tokenizer: of this side; None if it only takes ids.
        vocab: size of the vocabulary.
        name: prefix of error messages.
        padding: the padding id; None if there is none.
        names: labels of special ids.
    """

    tokenizer: Tokenizer | None
    vocab: int
    name: str = ""
    padding: int | None = None
    names: Mapping[int, str] = field(default_factory=dict)


def read(model: Model, source: Any, spec: TextSpec) -> tuple[Tokens, ...]:
    """Tokenises the input.

    Raises:
        ValueError: for anything the model cannot read.
    """
    if isinstance(source, Tensor) and source.is_floating_point():
        raise ValueError(f"{model.name} reads text or ids: expected whole numbers, received pixels")
    if isinstance(source, Tensor):
        tokens = tuple(_labelled(row, spec) for row in source.tolist())
    else:
        texts = source if isinstance(source, list) else [source]
        if spec.tokenizer is None:
            raise ValueError(f"{model.name} has no tokenizer: give it ids, or load(tokenizer=...)")
        encode = spec.tokenizer.encode
        tokens = tuple(encode(t) if isinstance(t, str) else encode(*t) for t in texts)
    if not tokens or not all(len(item) for item in tokens):
        raise ValueError(f"{spec.name or 'the input'} is empty: expected at least one token")
    worst = max(max(item.ids) for item in tokens), min(min(item.ids) for item in tokens)
    if worst[0] >= spec.vocab or worst[1] < 0:
        raise ValueError(
            f"{spec.name and spec.name + ' '}ids: expected 0 to {spec.vocab - 1},"
            f" received {worst[1]} to {worst[0]}"
        )
    return tokens


def _fits(model: Model, tokens: tuple[Tokens, ...], what: str = "") -> None:
    longest = max(len(item) for item in tokens)
    if longest > model.limit:
        raise ValueError(
            f"{what}{model.name} reads at most {model.limit} tokens, received {longest}"
        )


def _labelled(ids: list[int], spec: TextSpec) -> Tokens:
    """An item's tokens without trailing padding."""
    while ids and ids[-1] == spec.padding:
        ids = ids[:-1]
    return tokens_of_ids(ids, spec.tokenizer, spec.names)


def batch(
    tokens: tuple[Tokens, ...], device: torch.device, *, of: str = "ids", fill: int = 0
) -> tuple[Tensor, Tensor | None]:
    """A field of the tokens as one padded tensor, and True at padding."""
    longest = max(len(item) for item in tokens)
    numbers = torch.full((len(tokens), longest), fill)
    for row, item in enumerate(tokens):
        numbers[row, : len(item)] = torch.tensor(getattr(item, of))
    padding = TokenAxis(tokens).padding(longest)
    return numbers.to(device), None if padding is None else padding.to(device)


# --- source and target --------------------------------------------------------------------------


def _of_pair(model: Model, network: Seq2Seq | Translator, source: Any, target: Any) -> Inputs:
    """Source and target; the target is shifted right by one."""
    config = network.config
    names = {config.padding: "<padding>", config.begin: "<begin>", config.end: "<end>"}
    mine = TextSpec(
        model.tokenizer, config.source_vocab, "", config.padding, {config.padding: "<padding>"}
    )
    theirs = TextSpec(model.target_tokenizer, config.target_vocab, "target", config.padding, names)
    tokens = read(model, source, mine)
    _fits(model, tokens)
    ids, _ = batch(tokens, model.device, fill=config.padding)
    notes: tuple[str, ...] = ()
    if target is None:
        written, note = _written(network, ids)
        spelled = (tokens_of_ids(row, model.target_tokenizer, names) for row in written)
        whole, notes = tuple(spelled), (note,)
    else:
        whole = read(model, target, theirs)
        if not isinstance(target, Tensor):
            whole = tuple(_ended(item, config.end, names) for item in whole)
    if len(whole) != len(tokens):
        raise ValueError(f"target: expected {len(tokens)} items, received {len(whole)}")
    begin = Tokens.of_ids([config.begin], {config.begin: "<begin>"})
    shifted = tuple(begin + item[:-1] for item in whole)
    _fits(model, shifted, "target with <begin>: ")
    into, _ = batch(shifted, model.device, fill=config.padding)
    return Inputs({"source": ids, "target": into}, tokens, notes=notes, target_tokens=shifted)


def _of_two(model: Model, source: Any, target: Any) -> Inputs:
    """Keys and values from the source, queries from the target; without one, from the source."""
    spec = TextSpec(model.tokenizer, model.network.config.vocab)
    tokens = read(model, source, spec)
    theirs = tokens if target is None else read(model, target, replace(spec, name="target"))
    if len(theirs) != len(tokens):
        raise ValueError(f"target: expected {len(tokens)} items, received {len(theirs)}")
    _fits(model, tokens)
    _fits(model, theirs, "target: ")
    ids, padding = batch(tokens, model.device)
    into, rows = batch(theirs, model.device)
    arguments = {"source": ids, "target": into, "padding": padding, "query_padding": rows}
    return Inputs(arguments, tokens, target_tokens=theirs)


def _ended(item: Tokens, end: int, names: Mapping[int, str]) -> Tokens:
    """A text with the end token appended, unless its tokenizer did."""
    return item if item.ids[-1] == end else item + Tokens.of_ids([end], names)


def _written(network: Seq2Seq | Translator, source: Tensor) -> tuple[list[list[int]], str]:
    """Greedy generation: each item's ids up to its end token, and a note for the trace."""
    config = network.config
    limit = min(config.max_tokens, source.shape[1] + EXTRA_TOKENS)
    steps = [step.ids for step in greedy(network, source, limit=limit)]
    items = torch.stack(steps, dim=1).tolist()
    whole = [row[: row.index(config.end) + 1] if config.end in row else row for row in items]
    note = "target: generated by the model, greedily"
    if any(row[-1] != config.end for row in whole):
        note += f"; cut off after {limit} tokens"
    return whole, note


def _of_vectors(read: vectors.Vectors) -> Inputs:
    return Inputs(read.arguments, read.tokens, notes=read.notes)


# --- images -------------------------------------------------------------------------------------


def edited(model: Model, inputs: Inputs, edits: Sequence[PixelsEdit]) -> Inputs:
    """The input with the edits of pixels, in order.

    Raises:
        ValueError: for an input that is no picture.
    """
    for edit in edits:
        if inputs.grid is None:
            raise ValueError(f"{edit}: {model.name} reads no picture")
        pixels = edited_within(inputs.arguments["pixels"], edit, inputs.grid, inputs.box)
        inputs = replace(inputs, arguments={**inputs.arguments, "pixels": pixels})
    return inputs


def _of_image(model: Model, network: ViT, source: Any) -> Inputs:
    pixels, notes = _pixels(model, network, source)
    pixels = pixels.to(model.device, next(network.parameters()).dtype)
    rows, cols = network.patches.grid(pixels.shape)
    prefix = network.config.prefix
    tokens = Tokens.of_patches(prefix, rows, cols)
    size = pixels.shape[-2], pixels.shape[-1]
    box = cells_box((rows, cols), network.patches.patch, size)
    more = network.positions.note((rows, cols)), unread_note(box, size)
    return Inputs(
        {"pixels": pixels},
        (tokens,) * len(pixels),
        (rows, cols),
        len(prefix),
        box,
        (*notes, *filter(None, more)),
    )


def _pixels(model: Model, network: ViT, source: Any) -> tuple[Tensor, tuple[str, ...]]:
    """Pixels `batch channel row col`, and notes on the preprocessing."""
    if isinstance(source, Tensor):
        if source.ndim != 4 or not source.is_floating_point() or not len(source):
            raise ValueError(
                f"{model.name} reads pixels: expected floats, batch channel row col,"
                f" received {source.dtype} {tuple(source.shape)}"
            )
        return source, ()
    from models.inputs.pictures import processed, with_channels

    preprocessing = model.preprocessing or default_preprocessing(network.config)
    result = processed(preprocessing, source)
    return with_channels(model, result.pixels), result.notes


NAMES = ("input_ids", "attention_mask", "token_type_ids", "pixel_values")


def prepare_mapping(model: "Model", source: Mapping[str, Any], target: Target = None) -> Inputs:
    """Inputs of our network by the names that transformers uses.

    Args:
        model: one of our networks.
        source: a dict, a `BatchEncoding`, a `BatchFeature` or another mapping.
        target: for the decoder of an encoder–decoder; None generates it.

    Raises:
        ValueError: for other names, or padding that is not at the end.
    """
    if isinstance(model.network, VectorEncoder):
        _no_target(model, target)
        return _of_vectors(vectors.read_mapping(model, source))
    given = as_tensors(source)
    unknown = sorted(set(given) - set(NAMES))
    if unknown:
        raise ValueError(f"{model.name} does not read {', '.join(unknown)}")
    if "pixel_values" in given:
        return prepare_inputs(model, given["pixel_values"], target)
    ids, network = given.get("input_ids"), model.network
    if not isinstance(ids, Tensor):
        raise ValueError(f"{model.name}: expected a dict with input_ids or pixel_values")
    padding = _right_padding(ids, given.get("attention_mask"))
    if isinstance(network, Seq2Seq | Translator):
        _one_segment(model, given.get("token_type_ids"))
        fill = network.config.padding
        return prepare_inputs(
            model, ids if padding is None else ids.masked_fill(padding, fill), target
        )
    whole = prepare_inputs(model, ids, target)
    counts = [ids.shape[1]] * len(ids) if padding is None else (~padding).sum(1).tolist()
    pairs = zip(whole.tokens, counts, strict=True)
    tokens = tuple(item[:count] for item, count in pairs)
    padding = None if padding is None else padding.to(model.device)
    arguments, target_tokens = {**whole.arguments, "padding": padding}, whole.target_tokens
    if target_tokens is whole.tokens:  # queries from the source
        arguments["query_padding"], target_tokens = padding, tokens
    segments = given.get("token_type_ids")
    if isinstance(network, Encoder) and network.config.segments and segments is not None:
        _check_segments(model, segments, ids)
        arguments["segments"] = segments.to(model.device)
    else:
        _one_segment(model, segments)
    return Inputs(arguments, tokens, target_tokens=target_tokens)


def _right_padding(ids: Tensor, mask: Tensor | None) -> Tensor | None:
    """True at padding, all of it on the right; None without any."""
    if mask is None:
        return None
    if mask.shape != ids.shape:
        raise ValueError(
            f"attention_mask: expected {tuple(ids.shape)}, received {tuple(mask.shape)}"
        )
    return vectors.right_padding("attention_mask", ~mask.bool().to(ids.device))


def _check_segments(model: "Model", segments: Tensor, ids: Tensor) -> None:
    most = model.network.config.segments - 1
    inside = segments.shape == ids.shape and 0 <= int(segments.min()) <= int(segments.max()) <= most
    if not inside:
        raise ValueError(f"token_type_ids: expected 0 to {most} of shape {tuple(ids.shape)}")


def _one_segment(model: "Model", segments: Tensor | None) -> None:
    if segments is not None and bool(segments.any()):
        raise ValueError(f"token_type_ids: {model.name} does not distinguish segments")
