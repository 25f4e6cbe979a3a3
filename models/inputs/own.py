"""Prepares inputs for our networks: text or ids, source and target, an image, or vectors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.decode import greedy
from models.decoder import Decoder
from models.encoder import Encoder
from models.inputs.layout import unread_note
from models.inputs.named import as_tensor, as_tensors
from models.inputs.prompt import Prompt, plain
from models.inputs.texts import check_texts, padded, read_texts
from models.inputs.vectors import read_vectors, right_padding
from models.layer import AttentionLayer
from models.model import Model
from models.picture_grid import Box, cells_box
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

Text = str | tuple[str, str]
Pixels = Float[Tensor, "batch channel row col"]
Vectors = Float[Tensor, "token dim"] | Float[Tensor, "batch token dim"]
Ids = Int[Tensor, "batch token"]
Input = Text | list[str] | list[Text] | Ids | Pixels | Vectors | Path | np.ndarray
Target = str | list[str] | Int[Tensor, "batch target"] | None
EXTRA_TOKENS = 10  # tokens that a model may write beyond the length of its source
NAMES = ("input_ids", "attention_mask", "token_type_ids", "pixel_values")  # in a mapping


@dataclass(frozen=True, eq=False)
class Inputs:
    """One prepared input.

    Attributes:
        arguments: keyword arguments of forward.
        tokens: one entry per item of the batch.
        picture: rows and columns of patches, and the area of the picture that they cover; None for
            text.
        prefix: number of tokens before the patches.
        notes: how the input was changed, for display.
        target_tokens: input of the decoder of an encoder–decoder, one entry per item.
    """

    arguments: dict[str, Any]
    tokens: tuple[Tokens, ...]
    picture: tuple[tuple[int, int], Box] | None = None
    prefix: int = 0
    notes: tuple[str, ...] = ()
    target_tokens: tuple[Tokens, ...] | None = None


def prepare_inputs(
    model: Model, source: "Input | Image | Prompt | Mapping[str, Any]", target: Target = None
) -> Inputs:
    """Prepares an input for the model.

    Args:
        model: one of our networks.
        source: the input; a mapping has the names that transformers uses, in a dict, a
            `BatchEncoding` or a `BatchFeature`.
        target: for the decoder of an encoder–decoder; None generates it.

    Raises:
        ValueError: for an input the model cannot read.
    """
    network, target = model.network, as_tensor(target)
    read = plain(model, source) if isinstance(source, Prompt) else as_tensor(source)
    if target is not None and not isinstance(network, Seq2Seq | Translator | AttentionLayer):
        raise ValueError(f"target: expected none, {model.name} is no encoder–decoder")
    if isinstance(network, VectorEncoder):
        arguments, tokens, notes = read_vectors(model, read)
        return Inputs(arguments, tokens, notes=notes)
    read = _by_name(model, read) if isinstance(read, Mapping) else read
    if isinstance(network, ViT):
        return _of_image(model, network, read)
    if isinstance(network, Seq2Seq | Translator):
        return _of_pair(model, network, read, target)
    if isinstance(network, AttentionLayer):
        return _of_two(model, read, target)
    return _of_text(model, network, read)


def _by_name(model: Model, source: Mapping[str, Any]) -> Tensor | tuple[Tokens, ...]:
    """The pixels of a mapping, or the tokens of its ids, without their padding."""
    given = as_tensors(source)
    if unknown := sorted(set(given) - set(NAMES)):
        raise ValueError(f"{model.name} does not read {', '.join(unknown)}")
    if "pixel_values" in given:
        return given["pixel_values"]
    ids, network = given.get("input_ids"), model.network
    if not isinstance(ids, Tensor) or isinstance(network, ViT):
        raise ValueError(f"{model.name}: expected a dict with input_ids or pixel_values")
    mask = given.get("attention_mask", torch.ones_like(ids))
    kinds = given.get("token_type_ids", torch.zeros_like(ids))
    for name, other in (("attention_mask", mask), ("token_type_ids", kinds)):
        if other.shape != ids.shape:
            raise ValueError(f"{name}: expected {tuple(ids.shape)}, received {tuple(other.shape)}")
    if kinds.any() and not (isinstance(network, Encoder) and network.config.segments):
        raise ValueError(f"token_type_ids: {model.name} does not distinguish segments")
    right_padding("attention_mask", ~mask.bool())
    counts, tokens = mask.bool().sum(1).tolist(), []
    for row, segments, count in zip(ids.tolist(), kinds.tolist(), counts, strict=True):
        item = tokens_of_ids(row[:count], model.tokenizer)
        tokens.append(replace(item, segments=tuple(segments[:count])))
    return tuple(tokens)


# --- text ---------------------------------------------------------------------------------------


def _of_text(model: Model, network: Any, source: Any) -> Inputs:
    tokens = _read(model, source, model.tokenizer, network.config.vocab)
    arguments = {"ids": padded(tokens).to(model.device), "padding": _padding(model, tokens)}
    if isinstance(network, Decoder | Smallest):
        return Inputs(arguments, tokens)
    most, count = network.config.segments, 1 + max(max(item.segments) for item in tokens)
    if most and count > most:
        raise ValueError(f"{model.name} distinguishes {most} segments, received {count}")
    return Inputs({**arguments, "segments": padded(tokens, "segments").to(model.device)}, tokens)


def _read(
    model: Model,
    source: Any,
    tokenizer: Tokenizer | None,
    vocab: int,
    side: str = "",
    names: Mapping[int, str] | None = None,
) -> tuple[Tokens, ...]:
    """Tokenises one side of the input.

    Args:
        model: that reads it.
        source: texts, ids or tokens.
        tokenizer: of this side.
        vocab: size of its vocabulary.
        side: in front of error messages.
        names: labels of special ids; the first is that of padding, which is cut off.

    Raises:
        ValueError: for anything the model cannot read.
    """
    if isinstance(source, Tensor) and source.is_floating_point():
        raise ValueError(f"{model.name} reads text or ids: expected whole numbers, received pixels")
    if isinstance(source, Tensor):
        source = tuple(tokens_of_ids(row, tokenizer, names or {}) for row in source.tolist())
    what, tokens = side or "the input", source
    if not isinstance(source, tuple) or not all(isinstance(each, Tokens) for each in source):
        tokens = read_texts(model.name, source, tokenizer, what)
    elif names:
        tokens = tuple(_without_end(item, next(iter(names))) for item in source)
    check_texts(tokens, what)
    least, most = min(min(item.ids) for item in tokens), max(max(item.ids) for item in tokens)
    if least < 0 or most >= vocab:
        expected = f"expected 0 to {vocab - 1}, received {least} to {most}"
        raise ValueError(f"{side} ids: {expected}".lstrip())
    return _fits(model, tokens, side and f"{side}: ")


def _fits(model: Model, tokens: tuple[Tokens, ...], what: str = "") -> tuple[Tokens, ...]:
    longest = max(map(len, tokens))
    if longest > model.limit:
        raise ValueError(
            f"{what}{model.name} reads at most {model.limit} tokens, received {longest}"
        )
    return tokens


def _without_end(item: Tokens, padding: int) -> Tokens:
    count = len(item)
    while count and item.ids[count - 1] == padding:
        count -= 1
    return item[:count]


def _padding(model: Model, tokens: tuple[Tokens, ...]) -> Tensor | None:
    """True at padding; None without any."""
    padding = TokenAxis(tokens).padding(max(map(len, tokens)))
    return None if padding is None else padding.to(model.device)


# --- source and target --------------------------------------------------------------------------


def _of_pair(model: Model, network: Seq2Seq | Translator, source: Any, target: Any) -> Inputs:
    """Source and target; the target is shifted right by one."""
    config = network.config
    padding = {config.padding: "<padding>"}
    names = {**padding, config.begin: "<begin>", config.end: "<end>"}
    tokens = _read(model, source, model.tokenizer, config.source_vocab, "", padding)
    ids = padded(tokens, fill=config.padding).to(model.device)
    notes: tuple[str, ...] = ()
    if target is None:
        written, note = _written(network, ids)
        spelled = (tokens_of_ids(row, model.target_tokenizer, names) for row in written)
        whole, notes = tuple(spelled), (note,)
    else:
        reader = model.target_tokenizer
        whole = _read(model, target, reader, config.target_vocab, "target", names)
        if not isinstance(target, Tensor):
            whole = tuple(_ended(item, config.end, names) for item in whole)
    if len(whole) != len(tokens):
        raise ValueError(f"target: expected {len(tokens)} items, received {len(whole)}")
    begin = Tokens.of_ids([config.begin], {config.begin: "<begin>"})
    shifted = _fits(model, tuple(begin + item[:-1] for item in whole), "target with <begin>: ")
    into = padded(shifted, fill=config.padding).to(model.device)
    return Inputs({"source": ids, "target": into}, tokens, notes=notes, target_tokens=shifted)


def _of_two(model: Model, source: Any, target: Any) -> Inputs:
    """Keys and values from the source, queries from the target; without one, from the source."""
    reader, vocab = model.tokenizer, model.network.config.vocab
    tokens = _read(model, source, reader, vocab)
    theirs = tokens if target is None else _read(model, target, reader, vocab, "target")
    if len(theirs) != len(tokens):
        raise ValueError(f"target: expected {len(tokens)} items, received {len(theirs)}")
    arguments = {
        "source": padded(tokens).to(model.device),
        "target": padded(theirs).to(model.device),
        "padding": _padding(model, tokens),
        "query_padding": _padding(model, theirs),
    }
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


# --- images -------------------------------------------------------------------------------------


def _of_image(model: Model, network: ViT, source: Any) -> Inputs:
    from models.inputs.pictures import processed, with_channels

    notes: tuple[str, ...] = ()
    if not isinstance(source, Tensor):
        result = processed(model.preprocessing or default_preprocessing(network.config), source)
        source, notes = with_channels(model, result.pixels), result.notes
    if not source.is_floating_point() or source.ndim != 4 or not len(source):
        raise ValueError(
            f"{model.name} reads pixels: expected floats, batch channel row col,"
            f" received {source.dtype} {tuple(source.shape)}"
        )
    pixels = source.to(model.device, next(network.parameters()).dtype)
    rows, cols = network.patches.grid(pixels.shape)
    prefix = network.config.prefix
    tokens = Tokens.of_patches(prefix, rows, cols)
    size = pixels.shape[-2], pixels.shape[-1]
    box = cells_box((rows, cols), network.patches.patch, size)
    more = network.positions.note((rows, cols)), unread_note(box, size)
    picture, items = ((rows, cols), box), (tokens,) * len(pixels)
    return Inputs({"pixels": pixels}, items, picture, len(prefix), (*notes, *filter(None, more)))
