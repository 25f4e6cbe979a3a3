"""What is asked of one of our networks beside its pass: linear maps, read-out, residual stream."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from models.attention import Edit, MultiHeadAttention, Pattern
from models.attention.edit_protocols import MlpEdit
from models.blocks import PostNormBlock, PreNormBlock
from models.decoder import Decoder
from models.edits.routing import at, edited_mlp
from models.encoder import Encoder
from models.layer import AttentionLayer
from models.model import Network
from models.projections import (
    Norm,
    Projections,
    Readout,
    Residual,
    identity,
    split_columns,
    split_rows,
)
from models.seq2seq import Seq2Seq
from models.smallest import Smallest
from models.ssru import Translator
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
from models.structure import evaluating, kept_with
from models.trace import Site
from models.vector_encoder import AttentionBlock

Step = Write | Normed
Rows = Float[Tensor, "token dim"]


def towers(network: Network, out: Any) -> dict[str | None, Any]:
    """The output of each tower, whose states and patterns are its own; None is the only one."""
    if isinstance(network, Seq2Seq | Translator):
        return {"encoder": out.encoder, "decoder": out}
    return {"decoder" if isinstance(network, AttentionLayer) else None: out}


@dataclass(frozen=True, eq=False)
class OwnOrigin:
    """The network that a trace was made with.

    Attributes:
        network: one of ours.
        arguments: of its forward.
        edits: of the pass.
    """

    network: Network
    arguments: Mapping[str, Any]
    edits: Sequence[Edit] = ()

    def kept(self) -> dict[Any, Any]:
        """What was computed of the weights of the network, kept with it."""
        return kept_with(self.network)

    def projections(self, site: Site) -> Projections:
        """The linear maps of a site; there are none where attention adds its values to its output
        beside them."""
        attention = attention_at(self.network, site)
        config, factor = attention.config, attention.config.factor
        output, output_bias = _output(attention, site.layer)
        network: Any = self.network
        embedding = _table(network.encoder if site.tower == "encoder" else network)
        writes = isinstance(network, Decoder | Seq2Seq | Translator) and site.tower != "encoder"
        return Projections(
            query=_scaled(split_rows(attention.query.weight, config.heads), factor),
            key=_scaled(split_rows(attention.key.weight, config.key_heads), factor),
            value=split_rows(attention.value.weight, config.key_heads),
            output=output,
            query_bias=_bias(attention.query, config.heads, factor),
            key_bias=_bias(attention.key, config.key_heads, factor),
            value_bias=_bias(attention.value, config.key_heads),
            output_bias=output_bias,
            norm=self._norm(site, "before"),
            residual=self._residual(site),
            dot=config.scoring == "dot",
            rotated=site.kind != "cross" and getattr(network.config, "positions", "") == "rotary",
            embedding=None if embedding is None else embedding.weight,
            unembedding=self.readout().unembedding if writes else None,
            final_norm=_final_norm(network) if writes else None,
        )

    def readout(self) -> Readout:
        """What turns hidden states into logits."""
        network = self.network
        norm, head = _final_norm(network), getattr(network, "head", None)
        if isinstance(network, Encoder) and head is not None:
            return Readout(head.weight, norm, scale=head.scale)
        if isinstance(network, Translator):
            return Readout(network.embedding.weight[: network.config.vocab], norm, network.bias)
        if isinstance(network, Decoder | Seq2Seq):
            untied, shared = network.output.weight, network.embedding.tokens.weight
            return Readout(shared if untied is None else untied, norm, scale=network.output.scale)
        raise ValueError(f"{type(network).__name__} has no linear map to logits of tokens")

    @torch.no_grad()
    def stream(
        self, site: Site, item: int, places: Int[Tensor, " token"], *, to_end: bool = False
    ) -> Stream:
        """The residual stream of some tokens where a site reads it, or as it leaves the last block
        of the site's tower."""
        network: Any = evaluating(self.network)
        tower = site.tower
        if isinstance(network, Translator) and tower == "decoder":
            raise ValueError("expected a stream of attention and MLP: this decoder is recurrent")
        if to_end and isinstance(network, Smallest | AttentionLayer):
            raise ValueError(f"expected a stream through blocks: {type(network).__name__} has none")
        out = towers(network, network(**self.arguments, edits=self.edits))[tower]
        part = network.encoder if tower == "encoder" else network
        states, last = out.states, len(out.states) - 1 if to_end else site.layer
        changed = [self._mlp_edits(tower, each) for each in range(last)]
        whole = torch.arange(states[0].shape[1], device=places.device)
        rows = whole if any(changed) else places  # an edit may read other tokens
        steps = [*self._embedding(part, tower, item, rows, states[0][item, rows])]
        for each in range(last):
            x = states[each][item, rows]
            steps += _block(part.blocks[each], each, x, out.blocks[each], item, rows, changed[each])
        if rows is whole:
            steps = [Write(s.name, s.vectors[places]) if isinstance(s, Write) else s for s in steps]
        return Stream(tuple(steps), states[last][item, places])

    def differentiable_states(self, tower: str | None) -> tuple[Tensor, ...]:
        """What leaves each layer of a tower, with its graph, from one more pass."""
        with torch.enable_grad():
            out = self.rerun()
        return towers(self.network, out)[tower].states

    def rerun(self) -> Any:
        """One more pass, with the same input and edits, for hooks that watch its modules."""
        return evaluating(self.network)(**self.arguments, edits=self.edits)

    def mixing_parts(self, tower: str | None) -> tuple[str, ...]:
        """None: in our networks tokens meet in attention alone."""
        return ()

    def _norm(self, site: Site, side: str) -> Norm | None:
        """The norm before or after the attention of a block."""
        block, _, name = (site.module or "").rpartition(".")
        norm = getattr(self.network.get_submodule(block), f"{side}_{name}", None)
        return None if norm is None else Norm.of(norm if side == "before" else norm.norm)

    def _residual(self, site: Site) -> Residual | None:
        if isinstance(self.network, Smallest):
            return Residual(Norm.of(self.network.norm))
        block = self.network.get_submodule((site.module or "").rpartition(".")[0])
        alone = isinstance(block, AttentionBlock)
        return None if alone else Residual(self._norm(site, "after"))

    def _mlp_edits(self, tower: str | None, layer: int) -> list[Edit]:
        """The edits of the feed-forward network of a layer."""
        sites = self.network.sites
        site = next(each for each in sites if (each.tower, each.layer) == (tower, layer))
        return [edit for edit in at(self.edits, site) if isinstance(edit, MlpEdit)]

    def _embedding(
        self, part: Any, tower: str | None, item: int, places: Tensor, first: Rows
    ) -> Iterable[Step]:
        """Tokens, positions and segments; of other inputs, what the first block reads as it is."""
        table = _table(part)
        if table is None:
            yield Write(EMBEDDING, first)
            return
        name = {"encoder": "source", "decoder": "target"}.get(tower or "", "ids")
        ids, encodes = self.arguments[name], isinstance(part, Encoder)
        scale = part.config.dim**0.5 if part.config.embed_scale else 1.0
        tokens = table(ids[item : item + 1]) * scale
        yield Write(TOKENS, tokens[0, places])
        if encodes and part.segments is not None:
            segments = self.arguments.get("segments")
            kinds = torch.zeros_like(ids) if segments is None else segments
            yield Write(SEGMENTS, part.segments(kinds[item, places]))
        there = (part if encodes else part.embedding).positions(tokens)
        if there is not tokens and not there.equal(tokens):
            yield Write(POSITIONS, (there - tokens)[0, places])
        norm = part.embed_norm if encodes else part.embedding.norm
        if isinstance(norm, nn.LayerNorm | nn.RMSNorm):
            yield Normed(Norm.of(norm))


