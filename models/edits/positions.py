"""`SetPositions`: the positions that a network is told its tokens have."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Int
from torch import Tensor

from models.attention import Edit
from models.attention.edit_protocols import PositionsEdit
from models.edits.fields import address, assign, call_of, choice, whole
from models.edits.routing import POSITIONS, acts_on, address_of
from models.edits.tokens import Padding
from models.where import Where


@dataclass(frozen=True, init=False, repr=False)
class SetPositions:
    """Tells a network other positions of its tokens; the tokens stay where they are.

    Which tokens a causal mask hides does not change. Networks of which the position encoding cannot
    be told other positions are refused by name.

    Attributes:
        where: which tower; None for all.
        how: "none", every token has the position of the first; "shuffled", positions are dealt at
            random; "shifted", each is `by` later. Patches are shuffled among each other.
        by: of "shifted"; negative for earlier positions.
        seed: of the shuffle.
    """

    acts_on: ClassVar[str] = POSITIONS
    where: Where
    how: Literal["none", "shuffled", "shifted"]
    by: int
    seed: int

    def __init__(
        self,
        how: Literal["none", "shuffled", "shifted"],
        by: int = 1,
        seed: int = 0,
        tower: str | None = None,
    ) -> None:
        how = choice("how", how, ("none", "shuffled", "shifted"))
        by = whole("by", by)
        assign(self, where=address(None, tower=tower), how=how, by=by, seed=whole("seed", seed))

    def __repr__(self) -> str:
        return call_of(self)

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        far, side = abs(self.by), "later" if self.by >= 0 else "earlier"
        done = {
            "none": "every token has the position of the first",
            "shuffled": "positions are dealt to the tokens at random",
            "shifted": f"every token has a position {far} {side}",
        }
        return f"{(self.where.tower or 'input').capitalize()}: {done[self.how]}."

    def edit_positions(self, positions: Int[Tensor, " token"]) -> Int[Tensor, " token"]:
        """The positions of an item's own tokens, in their order.

        Raises:
            ValueError: for a position before the first.
        """
        if self.how == "none":
            return positions[:1].expand_as(positions)
        if self.how == "shuffled":
            dice = torch.Generator().manual_seed(self.seed)
            return positions[torch.randperm(len(positions), generator=dice).to(positions.device)]
        if int(positions.min()) + self.by < 0:
            raise ValueError(f"{self}: expected positions from 0, received {self.by}")
        return positions + self.by


def positions_for(
    edits: Iterable[Edit],
    tokens: int,
    *,
    most: int,
    has_positions: bool = True,
    padding: Padding = None,
    where: Where = Where(0),
) -> Int[Tensor, " token"] | None:
    """The positions that edits give the tokens of all items; None without such an edit.

    Args:
        edits: of the network.
        tokens: how many.
        most: how many positions there are.
        has_positions: whether the network is told positions at all.
        padding: True at padding.
        where: the tower.

    Raises:
        ValueError: for a network without positions, a position that is not there, and a shuffle of
            items of several lengths.
    """
    mine = [e for e in edits if acts_on(e) == POSITIONS and address_of(e).includes(where)]
    mine = [edit for edit in mine if isinstance(edit, PositionsEdit)]
    if not mine:
        return None
    if not has_positions:
        raise ValueError(f"{mine[0]}: this network has no positions")
    if (
        padding is not None
        and bool(padding.any())
        and any(getattr(e, "how", "") == "shuffled" for e in mine)
    ):
        raise ValueError(
            f"{mine[0]}: expected items of one length to shuffle: trace them one by one"
        )
    order = torch.arange(tokens)
    for edit in mine:
        order = edit.edit_positions(order)
    if int(order.max()) >= most:
        raise ValueError(f"{mine[0]}: expected positions 0 to {most - 1}, received {order.max()}")
    return order
