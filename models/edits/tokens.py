"""Positions among an item's own tokens, wherever its padding is, as positions of an axis."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.attention import Pattern
from models.edits.fields import Numbers, chosen

Padding = Bool[Tensor, "batch _"] | None


def own_queries(pattern: Pattern, item: int) -> Int[Tensor, " _"]:
    """Positions of an item's own queries: those of its keys, unless the mask says which."""
    padding = pattern.mask.query_padding
    if padding is None and pattern.queries == pattern.keys:
        padding = pattern.mask.padding
    return own_tokens(padding, item, pattern.queries, pattern.device)


def own_keys(pattern: Pattern, item: int) -> Int[Tensor, " _"]:
    """Positions of an item's own keys."""
    mask = pattern.mask
    padding = mask.padding if mask.key_padding is None else mask.key_padding
    return own_tokens(padding, item, pattern.keys, pattern.device)


def own_tokens(
    padding: Padding, item: int, length: int, device: torch.device | str | None = None
) -> Int[Tensor, " _"]:
    """Positions of an item's own tokens on an axis; True in `padding` at those that are none."""
    everyone = torch.arange(length, device=device)
    return everyone if padding is None else everyone[~padding[item].to(everyone.device)]


def places(wanted: Numbers, positions: Int[Tensor, " _"], name: str) -> Int[Tensor, " _"]:
    """Positions on the axis of some of an item's own tokens.

    Raises:
        ValueError: for a token that the item does not have.
    """
    indices = chosen(wanted, len(positions), name)
    return positions if indices is None else positions[[*indices]]


def by_item(
    wanted: Numbers, positions: Sequence[Int[Tensor, " _"]], name: str
) -> tuple[int, ...] | tuple[tuple[int, ...], ...] | None:
    """Positions on the axis of some of each item's own tokens; None for all.

    An item that has fewer tokens keeps those positions that it has.
    """
    indices = chosen(wanted, max(map(len, positions)), name)
    if indices is None:
        return None
    rows = [row.tolist() for row in positions]
    every = tuple(tuple(row[each] for each in indices if each < len(row)) for row in rows)
    return every[0] if len({*every}) == 1 else every


def shuffled(rows: Float[Tensor, "*head token dim"], seed: int) -> Float[Tensor, "*head token dim"]:
    """The rows dealt to other tokens, of all heads alike."""
    order = torch.randperm(rows.shape[-2], generator=torch.Generator().manual_seed(seed))
    return rows[..., order.to(rows.device), :]
