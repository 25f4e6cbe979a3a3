"""Why a head attends: the score of a query and a key, split over what wrote them.

    s = scale · q·k,   q = R(norm(x_q) W_Q + b_Q),   k = R(norm(x_k) W_K + b_K)

or, of a bilinear score, s = qᵀMk, where Mk takes the place of the key.

x_q and x_k are sums over what each component wrote into the residual stream: embeddings, earlier
heads, feed-forward networks, biases. With the deviations of the norms held at their values on this
input, and the other side as it is, s is linear in either sum: each component gets a number on the
query's side, and one on the key's. The numbers of either side sum to s.

Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", section on QK
circuits.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Additive, Bilinear
from models.attention.fitted_rotation import Rotation, alike, rotation_between
from models.projections import Norm, Projections, plus_bias
from models.shown import one_line
from models.trace import Site, Trace, Where

TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-4}  # of a score, or of |q| |k| if that is more
COARSE = 3e-2  # the same in half precision


class Share(NamedTuple):
    """What one component contributes to a score."""

    name: str
    value: float


@dataclass(frozen=True, eq=False)
class Split:
    """A score, split twice.

    Attributes:
        score: scale · q·k, before bias, cap and mask.
        query: the shares of what was written at the query; they sum to the score.
        key: the shares of what was written at the key; they sum to the score.
    """

    score: float
    query: tuple[Share, ...]
    key: tuple[Share, ...]

    def __repr__(self) -> str:
        return one_line(self)


@torch.no_grad()
def split(
    trace: Trace,
    layer: int | Site | Where,
    head: int,
    query: int,
    key: int,
    *,
    kind: str | None = None,
    item: int = 0,
) -> Split:
    """The score of one query and one key, split over the components that wrote them.

    Args:
        trace: of any network.
        layer: which layer; one of the trace's sites; or its address.
        head: of the layer.
        query: which of the item's tokens attends.
        key: which it attends to.
        kind: "self" or "causal"; None if the layer has only one.
        item: index in the batch.

    Raises:
        ValueError: for a head or token that is not there, and for a layer whose queries and keys
            are not known to be made in this way; the message names it.
    """
    site = trace.site(layer, kind)
    pattern, projections = trace.pattern(site), trace.projections(site)
    if isinstance(pattern.score, Additive):
        raise ValueError(
            f"layer {site.layer}: expected a score that is linear in query and key, received an"
            " additive one: its tanh cannot be split"
        )
    projections.head(head)  # which says what is wrong with it
    stream = trace.stream(site, [query, key], item=item)
    parts = stream.parts()
    rows, _ = trace.positions(site, item)
    places = rows[torch.tensor([query, key])]
    q = _side(projections, pattern.q[item, :, places[0]], parts, 0, head, "query")
    k = _side(
        projections, pattern.k[item, :, places[1]], parts, 1, projections.kv_head(head), "key"
    )
    scale = 1.0
    if isinstance(pattern.score, Bilinear):
        k = _through(pattern.score, head, k)
    else:
        given = pattern.score.scale
        scale = pattern.q.shape[-1] ** -0.5 if given is None else given
    score = float(scale * q.vector @ k.vector)
    shares = {
        name: tuple(
            Share(part, float(scale * vector @ other.vector)) for part, vector in this.parts.items()
        )
        for name, this, other in (("query", q, k), ("key", k, q))
    }
    error = max(abs(sum(share.value for share in each) - score) for each in shares.values())
    limit = TOLERANCE.get(pattern.q.dtype, COARSE)
    size = max(1.0, abs(score), float(scale * q.vector.norm() * k.vector.norm()))
    if error > limit * size:
        raise ValueError(
            f"layer {site.layer}, head {head}: expected shares that sum to the score {score:.4g},"
            f" received a difference of {error:.2g}"
        )
    return Split(score, shares["query"], shares["key"])


class _Side(NamedTuple):
    """One side of a dot product: the vector, what its parts are, and how it was rotated."""

    vector: Float[Tensor, " dim"]
    parts: dict[str, Float[Tensor, " dim"]]
    rotation: Rotation | None


def _through(score: Bilinear, head: int, key: _Side) -> _Side:
    """Mk in place of k."""
    matrix = (score.matrix if score.matrix.ndim == 2 else score.matrix[head]).double()
    parts = {name: matrix @ vector for name, vector in key.parts.items()}
    return _Side(matrix @ key.vector, parts, key.rotation)


def _side(
    projections: Projections,
    recorded: Float[Tensor, "head dim"],
    parts: dict[str, Tensor],
    place: int,
    head: int,
    name: str,
) -> _Side:
    """The shares of the components in a query or a key."""
    matrices, biases, norm = (
        (projections.query, projections.query_bias, projections.query_norm)
        if name == "query"
        else (projections.key, projections.key_bias, projections.key_norm)
    )
    read = {part: vectors[place] for part, vectors in parts.items()}
    read = read if projections.norm is None else projections.norm.shares(read)
    by_part = {part: torch.einsum("i,hid->hd", x, matrices.double()) for part, x in read.items()}
    if biases is not None:
        by_part = plus_bias(by_part, biases.double())
    if norm is not None:
        by_part = _normed_heads(by_part, norm)
    before = torch.stack(list(by_part.values())).sum(0)
    rotation = None
    if not alike(before.float(), recorded.float()):
        rotation = rotation_between(before[:, None], recorded.double()[:, None])
        if rotation is None:
            raise ValueError(f"expected the {name} to be made of the stream by a linear map")
        by_part = {part: rotation(x[:, None])[:, 0] for part, x in by_part.items()}
    return _Side(recorded[head].double(), {part: x[head] for part, x in by_part.items()}, rotation)


def _normed_heads(parts: dict[str, Tensor], norm: Norm) -> dict[str, Tensor]:
    """The norm of every head's query or key, or of all heads together."""
    heads = next(iter(parts.values()))
    if norm.weight is not None and norm.weight.numel() == heads.numel():
        flat = norm.shares({part: x.flatten() for part, x in parts.items()})
        return {part: x.reshape(heads.shape) for part, x in flat.items()}
    return norm.shares(parts)
