"""One head from queries and keys to what it writes, for one query.

products → + bias, mask → softmax → weights · V → W_O
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Additive, Bilinear, Score
from models.attention.pattern import expand_heads
from models.trace import Site, Trace

WHOLE = 64  # maximum tokens per side of matrices that are shown whole


@dataclass(frozen=True, eq=False)
class Stages:
    """The computation of one head, from queries and keys to what it writes.

    Attributes:
        rows: the queries that are there: all of a short text, else the chosen one.
        keys: the keys: all of a short text, else those with the largest weights of the chosen row.
        chosen: place of the chosen query in `rows`.
        q: queries as they are compared.
        k: keys.
        v: values.
        products: scores before bias and mask.
        formula: of these.
        edited: whether an edit changed the values that this head's weights give.
        scores: scores that go into the softmax; −∞ where masked.
        weights: after the softmax and the edits of weights.
        output: weights times values, over all keys of the text; as an edit of values left it.
        written: what the head adds to the layer's output at the chosen token, without the bias;
            None where the layer's output matrix cannot be told.
        reason: why it cannot.
    """

    rows: tuple[int, ...]
    keys: tuple[int, ...]
    chosen: int
    q: Float[Tensor, "row dim"]
    k: Float[Tensor, "key key_dim"]
    v: Float[Tensor, "key value_dim"]
    products: Float[Tensor, "row key"]
    scores: Float[Tensor, "row key"]
    weights: Float[Tensor, "row key"]
    output: Float[Tensor, "row value_dim"]
    written: Float[Tensor, " out"] | None
    reason: str
    formula: str
    edited: bool


def stages(trace: Trace, site: Site, head: int, query: int, *, item: int = 0) -> Stages:
    """The stages of one head for one query; arguments as for `pair`."""
    pattern = trace.pattern(site)
    places, columns = trace.positions(site, item)
    rows = range(len(places)) if len(places) <= WHOLE else range(query, query + 1)
    chosen = rows.index(query)
    weights = trace.weights(site, head, rows=rows, item=item)
    keys = torch.arange(len(columns))
    if len(columns) > WHOLE:
        keys = weights[chosen].topk(WHOLE).indices.cpu().sort().values
    at, among = places[rows.start : rows.stop].to(pattern.device), columns.to(pattern.device)
    q = pattern.q[item, head, at].detach().float()
    k, v = (
        expand_heads(each[item : item + 1], pattern.heads, slice(head, head + 1))[0, 0, among]
        .detach()
        .float()
        for each in (pattern.k, pattern.v)
    )
    shown_keys = keys.to(k.device)
    effective = trace.effective_weights(site, head, rows=rows, item=item)
    output, matrix, reason = effective @ v, None, ""
    try:
        matrix = trace.projections(site).output[head]
    except ValueError as error:
        reason = str(error)
    written = None if matrix is None else output[chosen] @ matrix.detach().to(output)
    return Stages(
        *(tuple(rows), tuple(keys.tolist()), chosen),
        *(q, k[shown_keys], v[shown_keys]),
        products=pattern.score.scores(q[None, None], k[shown_keys][None, None], [head])[
            0, 0
        ].detach(),
        scores=trace.scores(site, head, rows=rows, item=item)[:, shown_keys],
        weights=weights[:, shown_keys],
        output=output,
        written=written,
        reason=reason,
        formula=_formula(pattern.score),
        edited=not effective.equal(weights),
    )


def _formula(score: Score) -> str:
    if isinstance(score, Additive):
        return "wᵀ tanh(q + k)" if score.query is None else "wᵀ tanh(W_q q + W_k k)"
    return "q · M · K" if isinstance(score, Bilinear) else "q · K, scaled"
