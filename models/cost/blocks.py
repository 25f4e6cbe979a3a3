"""Parts and costs of attention, feed-forward networks and blocks (see models/cost/parts.py)."""

from collections.abc import Sequence
from typing import Any

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.attention.functional import attend
from models.blocks import (
    BLOCKS,
    DropPath,
    FeedForward,
    StackConfig,
    cross_of,
    drop_path_of,
)
from models.cost.parts import Part, Shape, add, add_norm, group, linear, norm


def attention(
    config: MultiHeadAttentionConfig,
    queries: int,
    *,
    name: str = "attention",
    title: str = "Self-attention",
    keys: int | None = None,
    order: str = "none",
    causal: bool = False,
    mask_fill: float | None = None,
) -> Part:
    """Multi-head attention: self-attention, or cross-attention to another tower.

    Args:
        config: of the layer.
        queries: number of query tokens.
        name: of the part.
        title: of the part.
        keys: number of key tokens of another tower; None means self-attention.
        order: positions inside attention: "rotary", "alibi" or "relative"; any other value is none.
        causal: whether later keys are masked.
        mask_fill: the score of a masked key, see `Mask.fill`.
    """
    runs, cross = MultiHeadAttention.forward, keys is not None
    rows = ("tokens", queries), *([("source", keys)] if keys is not None else [("tokens", queries)])
    rows = (*rows, rows[1])
    x_of = [(row, ("dim", into)) for row, into in zip(rows, config.inputs, strict=True)]
    inside = {"query": config.width, "key": config.key_width, "value": config.value_width}
    parts = []
    for letter, x, (which, width) in zip("qkv", x_of, inside.items(), strict=True):
        b = f" + b{letter}" if config.qkv_bias else ""
        heads = config.heads if which == "query" else config.key_heads
        gives = (x[0], ("heads × width", heads * width))
        cost = linear(
            *(which, which.capitalize(), x, gives, runs),
            bias=config.qkv_bias,
            kind="projection",
            formula=f"{letter} = {'c' if cross and which != 'query' else 'x'} · W{letter}{b}",
        )
        parts.append(cost)
    filled = mask_fill is not None
    parts.append(_attend(config, queries, rows[1][1], order, causal, filled))
    merged = (("tokens", queries), ("heads × width", config.merged))
    out: Shape = (
        ("tokens", queries),
        ("dim", config.dim if config.has_projection else config.merged),
    )
    if config.has_projection:
        title_out = "Output projection"
        parts.append(linear("out", title_out, merged, out, runs, bias=config.out_bias))
    for which in ("projection_dropout", "output_dropout"):
        share = getattr(config, which)
        if share:
            parts.append(dropout(which, share, out, runs))
    if config.value_shortcut:
        names = ("value_shortcut", "Add values", "add", "x + [v 1 | … | v n]")
        parts.append(Part(*names, out, out, runs, skips="attend"))
    return group(
        *(name, title, "attention", parts),
        formula=_attention_formula(config),
        takes=x_of[0],
        gives=out,
        source=runs,
        context=x_of[1] if cross else (),
    )


def dropout(name: str, share: float, shape: Shape, source: Any) -> Part:
    """Dropout while training; it costs nothing at any other time."""
    formula = f"while training 0 with probability {share:g}, else x / {1 - share:g}"
    return Part(name, f"Dropout {share:g}", "dropout", formula, shape, shape, source)


def _attention_formula(config: MultiHeadAttentionConfig) -> str:
    heads = f"[head 1 | … | head {config.heads}]" if config.heads > 1 else "head 1"
    out = " · Wo" + (" + bo" if config.out_bias else "") if config.has_projection else ""
    return heads + out + (" + [v 1 | … | v n]" if config.value_shortcut else "")


def _attend(
    config: MultiHeadAttentionConfig,
    queries: int,
    keys: int,
    order: str,
    causal: bool,
    filled: bool,
) -> Part:
    """Weights and weighted values of all heads."""
    heads, width, value = config.heads, config.width, config.value_width
    matrix = heads * width * config.key_width  # of a bilinear score
    formed = _is_explicit(config, filled) + (config.width if config.scoring == "additive" else 0)
    bias = {"alibi": " − slope · distance", "relative": " + bias[distance]"}.get(order, "")
    hidden = ", −∞ for later keys" if causal else ""
    learned = {"bilinear": matrix, "additive": heads * width}
    products = queries * matrix if config.scoring == "bilinear" else 0
    products += heads * queries * keys * (config.key_width + value)
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
        parameters=learned.get(config.scoring, 0),
        flops=2 * products,
        causal=causal,
        weights=formed * heads * queries * keys,
    )


def _score_formula(config: MultiHeadAttentionConfig, order: str) -> str:
    """What compares a query with a key."""
    q, k = ("R·q", "R·k") if order == "rotary" else ("q", "k")
    if config.scoring == "additive":
        return f"wᵀ tanh({q} + {k})"
    transposed = f"({k})ᵀ" if order == "rotary" else f"{k}ᵀ"
    if config.scoring == "bilinear":
        return f"{q} · M · {transposed}"
    if config.scale is not None:
        return f"{q} · {transposed} · {config.scale:g}"
    width = config.width
    rooted = {"sqrt": f" / √{width}", "none": "", "fourth root": f" / (∜{width} · ∜{width})"}
    return f"{q} · {transposed}{rooted[config.dot_scaling]}"


