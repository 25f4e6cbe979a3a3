"""Over which queries the numbers of a head are means, and the sums of weights that they are.

Which keys a query sees is read from the mask of the pass, whatever made it: causal rules, windows,
chunks, packed texts, cut edges, keys of a cache.
"""

import unicodedata
from collections.abc import Callable, Iterator

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.measures import NEAR, SAMPLED
from analysis.row_numbers import ROW_NUMBERS
from models.trace import Tokens

CELLS = 2**22  # cells of a mask at a time
SQUARED = "squared distance"
EVERY_QUERY = ("local", "distance", SQUARED)  # whatever keys it sees
Seen = Callable[[Int[Tensor, " row"]], Bool[Tensor, "#head row key"]]


class Counted:
    """The queries that each number is a mean over, and how often each key and offset is seen.

    Attributes:
        rows: by number, True at its queries; one row for all heads where these see the same keys.
        spread: the logarithm of the number of keys that a query sees.
        seen: how many of the queries that count see each key.
        sampled: the queries that "positional" is read from.
        offsets: how often they see each offset, from the smallest on.
    """

    def __init__(
        self,
        queries: Tokens,
        keys: Tokens,
        kind: str,
        seen_by: Seen,
        *,
        heads: int = 1,
        words: bool = False,
    ) -> None:
        """Reads the mask, block by block.

        Args:
            queries: the tokens of the rows.
            keys: the tokens of the columns.
            kind: "self", "causal" or "cross".
            seen_by: True at the keys that some queries see, by number.
            heads: number of heads whose rows differ; 1 if they are the same for all.
            words: whether tokens are equal that have the same text, in any case, not the same id.
        """
        self.seen_by, self.heads, self.size = seen_by, heads, (len(queries), len(keys))
        self.causal, self.same_tokens = kind == "causal", kind != "cross"
        self.keys = {  # 1 at the keys of a number
            "first token": torch.arange(len(keys)) == 0,
            "separator": torch.tensor([False, *keys.special[1:]], dtype=torch.bool),
            "punctuation": torch.tensor([is_punctuation(label) for label in keys.labels]),
        }
        self.equal = equal_tokens(queries, words=words)
        self.pairs: tuple[tuple, Tensor] | None = None  # those of the last rows
        self.spread = torch.zeros(heads, len(queries))
        self.seen = torch.zeros(heads, len(keys), dtype=torch.float64)
        blocks = [*self._blocks(of_text(queries))]
        self.rows = {name: torch.cat([each[name] for each in blocks], 1) for name in blocks[0]}
        self.sampled = evenly_chosen(self.counted.any(0), SAMPLED)
        self.offsets = self._seen_offsets()

    @property
    def counted(self) -> Bool[Tensor, "#head query"]:
        """The queries that count: tokens of the text that see two keys or more."""
        return self.rows["entropy"]

    def sums(
        self, rows: slice, keys: slice, weights: Float[Tensor, "head row key"]
    ) -> dict[str, Float[Tensor, "head row"]]:
        """What each row gives to the keys of a number, or weighs their distances by."""
        chosen = torch.stack([each[keys] for each in self.keys.values()], -1)
        sums = dict(zip(self.keys, (weights @ chosen.to(weights)).unbind(-1), strict=True))
        if not self.same_tokens:
            return sums
        around = torch.arange(rows.start, rows.stop)[:, None] + torch.arange(-NEAR, NEAR + 1)
        around = around.to(weights.device) - keys.start
        inside = (around >= 0) & (around < weights.shape[2])
        around = around.clamp(0, weights.shape[2] - 1).expand(len(weights), -1, -1)
        near = weights.gather(2, around) * inside
        sums |= {"previous token": near[..., NEAR - 1], "same token": near[..., NEAR]}
        sums |= {"next token": near[..., NEAR + 1], "local": near.sum(-1)}
        which = rows, keys, weights.device
        if self.pairs is None or self.pairs[0] != which:
            self.pairs = which, self._pairs(rows, keys).to(weights)
        products = torch.bmm(weights.transpose(0, 1), self.pairs[1]).permute(2, 1, 0)
        names = ("distance", SQUARED, "duplicate token", "induction")
        return sums | dict(zip(names, products, strict=True))

    def _pairs(self, rows: slice, keys: slice) -> Float[Tensor, "row key factor"]:
        """The distance of each query and key, and its square; 1 where they are equal tokens, and
        where the key follows an earlier equal of the query."""
        offset = torch.arange(keys.start, keys.stop) - torch.arange(rows.start, rows.stop)[:, None]
        mine, earlier = self.equal[rows, None], offset < 0
        followed = torch.cat([self.equal.new_tensor([-1]), self.equal[:-1]])
        equal = (mine == self.equal[keys]) & (earlier if self.causal else offset != 0)
        follows = (mine == followed[keys]) & earlier
        parts = (offset.abs(), offset.square(), equal, follows)
        return torch.stack([each.float() for each in parts], -1)

    def _blocks(self, of_text: Tensor) -> Iterator[dict[str, Bool[Tensor, "#head row"]]]:
        """The queries of each number, some rows at a time: those that see a key of it."""
        step = max(1, CELLS // (self.size[1] * self.heads))
        for start in range(0, self.size[0], step):
            rows = slice(start, min(start + step, self.size[0]))
            cells = self.seen_by(torch.arange(rows.start, rows.stop)).cpu().float()
            count = cells.sum(-1)
            counted = of_text[rows] & (count > 1)
            self.spread[:, rows] = count.clamp(min=2).log()
            self.seen += (counted[:, None].float() @ cells)[:, 0].double()
            numbers: dict[str, Tensor] = dict.fromkeys(ROW_NUMBERS, counted)
            for name, total in self.sums(rows, slice(0, self.size[1]), cells).items():
                numbers[name] = counted if name in EVERY_QUERY else counted & (total > 0)
            if self.same_tokens and not start:
                numbers["first token"][:, 0] = False
            yield numbers

    def _seen_offsets(self) -> Float[Tensor, "#head offset"]:
        """How often the sampled queries see each offset."""
        chosen = self.sampled.nonzero().flatten()
        counts = torch.zeros(self.heads, sum(self.size) - 1, dtype=torch.float64)
        for some in chosen.split(max(1, CELLS // (self.size[1] * self.heads))):
            seen = self.seen_by(some).cpu() & self.counted[:, some, None]
            counts.index_add_(1, self.offset_of(some).flatten(), seen.flatten(1).double())
        return counts

    def offset_of(
        self, rows: Int[Tensor, " row"], keys: slice | None = None
    ) -> Int[Tensor, "row key"]:
        """The offset of each key from each of some queries, as an index of `offsets`."""
        key = torch.arange(self.size[1])[slice(None) if keys is None else keys]
        return key - rows[:, None] + self.size[0] - 1


def equal_tokens(tokens: Tokens, *, words: bool = False) -> Int[Tensor, " token"]:
    """The place of the first token that each equals: by id, or by text; special ones equal none."""
    names = [label.casefold() for label in tokens.labels] if words else tokens.ids
    first: dict[object, int] = {}
    places = [
        place if special else first.setdefault(name, place)
        for place, (name, special) in enumerate(zip(names, tokens.special, strict=True))
    ]
    return torch.tensor(places, dtype=torch.long)


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
