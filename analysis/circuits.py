"""Scores of a head's weight matrices: what it copies, and whether it looks for likeness.

    copying            λ of W_V W_O: from the residual stream, through the head, back to it
    copying of tokens  λ of W_E W_V W_O W_U: from a token to the logits of all tokens
    matching           λ of W_Q W_Kᵀ: from the query's stream to the key's

each as Re Σλ / Σ|λ|: 1 if all eigenvalues are positive, −1 if all are negative. Norms are folded
into the matrices they stand before: the weight of the norm, and its centring.

Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", section on copying.
"""

from collections.abc import Mapping
from hashlib import blake2b

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures import VOCABULARY
from models.trace import Norm, Projections, Site, Trace

OF_WEIGHTS = COPYING, OF_TOKENS, MATCHING = "copying", "copying of tokens", "matching"
Products = dict[tuple[int, int], Tensor]  # W_U W_E by the ids of embedding and unembedding
Scores = tuple[Mapping[str, Float[Tensor, " head"]], Mapping[str, str]]


@torch.no_grad()
def circuit_scores(trace: Trace, site: Site, known: Products) -> Scores:
    """The scores of a site's heads, and the reasons for those that are not defined.

    Args:
        trace: of any network.
        site: one of its sites.
        known: products of embeddings, which the sites of a tower share; more are added.
    """
    try:
        projections = trace.projections(site)
    except ValueError as error:
        return {}, dict.fromkeys(OF_WEIGHTS, str(error))
    if site.kind == "cross":
        why = "cross-attention reads one tower and writes to another"
        return {}, dict.fromkeys(OF_WEIGHTS, why)
    scores, reasons = {}, {}
    read, write = _read(projections), projections.output.float()
    if read.shape[1] == write.shape[2]:
        scores[COPYING] = _kept(trace, site, COPYING, write @ read)
    else:
        reasons[COPYING] = "the head reads and writes vectors of different widths"
    between = _between_tokens(projections, known)
    if isinstance(between, str):
        reasons[OF_TOKENS] = between
    else:
        scores[OF_TOKENS] = _kept(trace, site, OF_TOKENS, write @ between @ read)
    if not projections.dot:
        reasons[MATCHING] = "a learned score, not a dot product, compares queries with keys"
    elif projections.rotated:
        reasons[MATCHING] = (
            "queries and keys are rotated by their positions: their matrices alone give scores"
            " of a token with itself only"
        )
    elif projections.query_norm is not None or projections.key_norm is not None:
        reasons[MATCHING] = "queries and keys are normed after their matrices"
    else:
        query, key = (
            folded(each, projections.norm) for each in (projections.query, projections.key)
        )
        key = _each_head(key, projections.heads)
        scores[MATCHING] = _kept(trace, site, MATCHING, key.transpose(1, 2) @ query)
    return scores, reasons


def _kept(
    trace: Trace, site: Site, name: str, matrices: Float[Tensor, "head dim dim"]
) -> Float[Tensor, " head"]:
    """The score of each matrix, kept with the network for as long as they are the same."""
    kept = {} if trace.origin is None else trace.origin.kept()
    digest = blake2b(matrices.cpu().contiguous().numpy().data, digest_size=16).digest()
    known = kept.get((name, site.where))
    if known is None or known[0] != digest:
        known = kept[name, site.where] = digest, eigenvalue_score(matrices)
    return known[1]


def eigenvalue_score(matrices: Float[Tensor, "head dim dim"]) -> Float[Tensor, " head"]:
    """Re Σλ / Σ|λ| of each matrix, −1 to 1; NaN for one whose eigenvalues are all 0."""
    values = torch.linalg.eigvals(matrices)
    return values.real.sum(-1) / values.abs().sum(-1)


def folded(
    matrices: Float[Tensor, "head dim width"], norm: Norm | None
) -> Float[Tensor, "head dim width"]:
    """The matrices with the norm before them, but for its division: (x − mean) · weight."""
    matrices = matrices.float()
    if norm is None:
        return matrices
    if norm.weight is not None:
        matrices = matrices * norm.weight.float()[:, None]
    return matrices if norm.kind == "rms" else matrices - matrices.mean(1, keepdim=True)


def _read(projections: Projections) -> Float[Tensor, "head dim value_dim"]:
    """The value matrix of every head."""
    return _each_head(folded(projections.value, projections.norm), projections.heads)


def _each_head(matrices: Tensor, heads: int) -> Tensor:
    return matrices.repeat_interleave(heads // len(matrices), 0)


def _between_tokens(projections: Projections, known: Products) -> Float[Tensor, "dim dim"] | str:
    """W_U W_E over evenly spread tokens of the vocabulary; or why there is none."""
    if projections.embedding is None:
        return "it reads no tokens through an embedding as wide as itself"
    if projections.unembedding is None:
        return "its logits are not one norm and one linear map of the last hidden state"
    if len(projections.embedding) != len(projections.unembedding):
        return "it reads and writes different vocabularies"
    key = id(projections.embedding), id(projections.unembedding)
    if key not in known:
        step = -(-len(projections.embedding) // VOCABULARY)
        read, write = projections.embedding[::step].float(), projections.unembedding[::step].float()
        known[key] = folded(write.T[None], projections.final_norm)[0] @ read
    return known[key]
