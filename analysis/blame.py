"""Blame: what an output token rests on, and whether it does.

For every edge (layer, head, query i, key j), what cutting it would do to log p of the token, with
the row's softmax computed anew and the rest of the network linearised:

    effect = A_ij / (1 − A_ij) · (Σ_k A_ik g_ik − g_ij),   g = ∂ log p / ∂A

A sink of the softmax is one of the k, with a g of 0. The effect comes for all edges from one pass
and its gradient. The check cuts the edges that carry most, and, as often as asked, as many random
edges of the same layers: only where the probability falls further than under these does the token
rest on the edges. In a layer whose weights an edit sets, edges are cut behind it, and the row keeps
its sum. Where a token is told by several copies of the same thing, cutting one changes little, and
all effects are small.

Source: Kramár et al. 2024, "AtP*", section 3.1, for the softmax; Goldowsky-Dill et al. 2023,
"Localizing Model Behavior with Path Patching", for cutting edges as a test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import nan
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.relevance import gradient_columns
from analysis.stack import self_attention
from analysis.target import Target, choose
from models.attention.edit_protocols import Edit
from models.edits import Cut, SetWeights
from models.progress import Progress, no_progress
from models.progress import each as each_of
from models.run import Model, as_model, trace
from models.trace import Site, Trace


class Edge(NamedTuple):
    """One query–key pair of a head, and what cutting it would do to log p, in nats."""

    layer: int
    head: int
    query: int
    key: int
    effect: float


class Span(NamedTuple):
    """Neighbouring tokens of the input, from `start` up to `stop`, and their share of relevance."""

    start: int
    stop: int
    share: float


@dataclass(frozen=True, eq=False)
class Blame:
    """What an output token rests on.

    Attributes:
        target: the token and the position where it is predicted.
        tokens: relevance of each token of the input, Σ A ⊙ ∇A over layers, heads and queries.
        spans: neighbouring tokens with more relevance than the mean of the positive ones, the
            largest share first.
        edges: those whose cut would lower log p most, by their estimated effects.
        path: the chain of edges from the target down to the input whose effects sum to most.
        before: probability of the token.
        after: the same with `edges` cut.
        controls: the same with as many random edges of the same layers cut, one number a draw.
    """

    target: Target
    tokens: Float[Tensor, " token"]
    spans: tuple[Span, ...]
    edges: tuple[Edge, ...]
    path: tuple[Edge, ...]
    before: float
    after: float
    controls: tuple[float, ...]


def blame(
    model: Model | Any,
    input: Any,
    *,
    target: Any = None,
    count: int = 10,
    controls: int = 20,
    seed: int = 0,
    edits: Sequence[Edit] = (),
    progress: Progress = no_progress,
) -> Blame:
    """What an output token rests on: spans, edges, a path, and the causal check.

    Args:
        model: from `load`, or a network.
        input: one text, or ids, as for `trace`.
        target: the token, as for `relevance`; None: the likeliest where it predicts,
            without edits.
        count: how many edges are cut.
        controls: how many draws of random edges.
        seed: of the draws.
        edits: of every pass, before edges are cut.
        progress: called with the number of passes made and of all.

    Raises:
        ValueError: for a model without logits, an encoder–decoder, and blocks that mix tokens by
            other means than attention.
    """
    model = as_model(model)
    chosen = choose(model, input, target)
    if chosen.id is None:
        raise ValueError("target: expected a token, received a similarity")
    t = trace(
        model,
        input,
        edits=edits,
        gradient=lambda output: chosen.logits(output).float().log_softmax(-1)[chosen.id],
    )
    if t.target_tokens is not None:
        raise ValueError(f"expected a model with one stack, received the encoder–decoder {t.model}")
    sites = self_attention(t)
    maps = [edge_effects(t, site, chosen.item) for site in sites]
    edges = strongest(maps, sites, count)
    dice = torch.Generator().manual_seed(seed)
    draws = [_random(edges, t, sites, chosen.item, dice) for _ in range(controls)]
    by_layer, after = {site.layer: site for site in sites}, list[float]()
    for some in each_of([edges, *draws], progress):
        cuts = [_cut(t, by_layer[edge.layer], edge, chosen.item) for edge in some]
        cut = trace(model, input, edits=[*edits, *cuts])
        after.append(float(chosen.probability(cut.output)))
    tokens = gradient_columns(t, sites, chosen.item)
    before = float(chosen.probability(t.output))
    count_of_tokens = len(t.queries(sites[0])[chosen.item])
    last = count_of_tokens - 1 if chosen.position is None else chosen.position
    path = best_path(maps, sites, last)
    return Blame(chosen, tokens, spans_of(tokens), edges, path, before, after[0], tuple(after[1:]))


@torch.no_grad()
def edge_effects(t: Trace, site: Site, item: int = 0) -> Float[Tensor, "head query key"]:
    """What cutting each edge of a layer would do to the number whose gradient the trace holds.

    Edges that the mask hides have 0. Rows that an edit sets keep their sum.
    """
    is_set = bool(t.pattern(site).weights_edits)
    sinks, effects = None if is_set else t.sink_weights(site, item), []
    for head in range(site.heads):
        weights, gradient = t.weights(site, head, item=item), t.gradient(site, head, item=item)
        whole = weights.sum(-1, keepdim=True) if is_set else torch.ones_like(weights[:, :1])
        shares = torch.where(whole != 0, weights / whole, 0.0)
        sink = 0.0 if sinks is None else sinks[head][:, None]
        effects.append(whole * _cut_effects(shares, gradient, sink))
    return torch.stack(effects)


def _cut_effects(
    weights: Float[Tensor, "query key"],
    gradient: Float[Tensor, "query key"],
    sink: Float[Tensor, "query 1"] | float,
) -> Float[Tensor, "query key"]:
    """The effects of one head. What the largest weight of a row leaves to others, and to the sink
    of its softmax, is summed up from them: 1 less that weight would have no digits left."""
    row = (weights * gradient).sum(-1, keepdim=True)
    top = weights.argmax(-1, keepdim=True)
    others = weights.scatter(-1, top, 0.0)
    rest = others.sum(-1, keepdim=True) + sink
    slopes = (others * gradient).sum(-1, keepdim=True) / rest - gradient.gather(-1, top)
    largest = torch.where(rest > 0, weights.gather(-1, top) * slopes, -row)
    cut = weights / (1 - others) * (row - gradient)
    return cut.scatter(-1, top, largest)


def _cut(t: Trace, site: Site, edge: Edge, item: int) -> Edit:
    """An edge without its weight; behind the edits, where these set weights of its layer."""
    at = edge.layer, edge.head, edge.query, edge.key
    where = {"kind": site.kind, "tower": site.tower}
    if not t.pattern(site).weights_edits:
        return Cut(*at, **where)
    row = t.weights(site, edge.head, rows=[edge.query], item=item)[0]
    shared = bool(row.sum() - row[edge.key] > 0)
    return SetWeights(*at, 0.0, renormalise=shared, **where)


def strongest(
    maps: Sequence[Float[Tensor, "head query key"]], sites: Sequence[Site], count: int
) -> tuple[Edge, ...]:
    """The edges whose cut would lower the number most, the strongest first.

    Raises:
        ValueError: for a count below 1.
    """
    if count < 1:
        raise ValueError(f"count: expected 1 or more, received {count}")
    edges = list[Edge]()
    for each, site in zip(maps, sites, strict=True):
        effects, places = each.flatten().topk(min(count, each.numel()), largest=False)
        at = torch.stack(torch.unravel_index(places, each.shape), -1).tolist()
        for (head, query, key), effect in zip(at, effects.tolist(), strict=True):
            edges.append(Edge(site.layer, head, query, key, effect))
    falls = (edge for edge in edges if edge.effect < 0)
    return tuple(sorted(falls, key=lambda edge: edge.effect)[:count])


def best_path(
    maps: Sequence[Float[Tensor, "head query key"]], sites: Sequence[Site], token: int
) -> tuple[Edge, ...]:
    """The chain of edges from a token after the last layer down to the input that carries most.

    In each layer the chain stays at its token, by the residual connection, or follows an edge whose
    cut would lower the number. Of all chains it has the largest sum.
    """
    best, steps = maps[0].new_zeros(maps[0].shape[1]), []
    for each in maps:  # best[i]: the most that reaches token i behind this layer
        gain, head = (-each).clamp_min(0).max(0)  # query key
        reached, key = (gain + best[None]).masked_fill(gain <= 0, -torch.inf).max(1)
        follows = reached > best
        steps.append((follows, head, key))
        best = torch.where(follows, reached, best)
    path = []
    for (follows, head, key), each, site in zip(
        reversed(steps), reversed(maps), reversed(sites), strict=True
    ):
        if follows[token]:
            to = int(key[token])
            best_head = int(head[token, to])
            path.append(Edge(site.layer, best_head, token, to, float(each[best_head, token, to])))
            token = to
    return tuple(path)


def spans_of(tokens: Float[Tensor, " token"]) -> tuple[Span, ...]:
    """Neighbouring tokens with more than the mean of the positive relevances.

    Shares are of the positive relevance of all tokens.
    """
    positive = tokens.clamp_min(0)
    whole = float(positive.sum())
    if not whole:
        return ()
    above = positive > positive[positive > 0].mean()
    above = above if above.any() else positive > 0  # all are alike
    spans = []
    for inside, group in groupby(range(len(above)), lambda place: bool(above[place])):
        places = [*group]
        if inside:
            share = float(positive[places].sum()) / whole
            spans.append(Span(places[0], places[-1] + 1, share))
    return tuple(sorted(spans, key=lambda span: -span.share))


def _random(
    edges: Sequence[Edge], t: Trace, sites: Sequence[Site], item: int, dice: torch.Generator
) -> tuple[Edge, ...]:
    """As many different edges of the same layers, none of them hidden by the mask."""
    random_edges = []
    for site in sites:
        wanted = sum(edge.layer == site.layer for edge in edges)
        if not wanted:
            continue
        tokens = torch.arange(len(t.queries(site)[item]))
        seen = t.visible(site, tokens, item=item).cpu().expand(site.heads, -1, -1)
        cells = seen.nonzero()
        picked = cells[torch.randperm(len(cells), generator=dice)[:wanted]].tolist()
        random_edges += [Edge(site.layer, head, query, key, nan) for head, query, key in picked]
    return tuple(random_edges)
