"""Equal tokens of a text, and the weight between them, a block of rows at a time."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from models.trace import Tokens

SPARSE = 8  # pairs are kept as positions if they are fewer than one in this many cells
MOST_KEPT = 2**21  # pairs kept for the next layer; others are compared anew


@dataclass(frozen=True, eq=False)
class Pairs:
    """Some pairs of a row and a key.

    Attributes:
        places: rows and keys, one after another; none where the pairs are many.
        last: the last key.
        cells: 1 at each pair, where the pairs are many; else None.
    """

    places: tuple[Tensor, Tensor]
    last: int
    cells: Float[Tensor, "row key"] | None = None

    @staticmethod
    def of(chosen: Bool[Tensor, "row key"]) -> "Pairs":
        """The pairs that are True."""
        none = torch.empty(0, dtype=torch.long)
        if int(chosen.sum()) * SPARSE > chosen.numel():
            return Pairs((none, none), -1, chosen.float())
        rows, keys = chosen.nonzero(as_tuple=True)
        return Pairs((rows, keys), int(keys.max()) if len(keys) else -1)

    @property
    def kept(self) -> int:
        """Number of pairs that are kept as positions."""
        return len(self.places[0])

    def weight(
        self, weights: Float[Tensor, "head row key"], first: int
    ) -> Float[Tensor, "head row"]:
        """The weight of each row on its pairs.

        Args:
            weights: of consecutive keys.
            first: the first of these keys; no pair has a weight outside of them.
        """
        count = weights.shape[2]
        if self.cells is not None:
            reached = self.cells[:, first : first + count].to(weights.device)
            return torch.einsum("hrk,rk->hr", weights, reached)
        rows, keys = self.places
        if first or count <= self.last:
            inside = (keys >= first) & (keys < first + count)
            rows, keys = rows[inside], keys[inside] - first
        found = weights.flatten(1).index_select(1, (rows * count + keys).to(weights.device))
        return weights.new_zeros(weights.shape[:2]).index_add_(1, rows.to(weights.device), found)


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
        found = [
            place if special else first.setdefault(name, place)
            for place, (name, special) in enumerate(zip(names, tokens.special, strict=True))
        ]
        self.first = torch.tensor(found, dtype=torch.long)
        self.place = torch.arange(len(found))
        self._kept: dict[tuple[str, int], Pairs] = {}

    def has_other(self, *, causal: bool) -> Bool[Tensor, " token"]:
        """Whether a token has a twin; with causal attention an earlier one."""
        if causal:
            return self.first < self.place
        return torch.bincount(self.first, minlength=len(self.first))[self.first] > 1

    def has_follower(self) -> Bool[Tensor, " token"]:
        """Whether a token has an earlier twin, and another token in between."""
        return self.first + 1 < self.place

    def others(self, rows: slice, *, causal: bool) -> Pairs:
        """Each token and its twins; with causal attention the earlier ones."""

        def chosen() -> Tensor:
            mine = self.place[rows, None]
            allowed = self.place < mine if causal else self.place != mine
            return (self.first[rows, None] == self.first) & allowed

        return self._pairs("earlier" if causal else "others", rows, chosen)

    def followers(self, rows: slice) -> Pairs:
        """Each token, and the tokens before it that follow its earlier twins."""

        def chosen() -> Tensor:
            before = torch.zeros(rows.stop - rows.start, len(self.first), dtype=torch.bool)
            before[:, 1:] = self.first[rows, None] == self.first[:-1]
            return before & (self.place < self.place[rows, None])

        return self._pairs("followers", rows, chosen)

    def _pairs(self, name: str, rows: slice, chosen: Callable[[], Tensor]) -> Pairs:
        """The pairs of some rows, from those kept if they are there."""
        key = name, rows.start
        if key not in self._kept:
            found = Pairs.of(chosen())
            for other, kept in list(self._kept.items()):
                if kept.cells is not None and other[0] == name:
                    del self._kept[other]
            if found.kept + sum(each.kept for each in self._kept.values()) > MOST_KEPT:
                self._kept = {k: p for k, p in self._kept.items() if k[1] == rows.start}
            self._kept[key] = found
        return self._kept[key]
