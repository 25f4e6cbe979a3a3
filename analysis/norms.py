"""Norms: how much each token adds to a layer's output, not only how much weight it has.

    f(x) = (x W_V + b_V) W_O            what a head would add for a token with weight 1
    ‖α f(x)‖                            Kobayashi et al. 2020
    y_ij = norm(Σ_h α f(x_j) + δ_ij x_i)    with residual connection and norm
    c_ij ∝ max(0, ‖y_i‖₁ − ‖y_i − y_ij‖₁)   rows made to sum to 1: ALTI, Ferrando et al. 2022

α are the weights by which this pass summed its values: 0 in a head that an edit ablates to zero.
The feed-forward networks do not enter.
"""

from collections.abc import Sequence
from functools import reduce

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from analysis.stack import self_attention
from models.attention.blocks import CACHE_BYTES
from models.attention.pattern import expand_heads
from models.progress import Progress, each, no_progress
from models.trace import Site, Trace, Where

ROWS = 256  # queries whose distances to one key are computed together


def value_norms(
    trace: Trace,
    layer: int | Site | Where,
    *,
    kind: str | None = None,
    item: int = 0,
    words: Sequence[Sequence[int]] | None = None,
) -> Float[Tensor, "head query key"]:
    """‖α f(x)‖ of every head: the length of the vector that a key adds to a query.

    Args:
        trace: of a forward pass.
        layer: which layer; one of `trace.sites`; or its address.
        kind: "self", "causal" or "cross"; None if the layer has only one.
        item: index in the batch.
        words: the keys of each word, whose vectors are added up; None for single keys.

    Returns:
        0 or more, in the units of the hidden states; rows do not sum to 1.

    Raises:
        ValueError: where the layer's output projection cannot be told, with the reason.

    Source: Kobayashi et al. 2020, "Attention is Not Only a Weight", eq. 3.
    """
    site = trace.site(layer, kind)
    output = trace.projections(site).output.detach().float()
    v, weights = _values(trace, site, item), trace.effective_weights(site, item=item)
    lengths = weights * torch.bmm(v, output).norm(dim=-1)[:, None]
    if words is None:
        return lengths

    def together(word: Sequence[int]) -> Float[Tensor, "head query"]:
        values = weights[..., list(word)] @ v[:, list(word)]
        return torch.bmm(values, output).norm(dim=-1)

    columns = [lengths[..., word[0]] if len(word) == 1 else together(word) for word in words]
    return torch.stack(columns, -1)


def alti(
    trace: Trace,
    *,
    tower: str | None = None,
    item: int = 0,
    progress: Progress = no_progress,
) -> Float[Tensor, "query key"]:
    """ALTI: the contributions of every layer, rows divided by their sums, multiplied.

    Args:
        trace: with hidden states (`trace(..., hidden=True)`).
        tower: of a model with several, such as "encoder" or "decoder".
        item: index in the batch.
        progress: called before each layer and after the last; an exception ends it.

    Returns:
        0 to 1; rows sum to 1.

    Raises:
        ValueError: as `contributions`, and for networks whose layers do not form one stack.

    Source: Ferrando et al. 2022, "Measuring the Mixing of Contextual Information in the
    Transformer", eq. 9 to 11.
    """
    layers = each(self_attention(trace, tower), progress)
    maps = (contributions(trace, site, item=item) for site in layers)
    return reduce(lambda below, above: above @ below, maps)


@torch.no_grad()
def contributions(trace: Trace, site: Site, *, item: int = 0) -> Float[Tensor, "query key"]:
    """One layer of ALTI: how much nearer to its output each token's vector brings a token.

        c_ij = max(0, ‖y_i‖₁ − ‖y_i − y_ij‖₁), divided by the sum of its row

    Raises:
        ValueError: without hidden states, and where the layer's output is not just added to its
            input, or its projections cannot be told.
    """
    if site.kind == "cross":
        raise ValueError(f"layer {site.layer}: expected self-attention, received {site.kind}")
    maps = trace.projections(site)
    if maps.residual is None:
        raise ValueError(
            f"layer {site.layer} does not just add its attention to its input: a norm, a factor or"
            " another branch comes in between"
        )
    weights, v = trace.effective_weights(site, item=item), _values(trace, site, item)
    output, norm = maps.output.float(), maps.residual.norm
    stream = trace.hidden(site.layer, item, tower=site.tower).float()
    if stream.shape != (v.shape[1], output.shape[2]):
        raise ValueError(f"layer {site.layer}: expected hidden states of the tokens it attends to")
    own_values = weights.diagonal(dim1=-2, dim2=-1)[..., None] * v
    whole, alone = _written(weights @ v, output) + stream, _written(own_values, output) + stream
    whole = whole if maps.output_bias is None else whole + maps.output_bias.float()
    if norm is not None:
        before, centred = whole, norm.kind == "layer"
        whole, alone = norm(before), norm.linear(alone, before)
        if centred:
            before, output = (x - x.mean(-1, keepdim=True) for x in (before, output))
        weights = weights * (before.square().mean(-1) + norm.eps).rsqrt()[:, None]
        output = output if norm.weight is None else output * norm.weight.float()
    rest = _distances(whole, weights, torch.bmm(v, output))
    rest.diagonal().copy_((whole - alone).abs().sum(-1))
    shares = (whole.abs().sum(-1)[:, None] - rest).clamp(min=0)
    sums = shares.sum(-1, keepdim=True)
    return torch.where(sums > 0, shares / sums.clamp_min(1e-30), torch.eye(len(shares)).to(shares))


def _distances(
    whole: Float[Tensor, "query dim"],
    weights: Float[Tensor, "head query key"],
    values: Float[Tensor, "head key dim"],
) -> Float[Tensor, "query key"]:
    """‖whole_i − Σ_h weights_hij values_hj‖₁, a few keys and many queries at a time."""
    tokens, dim = whole.shape
    by_key, vectors = weights.permute(2, 1, 0), values.transpose(0, 1).contiguous()
    distances = torch.empty(len(by_key), tokens, device=whole.device)
    step = max(1, CACHE_BYTES // (4 * min(ROWS, tokens) * dim))
    for rows in torch.arange(tokens).split(ROWS):
        queries = slice(int(rows[0]), int(rows[-1]) + 1)
        few = by_key[:, queries].contiguous()
        for start in range(0, len(few), step):
            keys = slice(start, start + step)
            here = whole[queries].expand(len(few[keys]), -1, -1)
            block = torch.baddbmm(here, few[keys], vectors[keys], alpha=-1)
            distances[keys, queries] = block.abs_().sum(-1)
    return distances.T


def _written(
    values: Float[Tensor, "head query value_dim"], output: Float[Tensor, "head value_dim dim"]
) -> Float[Tensor, "query dim"]:
    """What the heads write together: values through the output projection."""
    return rearrange(values, "head query dim -> query (head dim)") @ output.flatten(0, 1)


def _values(trace: Trace, site: Site, item: int) -> Float[Tensor, "head key value_dim"]:
    """The value of every head and key of one item."""
    pattern = trace.pattern(site)
    keys = trace.axes[site][1].positions_of(item) if site in trace.axes else None
    count = len(trace.key_labels(site, item))
    rows = torch.arange(count) if keys is None else keys
    values = expand_heads(pattern.v[item : item + 1], pattern.heads, slice(None))[0]
    return values[:, rows].detach().float()
