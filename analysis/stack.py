"""The attention layers of one tower as a stack, and their weights with the heads fused.

What follows a token through a whole network (rollout, flow, relevance) needs every layer of one
tower, over the same tokens. Where a network does not give that, one sentence says why.
"""

from collections.abc import Iterable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.methods import FUSIONS, Fusion
from analysis.overview import RowSource
from models.trace import Site, Trace

SELF = ("self", "causal")


def self_attention(trace: Trace, tower: str | None = None) -> tuple[Site, ...]:
    """The self-attention layers of one tower, from the first to the last.

    Args:
        trace: of a forward pass.
        tower: part of a model with several; None if only one has self-attention.

    Raises:
        ValueError: for several towers and none chosen, layers over different tokens (windows,
            stages of an image), blocks that mix tokens by other means too, layers that attend
            twice, and weights that are differences of others.
    """
    sites = _stack(trace, tower)
    parts = () if trace.origin is None else trace.origin.mixing_parts(sites[0].tower)
    if parts:
        some = ", ".join(parts[:3]) + (" and others" if len(parts) > 3 else "")
        raise ValueError(f"{some} mix tokens by other means than attention: paths miss them")
    return sites


def _stack(trace: Trace, tower: str | None) -> tuple[Site, ...]:
    self_sites = [site for site in trace.sites if site.kind in SELF]
    towers = list(dict.fromkeys(site.tower for site in self_sites))
    if tower not in towers and not (tower is None and len(towers) == 1):
        raise ValueError(f"tower: expected one of {towers}, received {tower!r}")
    sites = tuple(
        site for site in self_sites if site.tower == (towers[0] if tower is None else tower)
    )
    _check_layers(trace, sites)
    return sites


def cross_attention(trace: Trace) -> tuple[Site, ...]:
    """The layers in which the decoder attends to the encoder, from the first to the last.

    Raises:
        ValueError: if there are none, or they are not over the same tokens.
    """
    sites = tuple(site for site in trace.sites if site.kind == "cross")
    if not sites:
        raise ValueError(f"{trace.model} has no attention to an encoder")
    _check_layers(trace, sites, every=False)
    return sites


def _check_layers(trace: Trace, sites: tuple[Site, ...], *, every: bool = True) -> None:
    layers = [site.layer for site in sites]
    if len({(len(trace.query_labels(s)), len(trace.key_labels(s))) for s in sites}) > 1:
        raise ValueError("its layers attend over different numbers of tokens: no path joins them")
    if every and any(len(trace.query_labels(s)) != len(trace.key_labels(s)) for s in sites):
        raise ValueError("its queries and keys are different tokens: no path joins its layers")
    if len({len(trace.queries(site)) for site in sites}) > 1:
        raise ValueError("its layers attend within different windows: no path joins them")
    if len(set(layers)) < len(layers):
        raise ValueError("a layer runs its attention several times: their order is not known")
    if every and layers != list(range(len(layers))):
        missing = sorted(set(range(max(layers) + 1)) - set(layers))
        some = ", ".join(map(str, missing[:6]))
        raise ValueError(f"layers {some} mix tokens by other means than traced attention")


def fused(trace: RowSource, site: Site, fusion: Fusion = "mean") -> Float[Tensor, "query key"]:
    """One layer's weights with the heads fused: their mean, maximum or minimum, cell by cell.

    Heads are read one at a time.
    """
    return _fused((trace.weights(site, head) for head in range(site.heads)), fusion)


def _fused(heads: Iterable[Float[Tensor, "query key"]], fusion: Fusion) -> Tensor:
    if fusion not in FUSIONS:
        raise ValueError(f"fusion: expected one of {', '.join(FUSIONS)}, received {fusion!r}")
    weights = iter(heads)
    result, count = next(weights), 1
    for each in weights:
        count += 1
        if fusion == "mean":
            result += each
        elif fusion == "max":
            torch.maximum(result, each, out=result)
        else:
            torch.minimum(result, each, out=result)
    return result / count if fusion == "mean" else result


def combined(
    trace: Trace,
    how: Literal["mean", "max"] = "mean",
    *,
    tower: str | None = None,
    kind: str | None = None,
    rows_from: RowSource | None = None,
) -> Float[Tensor, "query key"]:
    """Mean or largest weight over every head of every layer.

    Args:
        trace: of a forward pass.
        how: "mean", whose rows sum to 1 where every layer's do, or "max", whose rows do not.
        tower: as for `self_attention`.
        kind: "cross" for the attention of a decoder to its encoder.
        rows_from: a view of the trace, whose weights are combined; None for those of the trace.

    Raises:
        ValueError: as `self_attention`, but blocks may mix tokens by other means too.
    """
    sites = cross_attention(trace) if kind == "cross" else _stack(trace, tower)
    source = rows_from or trace
    return _fused((fused(source, site, how) for site in sites), how)


def layer_map(
    trace: Trace, site: Site, fusion: Fusion = "mean", *, discard: float = 0.0, item: int = 0
) -> Float[Tensor, "token token"]:
    """One layer as a mixture of its tokens, residual connection included: see `with_residual`.

    Of the weights by which the pass summed its values: where an edit ablates all heads to zero, a
    token keeps to itself.
    """
    heads = (trace.effective_weights(site, head, item=item) for head in range(site.heads))
    return with_residual(_fused(heads, fusion), discard)


def with_residual(
    weights: Float[Tensor, "token token"], discard: float = 0.0
) -> Float[Tensor, "token token"]:
    """Ã: the weights plus the identity for the residual connection, rows divided by their sums.

    Args:
        weights: of one layer, heads fused.
        discard: share of the weights above 0, the smallest ones, that is set to 0 first.

    Source: Abnar & Zuidema 2020, section 3.
    """
    if not 0 <= discard < 1:
        raise ValueError(f"discard: expected 0 up to 1, received {discard}")
    kept = weights if discard == 0 else _without_smallest(weights, discard)
    whole = kept + torch.eye(len(kept), device=kept.device)
    return whole / whole.sum(-1, keepdim=True)


def _without_smallest(weights: Tensor, share: float) -> Tensor:
    flat = weights.flatten()
    order = flat.argsort(stable=True)
    order = order[len(flat) - int((flat > 0).sum()) :]
    return flat.index_fill(0, order[: int(round(share * len(order), 6))], 0.0).view_as(weights)
