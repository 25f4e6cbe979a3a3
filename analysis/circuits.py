"""Scores of a head's weight matrices: what it copies, and whether it looks for likeness.

    copying            λ of W_V W_O: from the residual stream, through the head, back to it
    copying of tokens  λ of W_E W_V W_O W_U: from a token to the logits of all tokens
    matching           λ of W_Q W_Kᵀ: from the query's stream to the key's

each as Re Σλ / Σ|λ|: 1 if all eigenvalues are positive, −1 if all are negative. Norms are folded
into the matrices they stand before: the weight of the norm, and its centring.

Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", section on copying.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures import VOCABULARY
from models.trace import Norm, Projections, Site, Trace

OF_WEIGHTS = COPYING, OF_TOKENS, MATCHING = "copying", "copying of tokens", "matching"
Known = dict[Any, Any]  # of embeddings, by their ids
Scores = tuple[Mapping[str, Float[Tensor, " head"]], Mapping[str, str]]


@torch.no_grad()
def circuit_scores(trace: Trace, site: Site, known: Known) -> Scores:
    """The scores of a site's heads, and the reasons for those that are not defined.

    They are kept with the network for as long as its weights are the same.

    Args:
        trace: of any network.
        site: one of its sites.
        known: of the embeddings, which the sites of a tower share; more is added.
    """
    try:
        maps = trace.projections(site)
    except ValueError as error:
        return {}, dict.fromkeys(OF_WEIGHTS, str(error))
    if site.kind == "cross":
        why = "cross-attention reads one tower and writes to another"
        return {}, dict.fromkeys(OF_WEIGHTS, why)
    kept = {} if trace.origin is None else trace.origin.kept()
    place, mark = ("circuits", site.where), _mark(maps, known)
    if place not in kept or kept[place][0] != mark:
        kept[place] = mark, _scores(maps, known)
    return kept[place][1]


def _scores(maps: Projections, known: Known) -> Scores:
    scores, reasons = {}, {}
    read, write = _each_head(folded(maps.value, maps.norm), maps.heads), maps.output.float()
    if read.shape[1] == write.shape[2]:
        scores[COPYING] = eigenvalue_score(write @ read)
    else:
        reasons[COPYING] = "the head reads and writes vectors of different widths"
    between = _between_tokens(maps, known)
    if isinstance(between, str):
        reasons[OF_TOKENS] = between
    else:
        scores[OF_TOKENS] = eigenvalue_score(write @ between @ read)
    if not maps.dot:
        reasons[MATCHING] = "a learned score, not a dot product, compares queries with keys"
    elif maps.rotated:
        reasons[MATCHING] = (
            "queries and keys are rotated by their positions: their matrices alone give scores"
            " of a token with itself only"
        )
    elif maps.query_norm is not None or maps.key_norm is not None:
        reasons[MATCHING] = "queries and keys are normed after their matrices"
    else:
        query, key = (folded(each, maps.norm) for each in (maps.query, maps.key))
        scores[MATCHING] = eigenvalue_score(_each_head(key, maps.heads).transpose(1, 2) @ query)
    return scores, reasons


def _mark(maps: Projections, known: Known) -> tuple[object, ...]:
    """Changes when a weight does: the products of all matrices with random vectors."""
    ends = maps.embedding, maps.unembedding
    for each in ends:
        if each is not None and ("mark", id(each)) not in known:
            known["mark", id(each)] = _product(_some(each))
    norms = [each and (each.kind, each.weight) for each in (maps.norm, maps.final_norm)]
    weights = [None if each is None or each[1] is None else _product(each[1]) for each in norms]
    matrices = (maps.query, maps.key, maps.value, maps.output)
    shared = [None if each is None else known["mark", id(each)] for each in ends]
    return *map(_product, matrices), *weights, *shared, maps.dot, maps.rotated


def _product(matrix: Tensor) -> float:
    rows = matrix.reshape(-1, matrix.shape[-1]).float()
    left, right = (_random(size).to(rows.device) for size in rows.shape)
    return float(left @ (rows @ right))


@cache
def _random(size: int) -> Float[Tensor, " size"]:
    return torch.randn(size, generator=torch.Generator().manual_seed(size))


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


def _each_head(matrices: Tensor, heads: int) -> Tensor:
    return matrices.repeat_interleave(heads // len(matrices), 0)


def _some(table: Float[Tensor, "vocab dim"]) -> Float[Tensor, "token dim"]:
    """The rows of evenly spread tokens of the vocabulary."""
    return table[:: -(-len(table) // VOCABULARY)]


def _between_tokens(maps: Projections, known: Known) -> Float[Tensor, "dim dim"] | str:
    """W_U W_E over evenly spread tokens of the vocabulary; or why there is none."""
    if maps.embedding is None:
        return "it reads no tokens through an embedding as wide as itself"
    if maps.unembedding is None:
        return "its logits are not one norm and one linear map of the last hidden state"
    if len(maps.embedding) != len(maps.unembedding):
        return "it reads and writes different vocabularies"
    key = id(maps.embedding), id(maps.unembedding)
    if key not in known:
        read, write = (_some(each).float() for each in (maps.embedding, maps.unembedding))
        known[key] = folded(write.T[None], maps.final_norm)[0] @ read
    return known[key]
