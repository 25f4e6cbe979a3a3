"""The numbers of the heads of a site for a batch of inputs of equal length, all at once.

They are those of `analysis.heads`, which reads one text at a time and any length of it: here the
weights of many short texts are one tensor, and each number is a few operations on it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.corpus.scales import BINS, distance_bins, position_bins
from analysis.measures import NEAR, SAMPLED
from analysis.reach import evenly_chosen, is_punctuation, of_text
from analysis.row_numbers import ROW_NUMBERS, Rows, numbers_of, with_sink
from analysis.similarity import grid_distances
from models.trace import PatchGrid, Tokens

LINEAR = ("local", "distance", "squared distance")  # means over all queries that count
Numbers = dict[str, Float[Tensor, "item head"]]


@dataclass(frozen=True, eq=False)
class Inputs:
    """What the numbers of several sites share: tokens, and which keys each query sees.

    Attributes:
        queries: of each item, all of the same length.
        keys: likewise.
        seen: True at the keys that a query sees; axes of size 1 where items or heads agree.
        same_tokens: whether queries and keys are the same tokens.
        causal: whether only earlier tokens count as others.
        grid: of the patches; None for text.
    """

    queries: Sequence[Tokens]
    keys: Sequence[Tokens]
    seen: Bool[Tensor, "#item #head query key"]
    same_tokens: bool
    causal: bool
    grid: PatchGrid | None = None

    @property
    def device(self) -> torch.device:
        return self.seen.device

    @property
    def on_line(self) -> bool:
        """Whether queries and keys are tokens of one line, at distances from each other."""
        return self.same_tokens and self.grid is None

    @property
    def _places(self) -> Int[Tensor, " key"]:
        return torch.arange(self.seen.shape[3], device=self.device)

    @cached_property
    def special(self) -> Bool[Tensor, "item key"]:
        return torch.tensor([each.special for each in self.keys], device=self.device)

    @cached_property
    def separators(self) -> Bool[Tensor, "item key"]:
        """Special tokens after the first key."""
        return self.special & (self._places > 0)

    @cached_property
    def punctuation(self) -> Bool[Tensor, "item key"]:
        flags = [[is_punctuation(label) for label in each.labels] for each in self.keys]
        return torch.tensor(flags, device=self.device)

    @cached_property
    def plain(self) -> Bool[Tensor, "item key"]:
        """Keys that are no sinks: neither special tokens nor the first one."""
        plain = ~self.special & (self._places > 0)
        return torch.where(plain.any(-1, keepdim=True), plain, torch.ones_like(plain))

    @cached_property
    def counted(self) -> Bool[Tensor, "item #head query"]:
        """Queries that count: tokens of the text that see two keys or more."""
        text = torch.stack([of_text(each) for each in self.queries]).to(self.device)
        return text[:, None] & (self.seen.sum(-1) > 1)

    @cached_property
    def rows(self) -> dict[str, Bool[Tensor, "item #head query"]]:
        """By number, True at the queries that it is a mean over."""
        seen, counted = self.seen, self.counted
        masks: dict[str, Tensor] = dict.fromkeys(ROW_NUMBERS, counted)
        place = torch.arange(seen.shape[2], device=self.device)
        first = counted & seen[..., 0]
        masks["first token"] = first & (place > 0) if self.same_tokens else first
        masks["separator"] = counted & self._sees(self.separators)
        masks["punctuation"] = counted & self._sees(self.punctuation)
        if self.same_tokens:
            masks["same token"] = counted & self._sees_at(place)
        if self.on_line:
            every: dict[str, Tensor] = dict.fromkeys(LINEAR, counted)
            masks |= every
            masks["previous token"] = counted & self._sees_at(place - 1)
            masks["next token"] = counted & self._sees_at(place + 1)
        if self.twins is not None:
            duplicate, induction = self.twins.unbind(1)
            masks["duplicate token"] = counted & (duplicate[:, None] & seen).any(-1)
            masks["induction"] = counted & (induction[:, None] & seen).any(-1)
        return masks

    def _sees(self, keys: Bool[Tensor, "item key"]) -> Bool[Tensor, "item #head query"]:
        if not keys.any():
            return torch.zeros(len(keys), 1, 1, dtype=torch.bool, device=self.device)
        return (self.seen & keys[:, None, None]).any(-1)

    def _sees_at(self, place: Int[Tensor, " query"]) -> Bool[Tensor, "#item #head query"]:
        count = self.seen.shape[3]
        inside = (place >= 0) & (place < count)
        at = place.clamp(0, count - 1)[:, None].expand(*self.seen.shape[:2], -1, -1)
        return inside & self.seen.gather(3, at)[..., 0]

    @cached_property
    def twins(self) -> Bool[Tensor, "item 2 query key"] | None:
        """Other occurrences of a query's token, and what followed the earlier ones.

        None where queries and keys are not the tokens of one text, or none of them is repeated.
        """
        if not self.on_line:
            return None
        ids = torch.tensor([each.ids for each in self.queries], device=self.device)
        equal = (ids[:, :, None] == ids[:, None]) & ~(
            self.special[:, :, None] | self.special[:, None]
        )
        place = self._places
        others = equal & (place < place[:, None] if self.causal else place != place[:, None])
        followers = torch.zeros_like(equal)
        followers[..., 1:] = equal[..., :-1]
        followers &= place < place[:, None]
        pairs = torch.stack([others, followers], 1)
        return pairs if pairs.any() else None

    @cached_property
    def spread(self) -> Float[Tensor, "#item #head query"]:
        """The logarithm of the number of keys that a query sees."""
        return self.seen.sum(-1).clamp(min=2).float().log()

    @cached_property
    def seen_keys(self) -> Float[Tensor, "item #head key"]:
        """How many of the queries that count see each key."""
        cells = self.seen.float().expand(len(self.counted), *self.seen.shape[1:])
        return (self.counted.float()[..., None, :] @ cells)[..., 0, :].double()

    @cached_property
    def sampled(self) -> Bool[Tensor, "item #head query"]:
        """The queries that "positional" is read from."""
        if self.counted.shape[2] <= SAMPLED:
            return self.counted
        chosen = torch.stack([evenly_chosen(each.any(0).cpu(), SAMPLED) for each in self.counted])
        return self.counted & chosen.to(self.device)[:, None]

    @cached_property
    def seen_offsets(self) -> Float[Tensor, "item #head offset"]:
        """How often the sampled queries see each offset."""
        return by_offset((self.seen & self.sampled[..., None]).float()).double()

    @cached_property
    def offsets(self) -> Int[Tensor, " offset"]:
        """The offset from query to key that each column of `by_offset` stands for."""
        queries, keys = self.seen.shape[2:]
        places = torch.arange(queries + keys - 1, device=self.device)
        return places - (queries - 1)

    def of_heads(self, numbers: Tensor, heads: slice) -> Tensor:
        """Those of some heads, where heads differ; heads are the second axis."""
        return numbers if numbers.shape[1] == 1 else numbers[:, heads]


@dataclass(frozen=True, eq=False)
class Readings:
    """What is read from the weights of some heads.

    Attributes:
        values: by the keys of `MEASURES` and `PICTURE_MEASURES`; NaN where not defined.
        drawn: the weight that each key receives from the queries that count.
        given: the weight that each query gives to plain keys: neither special nor the first.
        strength: the largest weight of each query on a plain key.
        distances: the weight of the queries that count, by the bin of its distance; None for
            queries and keys of different texts.
    """

    values: Numbers
    drawn: Float[Tensor, "item head key"]
    given: Float[Tensor, "item head query"]
    strength: Float[Tensor, "item head query"]
    distances: Float[Tensor, "item head bin"] | None


def by_offset(weights: Float[Tensor, "item head query key"]) -> Float[Tensor, "item head offset"]:
    """Sums along the diagonals: column o holds the keys j = i + o − (queries − 1)."""
    *batch, queries, keys = weights.shape
    width = queries + keys - 1
    skewed = weights.new_zeros(math.prod(batch), queries * width)
    view = skewed.as_strided(
        (len(skewed), queries, keys), (queries * width, width - 1, 1), queries - 1
    )
    view.copy_(weights.flatten(0, 1))
    return skewed.view(*batch, queries, width).sum(-2)


def read(
    weights: Float[Tensor, "item head query key"],
    inputs: Inputs,
    heads: slice,
    sink: Float[Tensor, "item head query"] | None = None,
) -> Readings:
    """The numbers of some heads.

    Args:
        weights: of these heads, after softmax.
        inputs: the tokens and the mask.
        heads: which heads of the site they are.
        sink: the weight of each query on the sink of its softmax; None without one.
    """
    counted = inputs.of_heads(inputs.counted, heads)
    kept = weights * counted[..., None]
    drawn, entropy = kept.sum(-2), torch.special.entr(weights).sum(-1)
    plain = inputs.plain[:, None, None].to(weights)
    strength, given = (weights * plain).amax(-1), (weights * plain).sum(-1)
    rows = Rows(weights, entropy, weights.amax(-1), inputs.of_heads(inputs.spread, heads))
    rows = with_sink(rows, sink)
    entropy, numbers = rows.entropy, numbers_of(rows)
    sums = {key: (each * counted).sum(-1).double() for key, each in numbers.items()}
    to_first = drawn[..., 0]
    if inputs.same_tokens:
        to_first = to_first - kept[..., 0, 0]
    sums["first token"] = to_first.double()
    for name, keys in (("separator", inputs.separators), ("punctuation", inputs.punctuation)):
        sums[name] = (drawn * keys[:, None]).sum(-1).double()
    distances, values = None, {}
    if inputs.same_tokens:
        sums["same token"] = kept.diagonal(0, -2, -1).sum(-1).double()
    if inputs.twins is not None:
        pairs = torch.einsum("bhqk,btqk->thb", kept, inputs.twins.to(kept)).transpose(1, 2).double()
        sums["duplicate token"], sums["induction"] = pairs
    if inputs.on_line:
        offsets = by_offset(kept).double()
        shares = offsets
        if sink is not None:  # a distance is that of the weight on keys
            whole = kept.sum(-1, keepdim=True)
            shares = by_offset(kept / whole.where(whole > 0, 1.0)).double()
        sums |= _along_the_line(offsets, shares, inputs.offsets)
        distances = _binned(offsets, inputs.offsets)
        values["positional"] = _positional(kept, offsets, inputs, heads)
    elif inputs.same_tokens and inputs.grid is not None:
        values, distances = _on_grid(weights, kept, inputs.grid)
        values["row entropy"] = entropy.double().mean(-1)
    values |= _means(sums, inputs, heads)
    values["sink share"] = _sink(drawn.double(), inputs, heads)
    return Readings(values, drawn, given, strength, distances)


def _means(sums: Numbers, inputs: Inputs, heads: slice) -> Numbers:
    """Sums over queries, divided by their number; NaN where there is none."""
    means = {}
    for key, total in sums.items():
        if key in inputs.rows:
            count = inputs.of_heads(inputs.rows[key], heads).sum(-1).double()
            means[key] = torch.where(count > 0, total / count, math.nan)
    if "squared distance" in means:
        variance = means.pop("squared distance") - means["distance"].square()
        means["distance spread"] = variance.clamp(min=0.0).sqrt()
    return means


def _along_the_line(
    offsets: Float[Tensor, "item head offset"],
    shares: Float[Tensor, "item head offset"],
    of: Int[Tensor, " offset"],
) -> Numbers:
    """Sums over queries of what the offset of a key decides, distances of rows that sum to 1."""
    apart = of.abs().to(offsets)
    near = {"previous token": of == -1, "next token": of == 1, "local": of.abs() <= NEAR}
    return {
        **{name: offsets @ each.to(offsets) for name, each in near.items()},
        "distance": shares @ apart,
        "squared distance": shares @ apart.square(),
    }


def _binned(offsets: Float[Tensor, "item head offset"], of: Tensor) -> Tensor:
    bins = torch.from_numpy(distance_bins(of.cpu().numpy()))
    return offsets.new_zeros(*offsets.shape[:2], 2 * BINS - 1).index_add_(
        2, bins.to(offsets.device), offsets
    )


def _positional(kept: Tensor, offsets: Tensor, inputs: Inputs, heads: slice) -> Tensor:
    """Share of the variance between pairs that lies between offsets."""
    if inputs.counted.shape[2] > SAMPLED:
        kept = kept * inputs.of_heads(inputs.sampled, heads)[..., None]
        offsets = by_offset(kept).double()
    squares = kept.square().sum((-2, -1)).double()
    counts = inputs.of_heads(inputs.seen_offsets, heads)
    mean = offsets.sum(-1).square() / counts.sum(-1)
    between = (offsets.square() / counts.clamp(min=1)).sum(-1) - mean
    variance = squares - mean
    varies = variance > 1e-9 * squares
    return torch.where(varies, (between / variance).clamp(0, 1), math.nan)


def _sink(drawn: Tensor, inputs: Inputs, heads: slice) -> Tensor:
    """The largest mean weight of a key, over the queries that see it."""
    seen = inputs.of_heads(inputs.seen_keys, heads)
    queries = inputs.of_heads(inputs.counted, heads).sum(-1, keepdim=True)
    often = (seen * 2 >= queries) & (seen > 0)
    means = torch.where(often, drawn / seen.clamp(min=1), -1.0).amax(-1)
    return torch.where(often.any(-1), means, math.nan)


def _on_grid(weights: Tensor, kept: Tensor, grid: PatchGrid) -> tuple[Numbers, Tensor]:
    """The mean distance that patches look, and the weight between them by distance."""
    patches = slice(grid.prefix, grid.prefix + grid.rows * grid.cols)
    between = weights[..., patches, patches]
    apart = grid_distances(grid.rows, grid.cols)
    share = between.sum(-1).double()
    there = share > 0
    total = torch.where(there, (between * apart.to(between)).sum(-1).double() / share, 0.0).sum(-1)
    mean = torch.where(there.any(-1), total / there.sum(-1), math.nan)
    bins = torch.from_numpy(position_bins(apart.round().long().numpy())).flatten() + BINS - 1
    maps = kept[..., patches, patches].cpu().flatten(2).double()
    distances = maps.new_zeros(*maps.shape[:2], 2 * BINS - 1).index_add_(2, bins, maps)
    return {"patch distance": mean}, distances
