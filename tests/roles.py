"""What a head does, as a number: how much weight its queries give to the key they are expected to.

A role says, for every query, which key a head of that kind looks at, or −1 where it has nothing to
do. Its score is the mean weight there: 1 if nothing else is ever looked at, 0 if it never is;
uniform attention over n keys scores 1/n.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def role_score(
    weights: Float[Tensor, "*head query key"], keys: Int[Tensor, " query"]
) -> Float[Tensor, "*head"]:
    """The mean weight that queries give to their keys.

    Args:
        weights: of one or more heads.
        keys: for every query, the key it is expected to look at; −1 where it does not count.

    Raises:
        ValueError: if no query counts.
    """
    counted = _counted(keys)
    return weights[..., counted, keys[counted]].mean(-1)


def role_hits(
    weights: Float[Tensor, "*head query key"], keys: Int[Tensor, " query"]
) -> Float[Tensor, "*head"]:
    """The share of queries that give the expected key more weight than any other."""
    counted = _counted(keys)
    return (weights[..., counted, :].argmax(-1) == keys[counted]).float().mean(-1)


def previous_token(tokens: int) -> Int[Tensor, " query"]:
    """The token before; the first has none.

    Source: the "previous token head" of Elhage et al. 2021 and Olsson et al. 2022.
    """
    return torch.arange(tokens) - 1


def after_the_same(ids: Int[Tensor, " query"]) -> Int[Tensor, " query"]:
    """The token after the last earlier occurrence of the same token; −1 where it is new.

    On a sequence with a repeat, the mean weight there is the induction score, also called prefix
    matching.

    Source: Olsson et al. 2022, "In-context Learning and Induction Heads".
    """
    place = torch.arange(len(ids))
    same = (ids[:, None] == ids[None]) & (place[None] < place[:, None])
    last = torch.where(same, place[None], -2).amax(1)
    return last + 1


def mirrored(tokens: int) -> Int[Tensor, " query"]:
    """The token as far from the end as the query is from the beginning: the anti-diagonal."""
    return torch.arange(tokens).flip(0)


def _counted(keys: Tensor) -> Tensor:
    counted = (keys >= 0).nonzero()[:, 0]
    if not len(counted):
        raise ValueError("keys: expected at least one query that has one, received none")
    return counted