def _is_explicit(config: MultiHeadAttentionConfig, filled: bool) -> bool:
    """Whether the weights are formed, because the fused kernel cannot run."""
    return config.scoring != "dot" or config.width != config.value_width or filled


def feed_forward(dim: int, hidden: int, activation: str, tokens: int, gated: bool = False) -> Part:
    """Two linear layers with an activation in between, or a gate, applied to every token."""
    narrow, wide = (("tokens", tokens), ("dim", dim)), (("tokens", tokens), ("mlp", hidden))
    if gated:
        return _gated(narrow, wide, activation)
    runs = FeedForward.forward
    bend = Part("activation", activation, "activation", f"{activation}(x)", wide, wide, runs)
    parts = [
        linear("up", "Up", narrow, wide, runs),
        bend,
        linear("down", "Down", wide, narrow, runs),
    ]
    formula = f"{activation}(x · W₁ + b₁) · W₂ + b₂"
    return group(
        "feed_forward", "Feed-forward", "feed-forward", parts, formula=formula, source=runs
    )


def _gated(narrow: Shape, wide: Shape, activation: str) -> Part:
    runs = FeedForward.forward
    parts = [
        linear("gate", "Gate", narrow, wide, runs, bias=False),
        Part("activation", activation, "activation", f"{activation}(x)", wide, wide, runs),
        linear("up", "Up", narrow, wide, runs, bias=False),
        Part("product", "Product", "activation", "gate · up", wide, wide, runs),
        linear("down", "Down", wide, narrow, runs, bias=False),
    ]
    formula = f"({activation}(x · W₃) · (x · W₁)) · W₂"
    title = "Gated feed-forward"
    return group("feed_forward", title, "feed-forward", parts, formula=formula, source=runs)


def block(
    config: StackConfig,
    tokens: int,
    *,
    order: str = "none",
    causal: bool = False,
    mask_fill: float | None = None,
    gated: bool = False,
) -> Part:
    """A block whose tokens attend to each other.

    Args:
        config: of the network.
        tokens: number of tokens.
        order: as for `attention`.
        causal: as for `attention`.
        mask_fill: as for `attention`.
        gated: whether its feed-forward network has a gate.
    """
    title = "Masked self-attention" if causal else "Self-attention"
    layer = config.attention
    inner = [
        attention(layer, tokens, title=title, order=order, causal=causal, mask_fill=mask_fill),
        feed_forward(layer.dim, config.mlp, config.activation, tokens, gated),
    ]
    return _stacked(inner, config, BLOCKS[config.norm].forward)


def decoder_block(
    config: StackConfig,
    tokens: int,
    keys: int,
    *,
    order: str = "none",
    mask_fill: float | None = None,
) -> Part:
    """A block of causal self-attention, cross-attention and a feed-forward network."""
    title, layer = "Masked self-attention", config.attention
    inner = [
        attention(layer, tokens, title=title, order=order, causal=True, mask_fill=mask_fill),
        attention(
            cross_of(layer),
            tokens,
            name="cross",
            title="Cross-attention",
            keys=keys,
            mask_fill=mask_fill,
        ),
        feed_forward(layer.dim, config.mlp, config.activation, tokens),
    ]
    return _stacked(inner, config, BLOCKS[config.norm].forward)


def _stacked(inner: Sequence[Part], config: StackConfig, source: Any) -> Part:
    """Sub-layers with residual connections, normalised before each layer or after each sum."""
    parts, kind = [], config.norm_kind
    for layer in inner:
        shape = layer.takes
        skipped = [_drop_path(layer, config)] if config.drop_path else []
        if config.norm == "post":
            parts += [
                layer,
                *skipped,
                add_norm(f"after_{layer.name}", layer.name, shape, source, kind),
            ]
        else:
            before = norm(f"before_{layer.name}", "Norm", shape, source, kind)
            parts += [before, layer, *skipped, add(f"add_{layer.name}", before.name, shape, source)]
    title = f"{config.norm.capitalize()}-norm block"
    return group("blocks", title, "block", parts, source=source, times=config.depth)


def _drop_path(layer: Part, config: StackConfig) -> Part:
    """Stochastic depth after a sub-layer: while training, an item may skip it."""
    depth = config.depth
    shares = [drop_path_of(config.drop_path, number, depth) for number in range(depth)]
    span = f"{shares[0]:g} to {shares[-1]:g}" if depth > 1 else f"{shares[0]:g}"
    formula = f"while training 0 for an item with probability p, else x / (1 − p); p = {span}"
    title = f"DropPath {span}" + (" by depth" if depth > 1 else "")
    name, runs = f"drop_path_{layer.name}", DropPath.forward
    return Part(name, title, "dropout", formula, layer.gives, layer.gives, runs)
