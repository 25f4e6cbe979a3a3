"""The numbers of heads, from their weights block by block; of several inputs of one length at once.

Each is a mean over the queries that count: tokens of the text that see two keys or more, and, of a
number about some keys (the token before, punctuation, …), see such a key. Which keys a query sees
is read from the mask of the pass, whatever made it: causal rules, windows, chunks, packed texts,
cut edges, keys of a cache. Formulas and sources are in analysis/measures.py.
"""

import math
import unicodedata
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.measures import NEAR
from analysis.vision import grid_distances, patch_distances
from models.attention import Block
from models.trace import PatchGrid, Tokens

CELLS = 2**22  # cells of a mask at a time
ROUNDING = 1e-5  # of a row's sum
SQUARED = "squared distance"
FLAGGED = ("first token", "separator", "punctuation")
BESIDE = {"previous token": -1, "next token": 1, "same token": 0}  # offset of the key
REPEATED = ("duplicate token", "induction")
Numbers = dict[str, Float[Tensor, "item head"]]
Seen = Callable[[Int[Tensor, " row"]], Bool[Tensor, "#item #head row key"]]


class Inputs:
    """What the numbers of several sites share: tokens, and which keys each query sees.

    Attributes:
        counted: the queries that count; one row for all heads where these see the same keys.
        spread: the logarithm of the number of keys that a query sees.
        counts: by number, how many queries it is a mean over, where not over all that count.
        seen: how many of the queries that count see each key.
        offsets: how often they see each offset of a key from its query, from the lowest on.
        flags: 1 at the first key, at separators and at punctuation.
        plain: keys that are no sinks: neither special tokens nor the first one.
    """

    def __init__(
        self,
        queries: Sequence[Tokens],
        keys: Sequence[Tokens],
        kind: str,
        seen_by: Seen,
        *,
        words: bool = False,
        grid: PatchGrid | None = None,
    ) -> None:
        """Reads the mask, some rows at a time.

        Args:
            queries: the tokens of the rows of each input; all of one length.
            keys: those of the columns.
            kind: "self", "causal" or "cross".
            seen_by: True at the keys that some queries see; an axis of size 1 where all inputs, or
                all heads, are the same.
            words: whether tokens are equal that have the same text, in any case, not the same id.
            grid: of a picture, whose patches have no order along a line.
        """
        self.queries, self.keys, self.grid = queries, keys, grid
        self.size = len(queries[0]), len(keys[0])
        self.causal, self.same_tokens = kind == "causal", kind != "cross"
        self.on_line = self.same_tokens and grid is None
        first = seen_by(torch.arange(1))
        self.device = torch.device("cpu") if first.device.type == "mps" else first.device
        special = torch.tensor([each.special for each in keys], dtype=torch.bool)
        is_first = (torch.arange(self.size[1]) == 0).expand_as(special)
        marks = torch.tensor([[is_punctuation(label) for label in each.labels] for each in keys])
        flags = is_first, special & ~is_first, marks
        self.flags = torch.stack(flags, -1).float().to(self.device)
        plain = ~special & ~is_first
        self.plain = (plain | ~plain.any(-1, keepdim=True)).to(self.device)
        equal = torch.stack([equal_tokens(each, words=words) for each in queries])
        self.repeats = self.on_line and bool((equal != torch.arange(self.size[0])).any())
        self.equal = equal.to(self.device)
        self._known: tuple[object, Tensor] = None, equal  # repeats in the last block
        shape = len(queries), first.shape[1]
        self.counted = torch.zeros(*shape, self.size[0], dtype=torch.bool, device=self.device)
        self.spread = torch.zeros_like(self.counted, dtype=torch.float32)
        self.seen = torch.zeros(*shape, self.size[1], dtype=torch.float64, device=self.device)
        self.offsets = self.seen.new_zeros(*shape, sum(self.size) - 1)
        one = self.seen.new_ones(shape)
        self.counts = {} if grid is None else {"row entropy": one, "patch distance": one}
        for rows in torch.arange(self.size[0]).split(max(1, CELLS // max(1, first.numel()))):
            self._read(rows.to(self.device), seen_by(rows).to(self.device))

    def _read(self, rows: Int[Tensor, " row"], seen: Bool[Tensor, "#item #head row key"]) -> None:
        """Adds what some rows see."""
        part, keys = slice(int(rows[0]), int(rows[-1]) + 1), slice(0, self.size[1])
        text = torch.stack([of_text(each) for each in self.queries])[:, None, part]
        counted = text.to(self.device) & (seen.sum(-1) > 1)
        self.counted[..., part] = counted
        self.spread[..., part] = seen.sum(-1).clamp(min=2).log()
        cells = seen.float()
        self.seen += (counted[..., None, :].float() @ cells)[..., 0, :]
        flagged = (cells @ self.flags[:, None] > 0).unbind(-1)
        see: dict[str, Tensor] = dict(zip(FLAGGED, flagged, strict=True))
        if self.same_tokens:
            see["first token"] = see["first token"] & (rows > 0)
            see["same token"] = _at(seen, rows)
        if self.on_line:
            see |= {name: _at(seen, rows + offset) for name, offset in BESIDE.items()}
            self.offsets[..., self.columns(part, keys)] += _by_offset(cells, counted.float())
        if self.repeats:
            repeated = self.repeated(part, keys)[:, :, None]
            repeats_seen = (seen[:, None] & repeated).any(-1).unbind(1)
            see |= dict(zip(REPEATED, repeats_seen, strict=True))
        for name, rows_that_see in see.items():
            count = (counted & rows_that_see).sum(-1)
            self.counts[name] = self.counts.get(name, 0.0) + count.double()

    def columns(self, rows: slice, keys: slice) -> slice:
        """The columns of `offsets` that a block of rows and keys has."""
        start = keys.start - rows.stop + self.size[0]
        return slice(start, start + rows.stop - rows.start + keys.stop - keys.start - 1)

    def distances(self, columns: slice = slice(None)) -> Float[Tensor, " offset"]:
        """The offset from query to key of some columns of `offsets`."""
        places = torch.arange(sum(self.size) - 1, device=self.device)
        return (places - (self.size[0] - 1))[columns].double()

    def repeated(self, rows: slice, keys: slice) -> Bool[Tensor, "item 2 row key"]:
        """Other occurrences of a query's token, and what followed the earlier ones."""
        if self._known[0] != (rows, keys):
            place = torch.arange(max(self.size), device=self.device)
            mine, earlier = self.equal[:, rows, None], place[keys] < place[rows, None]
            followed = torch.nn.functional.pad(self.equal[:, :-1], (1, 0), value=-1)
            others = earlier if self.causal else place[keys] != place[rows, None]
            same = (mine == self.equal[:, None, keys]) & others
            after = (mine == followed[:, None, keys]) & earlier
            self._known = (rows, keys), torch.stack([same, after], 1)
        return self._known[1]


class HeadNumbers:
    """Numbers of some heads over the same inputs.

    Blocks may come in any order, with one head or several; every weight is to come once.

    Attributes:
        drawn: the weight that each key receives from the queries that count.
        offsets: the same by the offset of a key from its query, from the lowest on.
    """

    def __init__(
        self,
        inputs: Inputs,
        heads: int,
        sink: Float[Tensor, "item head query"] | None = None,
    ) -> None:
        """Before any block.

        Args:
            inputs: what these heads share.
            heads: number of heads.
            sink: the weight of each query on the sink of its softmax; None without one.
        """
        self.inputs, self.sink = inputs, sink
        self.drawn = inputs.seen.new_zeros(len(inputs.queries), heads, inputs.size[1])
        self.offsets = self.drawn.new_zeros(*self.drawn.shape[:2], sum(inputs.size) - 1)
        self.squares = self.drawn.new_zeros(self.drawn.shape[:2])
        self.sums: Numbers = {}

    def add(self, block: Block) -> None:
        """Adds a block of a single input."""
        known = {"entropy": block.entropy()[None], "peaks": block.peaks[None]}
        self.update(block.heads, block.rows, block.keys, block.weights[None], **known)

    def update(
        self,
        heads: slice,
        rows: slice,
        keys: slice,
        weights: Float[Tensor, "item head row key"],
        *,
        entropy: Float[Tensor, "item head row"] | None = None,
        peaks: Float[Tensor, "item head row"] | None = None,
    ) -> None:
        """Adds a block of weights.

        Args:
            heads: which heads.
            rows: which queries.
            keys: which keys; the weights of all others are 0.
            weights: after softmax.
            entropy: of each row, in nats; None computes it.
            peaks: the largest weight of each row; None computes it.
        """
        inputs = self.inputs
        weights = weights.to(inputs.device)
        counted = of_heads(inputs.counted, heads)[..., rows].to(weights)
        spread = of_heads(inputs.spread, heads)[..., rows]
        nats = torch.special.entr(weights).sum(-1) if entropy is None else entropy
        if self.sink is not None:  # one more key
            nats = nats + torch.special.entr(self.sink[:, heads, rows])
            spread = spread.exp().log1p()
        self._sum(heads, "entropy", nats * counted)
        self._sum(heads, "broad", nats / spread * counted)
        self._sum(heads, "effective keys", nats.exp() * counted)
        self._sum(heads, "confidence", (weights.amax(-1) if peaks is None else peaks) * counted)
        self.drawn[:, heads, keys] += (counted[..., None, :] @ weights)[..., 0, :]
        if inputs.same_tokens and not (rows.start or keys.start):
            self._sum(heads, "first token", -weights[..., :1, 0] * counted[..., :1])
        if (grid := inputs.grid) is not None:  # the weights of a picture come whole
            self._sum(heads, "same token", weights.diagonal(0, -2, -1) * counted)
            self._sum(heads, "row entropy", nats.mean(-1, keepdim=True))
            patches = slice(grid.prefix, grid.prefix + grid.rows * grid.cols)
            apart = grid_distances(grid.rows, grid.cols)
            far = patch_distances(weights[..., patches, patches], apart)
            self._sum(heads, "patch distance", far.nanmean(-1, keepdim=True))
        if inputs.repeats:
            kept, repeated = weights * counted[..., None], inputs.repeated(rows, keys).to(weights)
            sums = torch.einsum("ihrk,itrk->tihr", kept, repeated)
            for name, each in zip(REPEATED, sums, strict=True):
                self._sum(heads, name, each)
        if inputs.on_line:
            self._add_offsets(heads, rows, keys, weights, counted)

    def _add_offsets(
        self, heads: slice, rows: slice, keys: slice, weights: Tensor, counted: Tensor
    ) -> None:
        """Adds the weights by the offset of their key."""
        at, whole = self.inputs.columns(rows, keys), weights.sum(-1)
        offsets = _by_offset(weights, counted)
        self.offsets[:, heads, at] += offsets
        self.squares[:, heads] += (torch.linalg.vecdot(weights, weights) * counted).sum(-1)
        if ((whole - 1).abs() > ROUNDING).any():  # a distance is that of a row which sums to 1
            offsets = _by_offset(weights, counted / whole.where(whole > 0, 1.0))
        apart = self.inputs.distances(at).abs()
        self._sum(heads, "distance", offsets * apart)
        self._sum(heads, SQUARED, offsets * apart.square())

    def _sum(self, heads: slice, name: str, values: Float[Tensor, "item head row"]) -> None:
        total = self.sums.setdefault(name, torch.zeros_like(self.squares))
        total[:, heads] += values.sum(-1)

    def result(self) -> Numbers:
        """The numbers; NaN for those that are not defined."""
        inputs, sums = self.inputs, dict(self.sums)
        flagged = (self.drawn @ inputs.flags.double()).unbind(-1)
        for name, total in zip(FLAGGED, flagged, strict=True):
            sums[name] = total + sums.get(name, 0.0)
        if inputs.on_line:
            offset = inputs.distances()
            near = {name: offset == each for name, each in BESIDE.items()}
            near["local"] = offset.abs() <= NEAR
            sums |= {name: self.offsets @ each.double() for name, each in near.items()}
        counted, means = inputs.counted.sum(-1), {}
        for name, total in sums.items():
            count = inputs.counts.get(name, counted)
            means[name] = total / torch.where(count > 0, count, math.nan)
        if inputs.on_line:
            variance = means.pop(SQUARED) - means["distance"].square()
            means["distance spread"] = variance.clamp(min=0.0).sqrt()
            means["positional"] = self._positional()
        often = (inputs.seen * 2 >= counted[..., None]) & (inputs.seen > 0)
        drawn = torch.where(often, self.drawn / inputs.seen.clamp(min=1), -1.0).amax(-1)
        means["sink share"] = torch.where(often.any(-1), drawn, math.nan)
        return means

    def _positional(self) -> Float[Tensor, "item head"]:
        """Share of the variance between pairs that lies between offsets."""
        counts = self.inputs.offsets
        mean = self.offsets.sum(-1).square() / counts.sum(-1)
        between = (self.offsets.square() / counts.clamp(min=1)).sum(-1) - mean
        variance = self.squares - mean
        varies = variance > 1e-9 * self.squares
        return torch.where(varies, (between / variance).clamp(0, 1), math.nan)


def of_heads(values: Tensor, heads: slice) -> Tensor:
    """Those of some heads, where heads differ; heads are the second axis."""
    return values if values.shape[1] == 1 else values[:, heads]


def _at(seen: Bool[Tensor, "item head row key"], key: Int[Tensor, " row"]) -> Tensor:
    """Whether each row sees the key at its place."""
    inside, last = (key >= 0) & (key < seen.shape[3]), seen.shape[3] - 1
    places = key.clamp(0, last)[:, None].expand(*seen.shape[:2], -1, -1)
    return inside & seen.gather(3, places)[..., 0]


def _by_offset(
    weights: Float[Tensor, "#item #head row key"], scale: Float[Tensor, "item #head row"]
) -> Float[Tensor, "item head offset"]:
    """Scaled rows summed along the diagonals: column o holds the keys row + o − (rows − 1)."""
    rows, keys = weights.shape[-2:]
    width, matrices = rows + keys - 1, torch.broadcast_shapes(weights.shape[:2], scale.shape[:2])
    skewed = weights.new_zeros(*matrices, rows * width)
    strides = (*skewed.stride()[:2], width - 1, 1)
    torch.mul(
        weights, scale[..., None], out=skewed.as_strided((*matrices, rows, keys), strides, rows - 1)
    )
    return skewed.unflatten(-1, (rows, width)).sum(-2).double()


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