def attention_at(network: Network, site: Site) -> MultiHeadAttention:
    """The attention layer of a site."""
    module = network.get_submodule(site.module or "")
    if not isinstance(module, MultiHeadAttention):
        raise ValueError(f"layer {site.layer}: expected our attention, received {type(module)}")
    return module


def _block(
    block: nn.Module,
    layer: int,
    x: Rows,
    patterns: Sequence[Pattern],
    item: int,
    places: Tensor,
    edits: Sequence[Edit],
) -> Iterable[Step]:
    """What a block, with edits of its feed-forward network, does to the stream x."""
    if not isinstance(block, PostNormBlock | PreNormBlock):
        raise ValueError(f"layer {layer}: expected one of our blocks, received {type(block)}")
    post = isinstance(block, PostNormBlock)
    for name, word, pattern in zip(
        ("attention", "cross"), ("head", "cross head"), patterns, strict=False
    ):
        matrices, bias = _output(getattr(block, name), layer)
        heads = head_writes(pattern, matrices, item, places)
        writes = [*attention_steps(layer, heads, bias, word)]
        yield from writes
        x = x + total(writes)
        if post:
            norm = getattr(block, f"after_{name}").norm
            yield Normed(Norm.of(norm))
            x = norm(x)
    fed = block.feed_forward((x if post else block.before_feed_forward(x))[None])
    if edits:
        mask = patterns[0].mask
        padding = None if mask.padding is None else mask.padding[: item + 1]
        numbered = fed.expand(item + 1, -1, -1)  # an item's number is the seed of its shuffle
        fed = edited_mlp(numbered, edits, padding)[item:]
    yield Write(mlp_name(layer), fed[0])
    if post:
        yield Normed(Norm.of(block.after_feed_forward.norm))


def _output(attention: MultiHeadAttention, layer: int) -> tuple[Tensor, Tensor | None]:
    """What the heads' values are multiplied with, head by head, and the bias of their sum."""
    config, out = attention.config, attention.out
    if config.value_shortcut:
        raise ValueError(
            f"layer {layer}: expected an output made by the output projection alone; this layer"
            " adds the values themselves (value_shortcut)"
        )
    if isinstance(out, nn.Linear):
        return split_columns(out.weight, config.heads), out.bias
    return identity(config.heads, config.value_width, attention.value.weight), None


def _table(part: Any) -> nn.Embedding | None:
    """The vectors of the tokens that a tower reads; None if it reads none."""
    if isinstance(part, Encoder):
        return part.tokens
    if isinstance(part, Decoder | Seq2Seq):
        return part.embedding.tokens
    return part.embedding if isinstance(part, Translator) else None


def _final_norm(network: Network) -> Norm | None:
    norm = None if isinstance(network, Smallest) else getattr(network, "norm", None)
    return Norm.of(norm) if isinstance(norm, nn.LayerNorm | nn.RMSNorm) else None


def _bias(linear: nn.Linear, heads: int, factor: float = 1.0) -> Tensor | None:
    bias: Tensor | None = linear.bias
    return None if bias is None else _scaled(bias.unflatten(0, (heads, -1)), factor)


def _scaled(weights: Tensor, factor: float) -> Tensor:
    return weights if factor == 1 else weights * factor
