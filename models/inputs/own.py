"""The arguments of our own networks, from inputs by the names that transformers uses."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Int
from torch import Tensor

from models.encoder import Encoder
from models.inputs.layout import Layout, unread_note
from models.inputs.sequences import (
    InputSequence,
    ModelInputs,
    check_ids,
    check_tokens,
    layout_sequence,
    padded,
    padded_ids,
    read_texts,
)
from models.inputs.vectors import right_padding
from models.layer import AttentionLayer
from models.picture_grid import cells_box
from models.seq2seq import Seq2Seq
from models.ssru import Translator
from models.text import Tokenizer, Tokens, tokens_of_ids
from models.vit import ViT

if TYPE_CHECKING:
    from models.model import Model

TEXT, IMAGE = "input_ids", "pixel_values"
MASK, SEGMENTS = "attention_mask", "token_type_ids"
EXTRA_TOKENS = 10  # tokens that a model may write beyond the length of its source
Names = Mapping[int, str]


def names_of(network: Any) -> tuple[str, ...]:
    """The inputs that one of our networks reads."""
    return (IMAGE,) if isinstance(network, ViT) else (TEXT, MASK, SEGMENTS)


def own_inputs(model: "Model", given: ModelInputs, target: Any) -> ModelInputs:
    """What a network is given, of an input by name.

    Args:
        model: one of our networks.
        given: the input, with its sequence where that is a text.
        target: of an encoder–decoder; None generates it.

    Raises:
        ValueError: for an input that the network cannot read.
    """
    network, notes = model.network, tuple[str, ...]()
    if isinstance(network, ViT):
        return _of_image(model, network, given)
    if TEXT not in given.arguments:
        raise ValueError(f"{model.name}: expected a dict with {TEXT} or {IMAGE}")
    tokens = _tokens(model, given)
    ids, padding = padded_ids(model, tokens)
    text = InputSequence(tokens, ids.shape[1])
    if isinstance(network, Seq2Seq | Translator):
        theirs, notes = _shifted(model, network, ids, target)
        into, _ = padded_ids(model, theirs)
        arguments = {"source": ids, "target": into}
    elif isinstance(network, AttentionLayer):
        theirs = tokens if target is None else _read(model, target, model.tokenizer, {})
        into, hidden = padded_ids(model, theirs)
        arguments = {"source": ids, "target": into, "padding": padding, "query_padding": hidden}
    else:
        arguments = {"ids": ids, "padding": padding}
        if isinstance(network, Encoder):
            arguments["segments"] = padded(tokens, "segments").to(model.device)
        return ModelInputs(arguments, {"text": text})
    if len(theirs) != len(tokens):
        raise ValueError(f"target: expected {len(tokens)} items, received {len(theirs)}")
    check_ids(model, into, "target")
    second = InputSequence(theirs, into.shape[1])
    return ModelInputs(arguments, {"text": text, "target": second}, notes)


def _tokens(model: "Model", given: ModelInputs) -> tuple[Tokens, ...]:
    """The tokens of each item, without padding, in their segments."""
    network: Any = model.network
    ids, tokens = given.arguments[TEXT], given.sequences["text"].tokens
    for name in {MASK, SEGMENTS} & given.arguments.keys():
        shape = tuple(given.arguments[name].shape)
        if shape != ids.shape:
            raise ValueError(f"{name}: expected {tuple(ids.shape)}, received {shape}")
    if MASK in given.arguments:
        right_padding(MASK, given.arguments[MASK] == 0)
    elif isinstance(network, Seq2Seq | Translator):
        tokens = check_tokens(tuple(_without_end(each, network.config.padding) for each in tokens))
    if SEGMENTS in given.arguments:
        rows = zip(tokens, given.arguments[SEGMENTS].tolist(), strict=True)
        tokens = tuple(replace(each, segments=tuple(row[: len(each)])) for each, row in rows)
    count = 1 + max(max(item.segments) for item in tokens)
    known = network.config.segments if isinstance(network, Encoder) else 0
    if count > max(1, known) and (known or SEGMENTS in given.arguments):
        raise ValueError(f"segments: {model.name} reads at most {known or 1}, received {count}")
    return tokens


def _of_image(model: "Model", network: ViT, given: ModelInputs) -> ModelInputs:
    pixels = given.arguments.get(IMAGE)
    if pixels is None or not pixels.is_floating_point() or pixels.ndim != 4 or not len(pixels):
        received = None if pixels is None else f"{pixels.dtype} {tuple(pixels.shape)}"
        expected = f"expected floats, batch channel row col, received {received}"
        raise ValueError(f"{model.name} reads pixels: {expected}")
    grid, size = network.patches.grid(pixels.shape), (pixels.shape[-2], pixels.shape[-1])
    box = cells_box(grid, network.patches.patch, size)
    layout = Layout(*grid, before=network.config.prefix, box=box)
    notes = network.positions.note(grid), unread_note(box, size)
    sequences = {"image": layout_sequence(layout, len(pixels))}
    return ModelInputs({"pixels": pixels}, sequences, (*given.notes, *filter(None, notes)))


# --- source and target --------------------------------------------------------------------------


def _read(
    model: "Model", target: Any, reader: Tokenizer | None, names: Names
) -> tuple[Tokens, ...]:
    """The tokens of a target: texts, or ids."""
    if not isinstance(target, Tensor):
        return read_texts(model.name, target, reader, "target")
    check_ids(model, target, "target")
    return tuple(tokens_of_ids(row, reader, names) for row in target.tolist())


def _shifted(
    model: "Model", network: Seq2Seq | Translator, source: Tensor, target: Any
) -> tuple[tuple[Tokens, ...], tuple[str, ...]]:
    """The target shifted right by one, and a note where the model writes it."""
    config, reader, notes = network.config, model.target_tokenizer, tuple[str, ...]()
    names = {config.padding: "<padding>", config.begin: "<begin>", config.end: "<end>"}
    if target is None:
        rows, note = _written(network, source)
        items, notes = [tokens_of_ids(row, reader, names) for row in rows], (note,)
    elif isinstance(target, Tensor):
        given = _read(model, target, reader, names)
        items = [_without_end(item, config.padding)[:-1] for item in given]
    else:
        given = _read(model, target, reader, names)
        items = [item[:-1] if item.ids[-1] == config.end else item for item in given]
    begin = Tokens.of_ids([config.begin], {config.begin: "<begin>"})
    return tuple(begin + item for item in items), notes


def _without_end(item: Tokens, padding: int) -> Tokens:
    """An item without the padding at its end."""
    while item.ids and item.ids[-1] == padding:
        item = item[:-1]
    return item


def _written(network: Seq2Seq | Translator, source: Tensor) -> tuple[list[list[int]], str]:
    """Greedy generation: what the decoder reads of each item, and a note for the trace."""
    config = network.config
    limit = min(config.max_tokens, source.shape[1] + EXTRA_TOKENS)
    rows, note = greedy(network, source, limit).tolist(), "target: generated by the model, greedily"
    if any(config.end not in row for row in rows):
        note += f"; cut off after {limit} tokens"
    return [row[: row.index(config.end) if config.end in row else -1] for row in rows], note


@torch.no_grad()
def greedy(
    network: Seq2Seq | Translator, source: Int[Tensor, "batch key"], limit: int
) -> Int[Tensor, "batch step"]:
    """What an encoder–decoder in eval mode writes: the likeliest id each time, until every item has
    ended. One that has ended goes on with ids that do not matter until the others have, too."""
    target, encoder = torch.full_like(source[:, :1], network.config.begin), None
    for _ in range(limit):
        out = network(source, target, encoder=encoder)
        logits, encoder = out.logits[:, -1], out.encoder
        if isinstance(network, Seq2Seq):  # a translator has no logit for padding
            logits[:, network.config.padding] = -torch.inf
        target = torch.cat([target, logits.argmax(-1, keepdim=True)], 1)
        if bool((target[:, 1:] == network.config.end).any(1).all()):
            break
    return target[:, 1:]
