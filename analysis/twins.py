"""Equal tokens of a text, and the weight between them, a block of rows at a time."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.trace import Tokens

SPARSE = 8  # pairs are kept as positions if they are fewer than one in this many cells
MOST_KEPT = 2**21  # pairs kept for the next layer; others are compared anew


@dataclass(frozen=True, eq=False)
class Pairs:
    """Some pairs of a row and a key.

    Attributes:
        places: rows and keys, one after another; None where the pairs are many.
        cells: 1 at each pair, where the pairs are many.
    """

    places: tuple[Tensor, Tensor] | None = None
    cells: Float[Tensor, "row key"] | None = None

    @property
    def kept(self) -> int:
        """Number of pairs that are kept as positions."""
        return 0 if self.places is None else len(self.places[0])

    def within(self, keys: slice) -> "Pairs":
        """The pairs with these keys, which count from the first of them."""
        if self.places is None:
            return self if self.cells is None else Pairs(cells=self.cells[:, keys])
        rows, keys_of = self.places
        inside = (keys_of >= keys.start) & (keys_of < keys.stop)
        return Pairs((rows[inside], keys_of[inside] - keys.start))

    def to(self, device: torch.device) -> "Pairs":
        """The pairs on a device."""
        if self.places is not None:
            rows, keys = self.places
            return Pairs((rows.to(device), keys.to(device)))
        return Pairs(cells=None if self.cells is None else self.cells.to(device))

    def weight(self, weights: Float[Tensor, "head row key"]) -> Float[Tensor, "head row"]:
        """The weight of each row on its pairs."""
        if self.places is None:
            if self.cells is None:
                raise ValueError("expected places or cells, received neither")
            return torch.einsum("hrk,rk->hr", weights, self.cells)
        rows, keys = self.places
        pair_weights = weights[:, rows, keys]
        return weights.new_zeros(weights.shape[:2]).index_add_(1, rows, pair_weights)


class Twins:
    """Which tokens of a text are equal; special tokens have no twins."""

    def __init__(self, tokens: Tokens, *, words: bool = False) -> None:
        """Compares the tokens.

        Args:
            tokens: of one text.
            words: whether to compare their text, in any case, and not their ids.
        """
        names: list[object] = [label.casefold() for label in tokens.labels] if words else []
        names = names if words else list(tokens.ids)
        first: dict[object, int] = {}
        firsts = [
            place if special else first.setdefault(name, place)
            for place, (name, special) in enumerate(zip(names, tokens.special, strict=True))
        ]
        self.first = torch.tensor(firsts, dtype=torch.long)
        self.place = torch.arange(len(firsts))
        self.by_group = self.first.sort(stable=True).indices  # equal tokens side by side
        self.begins = torch.searchsorted(self.first[self.by_group], self.first)
        self.rank = torch.empty_like(self.place)  # among its equals, from 0
        self.rank[self.by_group] = self.place
        self.rank -= self.begins
        self._kept: dict[tuple[str, int, int], Pairs] = {}

    def others(self, rows: slice, *, causal: bool) -> Pairs:
        """Each token and its twins; with causal attention the earlier ones."""

        def chosen() -> Tensor:
            mine = self.place[rows, None]
            allowed = self.place < mine if causal else self.place != mine
            return (self.first[rows, None] == self.first) & allowed

        if causal:
            return self._pairs("earlier", rows, self.rank[rows], chosen)
        equals = torch.bincount(self.first, minlength=len(self.first))[self.first]
        return self._pairs("others", rows, equals[rows], chosen, itself=False)

    def followers(self, rows: slice) -> Pairs:
        """Each token, and the tokens before it that follow its earlier twins."""

        def chosen() -> Tensor:
            before = torch.zeros(rows.stop - rows.start, len(self.first), dtype=torch.bool)
            before[:, 1:] = self.first[rows, None] == self.first[:-1]
            return before & (self.place < self.place[rows, None])

        return self._pairs("followers", rows, self.rank[rows], chosen, behind=1)

    def _pairs(
        self,
        name: str,
        rows: slice,
        counts: Int[Tensor, " row"],
        chosen: Callable[[], Tensor],
        **which: int,
    ) -> Pairs:
        """The pairs of some rows, from those kept if they are there.

        Args:
            name: of the kind of pairs.
            rows: the rows.
            counts: how many of its equals each row has, from the first on.
            chosen: True at the pairs, for rows with many.
            which: see `_enumerated`.
        """
        key = name, rows.start, rows.stop
        if key not in self._kept:
            if int(counts.sum()) * SPARSE > len(counts) * len(self.first):
                pairs = Pairs(cells=chosen().float())
            else:
                pairs = Pairs(places=self._enumerated(rows, counts, **which))
            for other, kept in list(self._kept.items()):
                if kept.places is None and other[0] == name:
                    del self._kept[other]
            if pairs.kept + sum(each.kept for each in self._kept.values()) > MOST_KEPT:
                self._kept = {k: p for k, p in self._kept.items() if k[1] == rows.start}
            self._kept[key] = pairs
        return self._kept[key]

    def _enumerated(
        self, rows: slice, counts: Int[Tensor, " row"], *, behind: int = 0, itself: int = True
    ) -> tuple[Int[Tensor, " pair"], Int[Tensor, " pair"]]:
        """Each row with the first of its equals, as rows of the block and keys.

        Args:
            rows: the rows.
            counts: how many equals each has.
            behind: how far behind its equal a key is; keys from the row on are left out.
            itself: whether a row counts as its equal.
        """
        row = torch.repeat_interleave(torch.arange(len(counts)), counts)
        number = torch.arange(len(row)) - torch.repeat_interleave(counts.cumsum(0) - counts, counts)
        keys = self.by_group[self.begins[rows][row] + number] + behind
        place = row + rows.start
        kept = keys < place if behind else (keys != place) | bool(itself)
        return row[kept], keys[kept]
