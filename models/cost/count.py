"""Parts, parameters and FLOPs of a network, from its config alone.

    parts(DecoderConfig(), tokens=12)      # the parts, in order
    total(parts(ViTConfig()), "parameters")

The network is built with one block, on the meta device: weights have shapes and take no memory. The
block counts as often as the config says. models/cost/parts.py defines how FLOPs are counted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import torch
from torch import nn

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.attention.functional import attend
from models.attention.relative import RelativePositions
from models.blocks import FeedForward, PostNormBlock, StackConfig
from models.classifier import Classifier
from models.cost.parts import Part, Shape, add_norm, group, linear, norms, numbers
from models.decoder import Decoder, DecoderConfig
from models.embedding import Embedding
from models.encoder import Encoder, EncoderConfig
from models.layer import AttentionLayer, AttentionLayerConfig
from models.model import Config
from models.output import Projection
from models.patches import Patches, cut, pair
from models.positional import Learned, Sinusoidal
from models.seeding import Undrawn
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.smallest import Smallest, SmallestConfig
from models.vit import ViT, ViTConfig

QUANTITIES = ("parameters", "flops")
RELATED = {
    "rotary": ("Rotary positions", "R, which rotates q and k by position in every block"),
    "alibi": ("ALiBi positions", "−slope · |distance|, added to the scores in every block"),
    "relative": ("Relative positions", "bias[bucket(distance)], added in every block"),
}
ADDED = {
    "learned": ("Learned positions", "x + T[position]"),
    "sinusoidal": ("Sinusoidal positions", "x + P[position]"),
    "sincos2d": ("2-D sin-cos positions", "x + P[row, column]"),
}
POOLED = {
    "class": ("Class token", "x[class]"),
    "mean": ("Mean", "mean of all patches"),
    "flatten": ("Flatten", "all patches in a row"),
}


def parts(config: Config, tokens: int = 16, target: int = 16) -> tuple[Part, ...]:
    """The parts of a network in order, for one item.

    Args:
        config: of the network; a vision transformer's image size comes from its config.
        tokens: input length of an encoder, decoder, or encoder of an encoder–decoder.
        target: input length of the decoder of an encoder–decoder.

    Raises:
        ValueError: for no tokens, or more than the network's maximum; for a kind of network whose
            parts are not counted.
    """
    if type(config) not in COUNTED:
        kinds = ", ".join(kind.__name__ for kind in COUNTED)
        raise ValueError(f"cost: expected one of {kinds}, received {type(config).__name__}")
    check_input(config, tokens, target)
    build, count = COUNTED[type(config)]
    one: Any = replace(config, depth=1) if "depth" in vars(config) else config
    with torch.device("meta"), Undrawn():
        network = build(one)
    return tuple(count(network, config, tokens, target))


def check_input(config: Config, tokens: int, target: int) -> None:
    """Raises ValueError for no tokens, or more than the network has room for."""
    if isinstance(config, ViTConfig):
        return
    for name, count in (("tokens", tokens), ("target", target)):
        if not 1 <= count <= config.max_tokens:
            raise ValueError(f"{name}: expected 1 to {config.max_tokens}, received {count}")


def total(parts: Sequence[Part], quantity: str) -> int:
    """The total of all parts, counting every copy of repeated ones.

    Args:
        parts: of a network, or of a part of it.
        quantity: one of `QUANTITIES`.
    """
    return sum(part.times * getattr(part, quantity) for part in parts)


def walk(parts: Sequence[Part], above: str = "", times: int = 1) -> Iterator[tuple[str, int, Part]]:
    """Every part with its path ("blocks/attention/query") and its number of copies."""
    for part in parts:
        path = f"{above}/{part.name}" if above else part.name
        yield path, times * part.times, part
        yield from walk(part.parts, path, times * part.times)


# --- networks -------------------------------------------------------------------------------------


def _text(
    network: Any, config: Any, tokens: int, target: int = 0, *, keys: int = 0, shared: bool = False
) -> list[Part]:
    """An encoder, a decoder, or the decoder of an encoder–decoder, which reads so many keys."""
    encodes = isinstance(network, Encoder)
    stem, runs = (network, Encoder.embed) if encodes else (network.embedding, Embedding.forward)
    ids: Shape = (("tokens", tokens),)
    x: Shape = (*ids, ("dim", config.dim))
    scale = "√dim · " if config.embed_scale else ""
    formula = f"{scale}E[id]{', E of the encoder' if shared else ''}"
    vectors = 0 if shared else numbers(stem.tokens)
    chain = [
        _same("input", "Token ids", "input", "ids", ids, runs),
        Part("tokens", "Token embedding", "embedding", formula, ids, x, runs, vectors),
    ]
    if encodes and network.segments is not None:
        row = "segments", "Segments", "embedding", "x + S[segment]", x, runs
        chain.append(_same(*row, network.segments))
    if isinstance(stem.positions, Sinusoidal | Learned):
        chain.append(_positions(config.positions, x, stem.positions))
    chain += norms("embed_norm", "Norm", x, stem.embed_norm if encodes else stem.norm, runs)
    if config.positions in RELATED:
        title, formula = RELATED[config.positions]
        row = "relation", title, "positions", formula, x, RelativePositions.forward
        chain.append(_same(*row, network.relation))
    chain.append(_block(network.blocks[0], config, x, causal=not encodes, keys=keys))
    chain += norms("norm", "Final norm", x, network.norm, type(network).forward)
    output = network.head if encodes else network.output
    if output is None:
        return chain
    title = "Classes of each token" if encodes else "Logits"
    axis = ("classes", config.classes) if encodes else ("vocab", stem.tokens.num_embeddings)
    matrix = "W" if output.weight is not None else "Eᵀ"
    formula = f"x · {matrix}{'' if output.scale == 1 else ' / √dim'}"
    flops, runs = 2 * tokens * config.dim * axis[1], Projection.forward
    row = "output", title, "linear", formula, x, (*ids, axis), runs, numbers(output), flops
    return [*chain, Part(*row)]


def _seq2seq(network: Seq2Seq, config: Seq2SeqConfig, tokens: int, target: int) -> list[Part]:
    """The two towers; a shared matrix counts once, where it is first used."""
    encoder = _text(network.encoder, config.encoder, tokens)
    decoder = _text(network, config, target, keys=tokens, shared=config.share_source)
    return [
        group("encoder", "Encoder", "tower", encoder, Encoder.forward),
        group("decoder", "Decoder", "tower", decoder, Seq2Seq.forward),
    ]


def _vit(network: ViT, config: ViTConfig, *_: int) -> list[Part]:
    """A vision transformer, for an image of the size it is built for."""
    (rows, cols), (high, wide) = pair(config.image), pair(config.patch)
    pixels: Shape = (("channels", config.channels), ("rows", rows), ("columns", cols))
    patches, width = ("patches", prod(config.grid)), ("dim", config.width)
    x, shape = (patches, width), (("tokens", config.tokens), width)
    project, runs = network.patches.project, Patches.forward
    chain = [_same("input", "Image", "input", "pixels", pixels, ViT.embed)]
    if isinstance(project, nn.Conv2d):
        formula = f"convolution of {high} × {wide} pixels with stride {high}"
        flops = 2 * patches[1] * project.weight.numel()
        row = "project", "Convolution", "linear", formula, pixels, x, runs
        chain.append(Part(*row, numbers(project), flops))
    else:
        formula = f"pixels of each {high} × {wide} patch in a row: {config.order}"
        flat: Shape = (patches, ("numbers", config.channels * high * wide))
        chain.append(Part("cut", "Cut", "pool", formula, pixels, flat, cut))
        if isinstance(project, nn.Linear):
            chain.append(linear("project", "Projection", flat, project, "dim", runs))
    chain += norms("patch_norm", "Norm", x, network.patch_norm, ViT.embed)
    if config.prefix:
        names = ["class token"] * (config.head == "class")
        names += [f"{config.registers} registers"] * bool(config.registers)
        row = "prefix", " and ".join(names).capitalize(), "embedding", "[t | x]", x, shape
        chain.append(Part(*row, ViT.embed, network.prefix.numel()))
    if config.positions in ADDED:
        chain.append(_positions(config.positions, shape, network.positions))
    chain.append(_block(network.blocks[0], config, shape))
    chain += norms("norm", "Final norm", shape, network.norm, ViT.forward)
    return [*chain, *_head(network.head, config, shape)]


def _head(head: Any, config: ViTConfig, x: Shape) -> list[Part]:
    """Pooling and the layers of the head, a `Classifier`."""
    if head is None:
        return []
    (title, formula), runs = POOLED[config.head], Classifier.forward
    read: Shape = (("features", head.layers[0].in_features),)
    chain, bend = [], config.head_activation or config.activation
    for number, (layer, norm) in enumerate(zip(head.layers, head.norms, strict=False), start=1):
        chain.append(linear(f"layer_{number}", f"Layer {number}", read, layer, "features", runs))
        read = chain[-1].gives
        batch = "γ · (x − mean) / √(variance + ε) + β, over the batch"
        chain += [
            _same(f"norm_{number}", "BatchNorm", "norm", batch, read, runs, norm),
            _same(f"activation_{number}", bend, "activation", f"{bend}(x)", read, runs),
        ]
    chain.append(linear("classes", "Classes", read, head.layers[-1], "classes", runs))
    pool = Part("pool", title, "pool", formula, x, chain[0].takes, ViT.pool)
    title = "Head" + (f", dropout {head.dropout.p:g}" if head.dropout.p else "")
    return [group("head", title, "head", [pool, *chain], runs)]


def _smallest(network: Smallest, config: SmallestConfig, tokens: int, _: int) -> list[Part]:
    """The smallest transformer, whose word vectors are random and not trained."""
    ids: Shape = (("tokens", tokens),)
    x, runs = (*ids, ("dim", config.dim)), Smallest.forward
    return [
        _same("input", "Word ids", "input", "ids", ids, runs),
        _vectors("words", "Word", "E", ids, config.dim, runs, kind="embedding"),
        _attention(network.attention, x),
        add_norm("norm", "attention", x, network.norm, runs),
        linear("out", "One number per word", x, network.out, "number", runs),
    ]


def _layer(
    network: AttentionLayer, config: AttentionLayerConfig, tokens: int, target: int
) -> list[Part]:
    """One attention layer and the vectors that it reads, which are not trained."""
    runs = AttentionLayer.forward
    source: Shape = (("source", tokens),)
    asks: Shape = (("tokens", target),)
    query, key, value = network.attention.config.inputs
    both = (*source, ("key and value", key + value))
    offers = [
        _same("input", "Ids of the source", "input", "ids", source, runs),
        _vectors("key_vectors", "Key", "K", source, key, runs),
        _vectors("value_vectors", "Value", "V", source, value, runs),
        _same("both", "A key and a value each", "pool", "[key | value]", both, runs),
    ]
    reads = [
        _same("input", "Ids of the target", "input", "ids", asks, runs),
        _vectors("query_vectors", "Query", "Q", asks, query, runs, kind="embedding"),
        _attention(
            network.attention, (*asks, ("dim", query)), title="Cross-attention", keys=tokens
        ),
    ]
    return [
        group("source", "Source", "tower", offers, runs),
        group("target", "Target", "tower", reads, runs),
    ]


COUNTED: dict[type, tuple[Callable[[Any], nn.Module], Callable[..., list[Part]]]] = {
    EncoderConfig: (Encoder, _text),
    DecoderConfig: (Decoder, _text),
    Seq2SeqConfig: (Seq2Seq, _seq2seq),
    ViTConfig: (ViT, _vit),
    SmallestConfig: (Smallest, _smallest),
    AttentionLayerConfig: (AttentionLayer, _layer),
}


# --- their parts ----------------------------------------------------------------------------------


def _vectors(
    name: str, of: str, letter: str, ids: Shape, dim: int, source: Any, kind: str = "projection"
) -> Part:
    gives = (*ids, ("dim", dim))
    formula = f"{letter}[id], random and not trained"
    return Part(name, f"{of} vectors", kind, formula, ids, gives, source)


def _same(
    name: str,
    title: str,
    kind: str,
    formula: str,
    x: Shape,
    source: Any,
    module: nn.Module | None = None,
    **more: Any,
) -> Part:
    """A part whose output has the shape of its input."""
    return Part(name, title, kind, formula, x, x, source, numbers(module), **more)


def _positions(kind: str, x: Shape, module: nn.Module) -> Part:
    title, formula = ADDED[kind]
    return _same("positions", title, "positions", formula, x, type(module).forward, module)


def _block(
    block: Any, config: StackConfig, x: Shape, *, causal: bool = False, keys: int = 0
) -> Part:
    """A block: its sub-layers with residual connections, and the norm before or after each."""
    title, runs = "Masked self-attention" if causal else "Self-attention", type(block).forward
    order, filled = getattr(config, "positions", ""), getattr(config, "mask_fill", None) is not None
    inner = [_attention(block.attention, x, title, order=order, causal=causal, filled=filled)]
    if keys:
        cross = {"name": "cross", "keys": keys, "filled": filled}
        inner.append(_attention(block.cross, x, "Cross-attention", **cross))
    inner.append(_feed_forward(block.feed_forward, x, config.activation))
    chain = []
    for layer in inner:
        before, after = (f"{side}_{layer.name}" for side in ("before", "after"))
        if isinstance(block, PostNormBlock):
            chain += [layer, add_norm(after, layer.name, x, getattr(block, after), runs)]
        else:
            added = _same(f"add_{layer.name}", "Add", "add", "x + f(x)", x, runs, skips=before)
            chain += [*norms(before, "Norm", x, getattr(block, before), runs), layer, added]
    title = f"{config.norm.capitalize()}-norm block"
    title += f", DropPath to {config.drop_path:g}" if config.drop_path else ""
    return group("blocks", title, "block", chain, runs, times=config.depth)


def _feed_forward(network: FeedForward, x: Shape, activation: str) -> Part:
    """Two linear layers with an activation in between, or a gate, applied to every token."""
    runs, gate = FeedForward.forward, network.gate
    up = linear("up", "Up", x, network.up, "mlp", runs)
    wide = up.gives
    bend = _same("activation", activation, "activation", f"{activation}(x)", wide, runs)
    down = linear("down", "Down", wide, network.down, "dim", runs)
    title, chain = "Feed-forward", [up, bend, down]
    formula = f"{activation}(x · W₁ + b₁) · W₂ + b₂"
    if gate is not None:
        product = _same("product", "Product", "activation", "gate · up", wide, runs)
        gates = linear("gate", "Gate", x, gate, "mlp", runs)
        title, chain = "Gated feed-forward", [gates, bend, up, product, down]
        formula = f"({activation}(x · W₃) · (x · W₁)) · W₂"
    return group("feed_forward", title, "feed-forward", chain, runs, formula=formula)


def _attention(
    layer: MultiHeadAttention,
    x: Shape,
    title: str = "Self-attention",
    *,
    name: str = "attention",
    keys: int = 0,
    order: str = "",
    causal: bool = False,
    filled: bool = False,
) -> Part:
    """Multi-head attention.

    Args:
        layer: the network's.
        x: input of the queries.
        title: of the part.
        name: of the part.
        keys: number of key tokens of another tower; 0 means self-attention.
        order: positions inside attention: "rotary", "alibi" or "relative"; any other value is none.
        causal: whether later keys are masked.
        filled: whether masked keys have a finite score, see `Mask.fill`.
    """
    config, runs = layer.config, MultiHeadAttention.forward
    source = ("source", keys) if keys else x[0]
    context: Shape = (source, ("dim", layer.key.in_features))
    chain = []
    for letter, which in zip("qkv", ("query", "key", "value"), strict=True):
        module, row = getattr(layer, which), x[0] if which == "query" else source
        bias = f" + b{letter}" if config.qkv_bias else ""
        formula = f"{letter} = {'c' if keys and which != 'query' else 'x'} · W{letter}{bias}"
        read = (row, ("dim", module.in_features))
        more = {"kind": "projection", "formula": formula}
        chain.append(linear(which, which.capitalize(), read, module, "heads × width", runs, **more))
    chain.append(_attend(layer, x[0][1], source[1], order, causal, filled))
    out: Shape = (x[0], ("heads × width", config.merged))
    if isinstance(layer.out, nn.Linear):
        chain.append(linear("out", "Output projection", out, layer.out, "dim", runs))
        out = chain[-1].gives
    heads = f"[head 1 | … | head {config.heads}]" if config.heads > 1 else "head 1"
    bias = " + bo" if config.out_bias else ""
    formula = heads + (f" · Wo{bias}" if config.has_projection else "")
    for share in filter(None, (config.projection_dropout, config.output_dropout)):
        formula = f"dropout({formula}, {share:g})"
    if config.value_shortcut:
        row = "value_shortcut", "Add values", "add", "x + [v 1 | … | v n]", out
        chain.append(_same(*row, runs, skips="attend"))
        formula += " + [v 1 | … | v n]"
    more = {"formula": formula, "takes": x, "gives": out, "context": context if keys else ()}
    return group(name, title, "attention", chain, runs, **more)


def _attend(
    layer: MultiHeadAttention, queries: int, keys: int, order: str, causal: bool, filled: bool
) -> Part:
    """Weights and weighted values of all heads."""
    config = layer.config
    heads, width, value = config.heads, config.width, config.value_width
    explicit = config.scoring != "dot" or width != value or filled  # the fused kernel cannot run
    formed = explicit + (width if config.scoring == "additive" else 0)
    products = heads * queries * keys * (config.key_width + value)
    if config.scoring == "bilinear":
        products += queries * numbers(layer.scoring)
    bias = {"alibi": " − slope · distance", "relative": " + bias[distance]"}.get(order, "")
    hidden = ", −∞ for later keys" if causal else ""
    weights = f"softmax({_score_formula(config, order)}{bias}{hidden})"
    weights = f"dropout({weights}, {config.dropout:g})" if config.dropout else weights
    kind = "" if config.scoring == "dot" else f", {config.scoring}"
    return Part(
        "attend",
        (f"{heads} heads" if heads > 1 else "1 head") + kind,
        "attend",
        f"{weights} · v, in every head",
        (("heads", heads), ("tokens", queries), ("width", width)),
        (("heads", heads), ("tokens", queries), ("width", value)),
        attend,
        parameters=numbers(layer.scoring),
        flops=2 * products,
        causal=causal,
        weights=formed * heads * queries * keys,
    )


def _score_formula(config: MultiHeadAttentionConfig, order: str) -> str:
    """What compares a query with a key."""
    q, k, transposed = ("R·q", "R·k", "(R·k)ᵀ") if order == "rotary" else ("q", "k", "kᵀ")
    if config.scoring == "additive":
        return f"wᵀ tanh({q} + {k})"
    if config.scoring == "bilinear":
        return f"{q} · M · {transposed}"
    if config.scale is not None:
        return f"{q} · {transposed} · {config.scale:g}"
    width = config.width
    rooted = {"sqrt": f" / √{width}", "none": "", "fourth root": f" / (∜{width} · ∜{width})"}
    return f"{q} · {transposed}{rooted[config.dot_scaling]}"
