"""Which keys each query sees, and over which queries the numbers of a head are means.

Both are read from the mask of the pass, whatever made it: causal rules, windows, chunks, packed
texts, cut edges, keys of a cache.
"""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.measures import SAMPLED
from analysis.row_numbers import ROW_NUMBERS
from analysis.twins import Twins
from models.attention import Mask
from models.trace import Tokens

CELLS = 2**22  # cells of a mask at a time


@dataclass(frozen=True, eq=False)
class Reach:
    """The keys that the queries of a site see.

    Attributes:
        seen: of some queries, by number: True at the keys that they see; one row for all heads
            where these do not differ.
        heads: number of heads whose rows differ; 1 if they are the same for all.
    """

    seen: Callable[[Int[Tensor, " row"]], Bool[Tensor, "#head row key"]]
    heads: int = 1

    @staticmethod
    def of(mask: Mask, queries: int, keys: int, heads: int = 1) -> "Reach":
        """By a mask that is the same for every item."""

        def seen(rows: Tensor) -> Tensor:
            visible = mask.visible(rows, keys, range(heads))
            visible = torch.ones(1, 1, 1, 1, dtype=torch.bool) if visible is None else visible
            return visible[0].expand(-1, len(rows), keys)

        return Reach(seen, heads if mask.differs_by_head else 1)


class Counted:
    """The queries that each number is a mean over, and how often each key and offset is seen.

    Attributes:
        rows: by number, True at its queries.
        spread: the logarithm of the number of keys that a query sees.
        seen: how many of the queries that count see each key.
        sampled: the queries that "positional" is read from.
        offsets: how often they see each offset, from the smallest on.
    """

    def __init__(
        self, queries: Tokens, keys: Tokens, kind: str, reach: Reach, twins: Twins | None = None
    ) -> None:
        """Reads the mask, block by block.

        Args:
            queries: the tokens of the rows.
            keys: the tokens of the columns.
            kind: "self", "causal" or "cross".
            reach: the keys that they see.
            twins: equal queries; None compares them.
        """
        self.reach, self.causal = reach, kind == "causal"
        self.same_tokens = kind != "cross"
        self.size = len(queries), len(keys)
        self.twins = (twins or Twins(queries)) if self.same_tokens else None
        self.separators = torch.tensor([False, *keys.special[1:]], dtype=torch.bool)
        self.punctuation = torch.tensor([is_punctuation(label) for label in keys.labels])
        heads, shape = reach.heads, (reach.heads, len(queries))
        self.spread = torch.zeros(shape)
        self.seen = torch.zeros(heads, len(keys), dtype=torch.float64)
        blocks = [*self._blocks(of_text(queries))]
        self.rows = {name: torch.cat([each[name] for each in blocks], 1) for name in blocks[0]}
        self.sampled = evenly_chosen(self.counted.any(0), SAMPLED)
        self.offsets = self._seen_offsets()

    @property
    def counted(self) -> Bool[Tensor, "#head query"]:
        """The queries that count: tokens of the text that see two keys or more."""
        return self.rows["entropy"]

    def _blocks(self, of_text: Tensor) -> Iterator[dict[str, Bool[Tensor, "#head row"]]]:
        """The queries of each number, some rows at a time."""
        step = max(1, CELLS // (self.size[1] * self.reach.heads))
        factors = torch.stack([torch.ones(self.size[1]), self.separators, self.punctuation], 1)
        for start in range(0, self.size[0], step):
            rows = slice(start, min(start + step, self.size[0]))
            some = torch.arange(rows.start, rows.stop)
            seen = self.reach.seen(some).cpu()
            cells = seen.float()
            count, separators, punctuation = (cells @ factors.float()).unbind(-1)
            counted = of_text[rows] & (count > 1)
            self.spread[:, rows] = count.clamp(min=2).log()
            self.seen += (counted[:, None].float() @ cells)[:, 0].double()
            numbers: dict[str, Tensor] = dict.fromkeys(ROW_NUMBERS, counted)
            numbers["first token"] = counted & seen[..., 0]
            numbers["separator"] = counted & (separators > 0)
            numbers["punctuation"] = counted & (punctuation > 0)
            if self.same_tokens:
                numbers |= self._same_text(rows, seen, cells, counted)
            yield numbers

    def _same_text(
        self, rows: slice, seen: Tensor, cells: Tensor, counted: Tensor
    ) -> dict[str, Tensor]:
        """The numbers of queries and keys of one text."""
        place = torch.arange(rows.start, rows.stop)

        def sees(offset: int) -> Tensor:
            key = place + offset
            inside = (key >= 0) & (key < self.size[1])
            at = key.clamp(0, self.size[1] - 1)[:, None].expand(len(seen), -1, -1)
            return counted & inside & seen.gather(2, at)[..., 0]

        numbers: dict[str, Tensor] = dict.fromkeys(("local", "distance", SQUARED), counted)
        for name, offset in (("previous token", -1), ("same token", 0), ("next token", 1)):
            numbers[name] = sees(offset)
        numbers["first token"] = counted & seen[..., 0] & (place > 0)
        if self.twins is not None:
            others = self.twins.others(rows, causal=self.causal).weight(cells)
            followers = self.twins.followers(rows).weight(cells)
            numbers["duplicate token"] = counted & (others > 0)
            numbers["induction"] = counted & (followers > 0)
        return numbers

    def _seen_offsets(self) -> Float[Tensor, "#head offset"]:
        """How often the sampled queries see each offset."""
        chosen = self.sampled.nonzero().flatten()
        counts = torch.zeros(self.reach.heads, sum(self.size) - 1, dtype=torch.float64)
        for some in chosen.split(max(1, CELLS // (self.size[1] * self.reach.heads))):
            seen = self.reach.seen(some).cpu() & self.counted[:, some, None]
            counts.index_add_(1, self.offset_of(some).flatten(), seen.flatten(1).double())
        return counts

    def offset_of(
        self, rows: Int[Tensor, " row"], keys: slice | None = None
    ) -> Int[Tensor, "row key"]:
        """The offset of each key from each of some queries, as an index of `offsets`."""
        key = torch.arange(self.size[1])[slice(None) if keys is None else keys]
        return key - rows[:, None] + self.size[0] - 1


SQUARED = "squared distance"


def of_text(tokens: Tokens) -> Bool[Tensor, " query"]:
    """The tokens of the text; all of them if there are only special ones."""
    special = torch.tensor(tokens.special, dtype=torch.bool)
    return torch.ones_like(special) if special.all() else ~special


def is_punctuation(label: str) -> bool:
    """Whether a token has no letter, digit or symbol, and is not empty."""
    text = label.strip()
    return bool(text) and all(unicodedata.category(sign)[0] == "P" for sign in text)


def evenly_chosen(chosen: Bool[Tensor, " query"], most: int) -> Bool[Tensor, " query"]:
    """At most so many of the chosen queries, evenly spread."""
    places = chosen.nonzero().flatten()
    if len(places) > most:
        places = places[torch.linspace(0, len(places) - 1, most).round().long()]
    return torch.zeros_like(chosen).index_fill(0, places, True)
