"""Attention flow: each layer's weights as the capacities of a network of pipes.

A node for every token of every layer; the edge from token i of layer l to token j of the layer
below holds at most Ã_l[i, j]. The flow to an input token is the largest stream that the edges can
carry from the query to it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from analysis.stack import Fusion, layer_map, self_attention
from models.progress import Progress, each, no_progress
from models.trace import Trace

SCALE = 2**28  # capacities are integers: one unit is 4e-9 of all that leaves the query


def flow(
    trace: Trace,
    query: int,
    *,
    fusion: Fusion = "mean",
    tower: str | None = None,
    keys: Sequence[int] | None = None,
    item: int = 0,
    progress: Progress = no_progress,
) -> Float[Tensor, " key"]:
    """The maximum flow from one token of the last layer to input tokens.

    Each input token's flow is a problem of its own: flows do not add up to 1, and dividing them
    by their sum has no meaning. In deep networks most of them equal the sum of the token's column
    in the first layer, whatever the layers above it do.

    Args:
        trace: of a forward pass.
        query: position of the token.
        fusion: how the heads of a layer are fused: "mean", "max" or "min".
        tower: of a model with several, such as "encoder" or "decoder".
        keys: which input tokens; None for all.
        item: index in the batch.
        progress: called with the number of input tokens done and of all.

    Returns:
        0 to 1 for each of the keys.

    Raises:
        ValueError: for a token that is not there, and as `stack.self_attention`.

    Source: Abnar & Zuidema 2020, section 3; by Dinic's algorithm.
    """
    sites = self_attention(trace, tower)
    tokens = len(trace.query_labels(sites[0], item))
    keys = range(tokens) if keys is None else keys
    for name, place in [("query", query), *(("key", key) for key in keys)]:
        if not 0 <= place < tokens:
            raise ValueError(f"{name}: expected 0 to {tokens - 1}, received {place}")
    layers = [layer_map(trace, site, fusion, item=item) for site in sites]
    return maximum_flows(layers, query, keys, progress)


def maximum_flows(
    layers: Sequence[Float[Tensor, "token token"]],
    query: int,
    keys: Sequence[int],
    progress: Progress = no_progress,
) -> Float[Tensor, " key"]:
    """The maximum flows from a token above the last layer to some below the first, which comes
    first in `layers`: the capacities of each layer's edges, whose rows sum to 1."""
    units = [(layer.double() * SCALE).round().long().cpu() for layer in layers]
    if len(units) == 1:
        return units[0][query, list(keys)].double().div(SCALE).float()
    edges = _edges(units, query)
    amounts = [_maximum_flow(edges, units[0][:, key], len(units)) for key in each(keys, progress)]
    return torch.tensor(amounts, dtype=torch.float64).div(SCALE).float()


class _Edges(NamedTuple):
    """Edges between the layers, and from the query: tail, head and capacity of each.

    Node 0 is where the flow ends; token i above layer l (from 0) is node l · tokens + i + 1; the
    query is the last node.
    """

    tail: Int[Tensor, " edge"]
    head: Int[Tensor, " edge"]
    capacity: Int[Tensor, " edge"]


def _edges(units: Sequence[Int[Tensor, "token token"]], query: int) -> _Edges:
    """The edges above the first layer; in the last one those of the query."""
    tokens, last = len(units[0]), len(units) - 1
    parts = []
    for layer, capacities in enumerate(units[1:], start=1):
        kept = capacities[query : query + 1] if layer == last else capacities
        tail, head = kept.nonzero(as_tuple=True)
        below = (layer - 1) * tokens + 1
        parts.append((tail + below + tokens, head + below, kept[tail, head]))
    return _Edges(*(torch.cat(part) for part in zip(*parts, strict=True)))


def _maximum_flow(edges: _Edges, column: Int[Tensor, " token"], layers: int) -> int:
    """The maximum flow from the last node to node 0, into which the first layer's column leads."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    tokens = len(column)
    tail = torch.cat([torch.arange(1, tokens + 1), edges.tail])
    head = torch.cat([torch.zeros(tokens, dtype=torch.long), edges.head])
    capacity = torch.cat([column, edges.capacity])
    nodes = (layers - 1) * tokens + 2
    values, *ends = (part.int().numpy() for part in (capacity, tail, head))
    graph = csr_array((values, tuple(ends)), shape=(nodes, nodes))
    return int(maximum_flow(graph, nodes - 1, 0, method="dinic").flow_value)
