"""Which head of another model is most like one of this model, on the same text.

Two models cut a text into tokens of their own. Both maps are folded onto the longest pieces of text
whose ends are ends of tokens in both: a piece attends with the mean of its tokens, and receives the
sum of what they receive. Special tokens are left out, and each row sums to 1 again. The overlap of
two heads is the share of the weight that they put on the same pieces,

    mean over pieces of Σ min(a, b) = 1 − half the distance |a − b|

which is 1 for equal maps, and 0 for those that share no piece.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.words import joined_tokens
from models.trace import Site, Tokens, Trace, Where

Pieces = tuple[tuple[int, ...], ...]  # by piece the tokens in it
LEAST = 1e-6  # weight of a row on all pieces: below it the row stays 0


@dataclass(frozen=True, eq=False)
class Alike:
    """Heads of another model beside one of this.

    Attributes:
        pieces: of the text, as this model's tokens show them.
        weights: of the chosen head.
        overlap: by self-attention layer and head of the other model; NaN where a layer has fewer.
        others: likewise, their weights.
        sites: the other model's layers.
    """

    pieces: tuple[str, ...]
    weights: Float[Tensor, "piece piece"]
    overlap: Float[Tensor, "layer head"]
    others: Float[Tensor, "layer head piece piece"]
    sites: tuple[Site, ...]

    def best(self, count: int) -> list[tuple[int, int]]:
        """Rows and heads of the largest overlaps, the largest first."""
        order = self.overlap.nan_to_num(-1).flatten().argsort(descending=True)
        known = [divmod(int(each), self.overlap.shape[1]) for each in order]
        return [each for each in known if not self.overlap[each].isnan()][:count]


def alike(t: Trace, layer: int | Site | Where, head: int, other: Trace) -> Alike:
    """Compares a head with every head of self-attention of another model.

    Args:
        t: of a text.
        layer: a layer of self-attention over it; one of the trace's sites; or its address.
        head: of the layer.
        other: of the same text, by another model.

    Raises:
        ValueError: where the tokens have no common pieces, and for layers that are not over them.
    """
    site = t.site(layer)
    ours, theirs = common_pieces(t.tokens[0], other.tokens[0])
    sites = tuple(each for each in other.sites if _is_over(other, each))
    if not _is_over(t, site):
        raise ValueError("choose a layer of self-attention over the text")
    if not sites:
        raise ValueError(f"{other.model} has no self-attention over the text")
    chosen = folded(t.weights(site, head)[None], ours)[0]
    most, count = max(each.heads for each in sites), len(ours)
    others = torch.full((len(sites), most, count, count), torch.nan)
    for row, each in enumerate(sites):
        others[row, : each.heads] = folded(other.weights(each), theirs)
    overlap = torch.minimum(chosen, others).sum(-1).mean(-1)
    labels = joined_tokens(t.tokens[0], ours).labels
    return Alike(labels, chosen, overlap, others, sites)


def common_pieces(first: Tokens, second: Tokens) -> tuple[Pieces, Pieces]:
    """The tokens of each in the longest common pieces of their text.

    Raises:
        ValueError: if nothing is common.
    """
    common = sorted({each for each in _ends(first) if each} & {*_ends(second)})
    if len(common) < 2:
        raise ValueError("the two models cut the text into pieces that have nothing in common")
    return _pieces(first, common), _pieces(second, common)


def folded(
    weights: Float[Tensor, "head query key"], pieces: Sequence[Sequence[int]]
) -> Float[Tensor, "head piece piece"]:
    """Maps over pieces: means of rows, sums of columns, rows that sum to 1 where they can."""
    columns = torch.stack([weights[..., list(piece)].sum(-1) for piece in pieces], -1)
    rows = torch.stack([columns[:, list(piece)].mean(1) for piece in pieces], 1).float().cpu()
    whole = rows.sum(-1, keepdim=True)
    return torch.where(whole > LEAST, rows / whole.clamp(min=LEAST), 0)


def _ends(tokens: Tokens) -> list[tuple[int, int] | None]:
    """Where each token ends: number of the text, and its characters; None for special ones."""
    pairs = zip(tokens.segments, tokens.spans, strict=True)
    return [None if span is None else (segment, span[1]) for segment, span in pairs]


def _pieces(tokens: Tokens, ends: "Sequence[tuple[int, int]]") -> Pieces:
    pieces: list[list[int]] = [[] for _ in ends]
    for place, end in enumerate(_ends(tokens)):
        if end is None or end > ends[-1]:
            continue
        pieces[next(i for i, each in enumerate(ends) if end <= each)].append(place)
    return tuple(map(tuple, pieces))


def _is_over(t: Trace, site: Site) -> bool:
    sizes = {len(t.query_labels(site)), len(t.key_labels(site)), len(t.tokens[0])}
    return site.kind in ("self", "causal") and len(sizes) == 1
