"""The residual stream of our networks, component by component."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from models.attention import Edit, MultiHeadAttention, Pattern
from models.attention.edit_protocols import MlpEdit
from models.blocks import (
    Both,
    PostNormBlock,
    PostNormDecoderBlock,
    PreNormBlock,
    PreNormDecoderBlock,
)
from models.decoder import Decoder
from models.edits.routing import at, edited_mlp
from models.encoder import Encoder
from models.eval_mode import evaluating
from models.model import Network
from models.projections import Norm, identity, split_columns
from models.seq2seq import Seq2Seq, Seq2SeqOutput
from models.ssru import Translator, TranslatorOutput
from models.stream import (
    EMBEDDING,
    POSITIONS,
    SEGMENTS,
    TOKENS,
    Normed,
    Stream,
    Write,
    attention_steps,
    head_writes,
    mlp_name,
    total,
)
from models.where import Where

Step = Write | Normed
Rows = Float[Tensor, "token dim"]


@torch.no_grad()
def stream_at(
    network: Network,
    arguments: Mapping[str, Any],
    edits: Sequence[Edit],
    tower: str | None,
    layer: int | None,
    item: int,
    places: Int[Tensor, " token"],
) -> Stream:
    """The residual stream of some tokens where a block reads it, from one more pass.

    Args:
        network: one of ours.
        arguments: of its forward.
        edits: of the pass.
        tower: of the block.
        layer: number of the block; None is behind the last one.
        item: index in the batch.
        places: which tokens.
    """
    if isinstance(network, Translator) and tower == "decoder":
        raise ValueError("expected a stream of attention and MLP: this decoder is recurrent")
    network = evaluating(network)
    out = network(**arguments, edits=edits)
    part, blocks, states, patterns = network, getattr(network, "blocks", ()), out.states, []
    ids = arguments.get("ids")
    if isinstance(out, TranslatorOutput) and isinstance(network, Translator):
        part, blocks, out = network.encoder, network.encoder.blocks, out.encoder
        states, patterns, ids = out.states, out.patterns, arguments["source"]
    elif isinstance(out, Seq2SeqOutput) and isinstance(network, Seq2Seq):
        patterns, ids = out.blocks, arguments["target"]
        if tower == "encoder":
            part, blocks, out = network.encoder, network.encoder.blocks, out.encoder
            states, patterns, ids = out.states, out.patterns, arguments["source"]
    else:
        patterns = out.patterns
    last = len(states) - 1 if layer is None else layer
    changed = [_mlp_edits(edits, network.sites, tower, each) for each in range(last)]
    whole = torch.arange(states[0].shape[1], device=places.device)
    rows = whole if any(changed) else places  # an edit may read other tokens
    first = states[0][item, rows]
    steps = [*_embedding(part, ids, arguments.get("segments"), item, rows, first)]
    for each in range(last):
        x = states[each][item, rows]
        steps += _block(blocks[each], each, x, patterns[each], item, rows, changed[each])
    if rows is whole:
        steps = [Write(s.name, s.vectors[places]) if isinstance(s, Write) else s for s in steps]
    return Stream(tuple(steps), states[last][item, places])


def _mlp_edits(
    edits: Sequence[Edit], sites: Sequence[Where], tower: str | None, layer: int
) -> list[Edit]:
    """The edits of the feed-forward network of a layer."""
    site = next(each for each in sites if (each.tower, each.layer) == (tower, layer))
    return [edit for edit in at(edits, site) if isinstance(edit, MlpEdit)]


# --- what the first block reads -----------------------------------------------------------------


def _embedding(
    part: nn.Module,
    ids: Tensor | None,
    segments: Tensor | None,
    item: int,
    places: Tensor,
    first: Rows,
) -> Iterable[Step]:
    """Tokens, positions and segments; of other inputs, what the first block reads as it is."""
    if isinstance(part, Encoder) and ids is not None:
        scale = part.config.dim**0.5 if part.config.embed_scale else 1.0
        tokens, norm = part.tokens(ids[item : item + 1]) * scale, part.embed_norm
    elif isinstance(part, Decoder | Seq2Seq) and ids is not None:
        tokens = part.embedding.tokens(ids[item : item + 1]) * part.embedding.factor
        norm, part = part.embedding.norm, part.embedding
    else:
        yield Write(EMBEDDING, first)
        return
    yield Write(TOKENS, tokens[0, places])
    if isinstance(part, Encoder) and part.segments is not None:
        kinds = torch.zeros_like(ids) if segments is None else segments
        yield Write(SEGMENTS, part.segments(kinds[item, places]))
    positions: Any = part.positions
    there = positions(tokens)
    if there is not tokens and not there.equal(tokens):
        yield Write(POSITIONS, (there - tokens)[0, places])
    if isinstance(norm, nn.LayerNorm | nn.RMSNorm):
        yield Normed(Norm.of(norm))


# --- blocks -------------------------------------------------------------------------------------


def _block(
    block: nn.Module,
    layer: int,
    x: Rows,
    pattern: Pattern | Both[Pattern],
    item: int,
    places: Tensor,
    edits: Sequence[Edit],
) -> Iterable[Step]:
    """What a block, with edits of its feed-forward network, does to the stream x."""
    first, cross = (pattern.causal, pattern.cross) if isinstance(pattern, Both) else (pattern, None)
    if not isinstance(
        block, PostNormBlock | PreNormBlock | PostNormDecoderBlock | PreNormDecoderBlock
    ):
        raise ValueError(f"layer {layer}: expected one of our blocks, received {type(block)}")
    writes = _attention(block.attention, layer, first, item, places)
    yield from writes
    x = x + total(writes)
    if isinstance(block, PostNormBlock | PostNormDecoderBlock):
        yield Normed(Norm.of(block.after_attention.norm))
        x = block.after_attention.norm(x)
    if isinstance(block, PostNormDecoderBlock | PreNormDecoderBlock) and cross is not None:
        writes = _attention(block.cross, layer, cross, item, places, "cross head")
        yield from writes
        x = x + total(writes)
        if isinstance(block, PostNormDecoderBlock):
            yield Normed(Norm.of(block.after_cross.norm))
            x = block.after_cross.norm(x)
    before = isinstance(block, PreNormBlock | PreNormDecoderBlock)
    fed = block.feed_forward((block.before_feed_forward(x) if before else x)[None])
    if edits:
        padding = None if first.mask.padding is None else first.mask.padding[: item + 1]
        numbered = fed.expand(item + 1, -1, -1)  # an item's number is the seed of its shuffle
        fed = edited_mlp(numbered, edits, padding)[item:]
    yield Write(mlp_name(layer), fed[0])
    if not before:
        yield Normed(Norm.of(block.after_feed_forward.norm))


def _attention(
    attention: MultiHeadAttention,
    layer: int,
    pattern: Pattern,
    item: int,
    places: Tensor,
    word: str = "head",
) -> list[Write]:
    config, out = attention.config, attention.out
    if config.value_shortcut:
        raise ValueError(f"layer {layer} adds its values to its output: heads do not sum to it")
    if isinstance(out, nn.Linear):
        matrices, bias = split_columns(out.weight, config.heads), out.bias
    else:
        matrices, bias = identity(config.heads, config.value_width, pattern.v), None
    writes = head_writes(pattern, matrices, item, places)
    return list(attention_steps(layer, writes, bias, word))
