"""Numbers of every head of a text: where its weight goes, how spread out, and what it copies.

Each is a mean over queries that are tokens of the text (special tokens do not count as queries,
unless there are no others) and that see two keys or more. They describe a head on this text, not
the head's function. A number that is not defined is NaN, and `reasons` says why.

The weights are read once, in blocks of rows (see `HeadNumbers`), never all at once. Formulas and
sources are in analysis/measures.py.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.circuits import OF_WEIGHTS, Products, circuit_scores
from analysis.measures import MEASURES, NEAR
from analysis.reach import SQUARED, Counted, Reach
from analysis.row_numbers import Rows, numbers_of, with_sink
from analysis.twins import Pairs, Twins
from analysis.view import View
from models.attention import Block
from models.progress import Progress, each, no_progress
from models.trace import Site, Trace

if TYPE_CHECKING:
    from pandas import DataFrame

SELF_KINDS = ("self", "causal")  # kinds whose queries and keys are the same tokens
KEYS = tuple(measure.key for measure in MEASURES)
TraceOrView = Trace | View


@dataclass(frozen=True, eq=False)
class HeadTable:
    """The numbers of all heads.

    Attributes:
        values: by the keys of `MEASURES`; a row for each site, NaN for heads that it has not and
            for numbers that are not defined.
        reasons: why a number is defined nowhere.
    """

    values: Mapping[str, Float[Tensor, "site head"]]
    reasons: Mapping[str, str]


class HeadValues(dict[str, Tensor]):
    """The numbers of every head by the keys of `MEASURES`, each "site head".

    Attributes:
        sites: of the rows.
    """

    def __init__(self, values: Mapping[str, Tensor], sites: Sequence[Site]) -> None:
        super().__init__(values)
        self.sites = tuple(sites)

    def __repr__(self) -> str:
        heads = sum(site.heads for site in self.sites)
        return f"HeadValues({len(self)} numbers of {heads} heads: {', '.join(map(repr, self))})"

    def to_pandas(self) -> "DataFrame":
        """A data frame with a row for each head: its address, then its numbers."""
        from pandas import DataFrame

        rows = [
            {
                "layer": site.layer,
                "head": head,
                "kind": site.kind,
                "tower": site.tower,
                "module": site.module,
                "part": site.part,
                **{name: float(numbers[row, head]) for name, numbers in self.items()},
            }
            for row, site in enumerate(self.sites)
            for head in range(site.heads)
        ]
        return DataFrame(rows)


def heads(
    trace: TraceOrView, only: str | Sequence[str] | None = None, *, item: int = 0
) -> HeadValues:
    """The numbers of every head, by the keys of `MEASURES`.

    Args:
        trace: of a text, or a view of one.
        only: which numbers; None for all. Those of the weights alone ("copying", "copying of
            tokens", "matching") take longest on a network's first text.
        item: index in the batch.

    Returns:
        One row for each of the trace's sites: for a network with one attention in each layer, one
        for each layer. NaN for a number that is not defined (`head_table` says why). Its
        `to_pandas()` is a data frame.

    Raises:
        ValueError: for a number that there is not.
    """
    asked = KEYS if only is None else (only,) if isinstance(only, str) else tuple(only)
    unknown = next((each for each in asked if each not in KEYS), None)
    if unknown is not None:
        near = get_close_matches(unknown, KEYS, n=3) or KEYS
        raise ValueError(f"only: expected {', '.join(near)}, received {unknown!r}")
    values = head_table(trace, item=item, of_weights=bool({*OF_WEIGHTS} & {*asked})).values
    return HeadValues({key: values[key] for key in asked}, trace.sites)


def head_table(
    trace: TraceOrView,
    *,
    item: int = 0,
    check: Callable[[], None] = lambda: None,
    progress: Progress = no_progress,
    of_weights: bool = True,
) -> HeadTable:
    """The numbers of every head, and why some are defined nowhere.

    Args:
        trace: of a text, or a view of one.
        item: index in the batch.
        check: called before each block of weights; an exception ends the pass.
        progress: called before each site and after the last; likewise.
        of_weights: whether the numbers of the weights alone are among them.
    """
    numbers_by_site = accumulators(trace, item=item)
    for site, numbers in each(numbers_by_site.items(), progress):
        for block in trace.blocks(site, item=item):
            check()
            numbers.add(block)
    return table(trace, numbers_by_site, of_weights=of_weights)


def accumulators(trace: TraceOrView, *, item: int = 0) -> "dict[Site, HeadNumbers]":
    """Empty accumulators, one for each site whose rows are the softmax of one attention."""
    twins: dict[int, Twins] = {}
    known: dict[tuple, Counted] = {}
    numbers = {}
    for site in trace.sites:
        if site.kind in (*SELF_KINDS, "cross"):
            queries, keys = trace.queries(site)[item], trace.keys(site)[item]
            if id(queries) not in twins:
                twins[id(queries)] = Twins(queries, words=isinstance(trace, View))
            rule = id(queries), id(keys), site.kind, *rule_of(trace, site, item)
            if rule not in known:
                reach = reach_of(trace, site, item)
                known[rule] = Counted(queries, keys, site.kind, reach, twins[id(queries)])
            sink = trace.sink_weights(site, item)
            numbers[site] = HeadNumbers(site.heads, known[rule], sink)
    return numbers


def reach_of(trace: TraceOrView, site: Site, item: int = 0) -> Reach:
    """The keys that a site's queries see."""
    whole = trace.trace if isinstance(trace, View) else trace
    whole_site = whole.site(site)
    mask = whole.pattern(whole_site).mask
    heads = site.heads if mask.differs_by_head else 1
    return Reach(lambda rows: trace.visible(site, rows, item=item), heads)


def rule_of(trace: TraceOrView, site: Site, item: int) -> tuple:
    """A key that is equal for sites whose queries see the same keys."""
    whole = trace.trace if isinstance(trace, View) else trace
    whole_site = whole.site(site)
    mask, axes = whole.pattern(whole_site).mask, whole.axes.get(whole_site)
    tensors = (mask.padding, mask.segments, mask.dense)
    plain = mask.causal, mask.window, mask.offset, mask.cut, *map(id, tensors)
    places = () if axes is None else tuple(id(axis.positions) for axis in axes)
    return *plain, *places, site.heads if mask.differs_by_head else 1


def table(
    trace: TraceOrView,
    numbers_by_site: "Mapping[Site, HeadNumbers]",
    *,
    of_weights: bool = True,
) -> HeadTable:
    """The table of accumulators that have been given every block."""
    shape = len(trace.sites), max(site.heads for site in trace.sites)
    values = {measure.key: torch.full(shape, math.nan) for measure in MEASURES}
    reasons: dict[str, str] = {}
    products: Products = {}
    for row, site in enumerate(trace.sites):
        if site not in numbers_by_site:
            continue
        whole = trace.trace if isinstance(trace, View) else trace
        known = circuit_scores(whole, whole.site(site), products) if of_weights else ({}, {})
        scores, why = known
        for key, numbers in (numbers_by_site[site].result() | dict(scores)).items():
            values[key][row, : site.heads] = numbers.cpu()
        reasons = {**numbers_by_site[site].reasons(), **why, **reasons}
    nowhere = [key for key, numbers in values.items() if numbers.isnan().all()]
    return HeadTable(values, {key: reasons.get(key, FEW) for key in nowhere})


OTHER_TOKENS = "cross-attention has queries and keys of different texts"
ON_OWN = ("previous token", "next token", "same token", "duplicate token", "induction", "local")
ON_OWN += ("distance", "distance spread", "positional")
FEW = "no query sees two keys"
REASONS = {  # why a number is not defined, for queries and keys of one text
    **{measure.key: FEW for measure in MEASURES},
    "next token": "causal attention sees no later token",
    "duplicate token": "no token of this text occurs twice",
    "induction": "no token of this text occurs again after another one",
    "separator": "there is no special token but the first",
    "punctuation": "there is no punctuation in this text",
    "positional": "the weights are all equal",
}


@dataclass(frozen=True, eq=False)
class _Span:
    """What blocks of the same queries and keys share, whichever heads they hold.

    Attributes:
        rows: the queries.
        keys: the keys.
        columns: factors of the keys in sums over them, by name: "one", "place", "square"; where the
            text has such tokens, "separator", "punctuation"; and where there are keys ahead of
            `near`, "side", −1 behind it, 0 in it, 1 ahead, and "far", that times place.
        factors: the same, stacked.
        place: of the queries. Places count from the middle of the queries: far from it, float32 is
            too coarse for the squares of those that are near each other.
        near: the keys among the queries, as columns of the block.
        around: column of each key within `NEAR`, and whether there is one.
        counted: 1 at the queries whose mean each number is; one row for all heads where these see
            the same keys.
        spread: the logarithm of the number of keys that each query sees; likewise.
        twins: equal tokens, and what followed the earlier ones.
        sampled: the sampled queries, the offset of each of their keys, and 1 where they count.
    """

    rows: slice
    keys: slice
    columns: dict[str, Float[Tensor, " key"]]
    factors: Float[Tensor, "factor key"]
    place: Float[Tensor, " row"]
    near: slice
    around: tuple[Int[Tensor, "row offset"], Bool[Tensor, "row offset"]]
    counted: Float[Tensor, "number #head row"]
    spread: Float[Tensor, "#head row"]
    twins: tuple[Pairs, Pairs] | None
    sampled: tuple[Int[Tensor, " chosen"], Int[Tensor, " pair"], Float[Tensor, "#head chosen"]]

    def of_heads(self, numbers: Tensor, heads: slice) -> Tensor:
        """Those of some heads, where heads differ; along the axis before the last."""
        return numbers if numbers.shape[-2] == 1 else numbers[..., heads, :]


class HeadNumbers:
    """Numbers of the heads of one site, from its weights block by block.

    Blocks may come in any order, with one head or several; every weight is to come once.
    """

    def __init__(
        self, heads: int, counted: Counted, sink: Float[Tensor, "head query"] | None = None
    ) -> None:
        """Before any block.

        Args:
            heads: number of heads.
            counted: the queries that count, which several sites may share.
            sink: the weight of each query on the sink of its softmax; None without one.
        """
        self.sink = sink
        self.of, self.same_tokens, self.size = counted, counted.same_tokens, counted.size
        self.sums = torch.zeros(len(counted.rows), heads, dtype=torch.float64)
        self.drawn = torch.zeros(heads, self.size[1], dtype=torch.float64)
        self.offsets = torch.zeros(heads, sum(self.size) - 1)
        self.squares = torch.zeros(heads, dtype=torch.float64)
        self.span: _Span | None = None

    def add(self, block: Block) -> None:
        """Adds a block of weights."""
        first, entropy = block.keys.start, block.entropy()
        self.update(
            block.heads, block.rows, block.weights, first=first, entropy=entropy, peaks=block.peaks
        )

    def update(
        self,
        heads: slice,
        rows: slice,
        weights: Float[Tensor, "head row key"],
        *,
        first: int = 0,
        entropy: Float[Tensor, "head row"] | None = None,
        peaks: Float[Tensor, "head row"] | None = None,
    ) -> None:
        """Adds a block of weights.

        Args:
            heads: which heads.
            rows: which queries.
            weights: of consecutive keys; the weights of all other keys are 0.
            first: the first of these keys.
            entropy: of these weights, in nats; None computes it.
            peaks: the largest weight of each row; None computes it.
        """
        keys = slice(first, first + weights.shape[2])
        if self.span is None or (self.span.rows, self.span.keys) != (rows, keys):
            self.span = self._span(rows, keys, weights)
        span = self.span
        entropy = torch.special.entr(weights).sum(-1) if entropy is None else entropy
        peaks = weights.amax(-1) if peaks is None else peaks
        read = Rows(weights, entropy, peaks, span.of_heads(span.spread, heads))
        values = numbers_of(with_sink(read, None if self.sink is None else self.sink[heads, rows]))
        values["first token"] = weights[..., 0] if first == 0 else weights.new_zeros(entropy.shape)
        products = (span.factors @ weights.transpose(1, 2)).unbind(1)
        sums = dict(zip(span.columns, products, strict=True))
        none = torch.zeros_like(entropy)
        values |= {key: sums.get(key, none) for key in ("separator", "punctuation")}
        if self.same_tokens:
            values |= self._neighbours(span, weights) | self._distances(span, weights, sums)
            self._add_offsets(heads, span, weights)
        numbers = torch.stack([values[key] for key in self.of.rows])
        counted = span.of_heads(span.counted, heads)
        self.sums[:, heads] += (numbers * counted).sum(-1).double().cpu()
        drawn = counted[0][:, None] @ weights
        self.drawn[heads, keys] += drawn[:, 0].double().cpu()

    def result(self) -> dict[str, Float[Tensor, " head"]]:
        """The numbers; NaN for those that are not defined."""
        means = {
            key: total / rows.sum(-1).where(rows.any(-1), math.nan)
            for (key, rows), total in zip(self.of.rows.items(), self.sums, strict=True)
        }
        if self.same_tokens:
            variance = means.pop(SQUARED) - means["distance"].square()
            means["distance spread"] = variance.clamp(min=0.0).sqrt()
            means["positional"] = self._positional()
        means["sink share"] = self._sink()
        return {key: numbers.float() for key, numbers in means.items()}

    def reasons(self) -> dict[str, str]:
        """Why a number is not defined here."""
        numbers, reasons = self.result(), dict(REASONS)
        if not self.same_tokens:
            reasons |= dict.fromkeys(ON_OWN, OTHER_TOKENS)
        return {
            key: why
            for key, why in reasons.items()
            if key not in numbers or numbers[key].isnan().all()
        }

    # --- the numbers of each row of a block ---

    def _span(self, rows: slice, keys: slice, weights: Tensor) -> _Span:
        """What does not depend on the weights."""
        middle = (rows.start + rows.stop) / 2
        place = torch.arange(rows.start, rows.stop) - middle
        key = torch.arange(keys.start, keys.stop) - middle
        ends = (min(max(end, keys.start), keys.stop) for end in (rows.start, rows.stop))
        near = slice(*ends)
        near = slice(near.start - keys.start, near.stop - keys.start)
        columns = {"one": torch.ones_like(key)}
        if self.same_tokens:
            columns |= {"place": key, "square": key.square()}
        signs = ("separator", self.of.separators), ("punctuation", self.of.punctuation)
        for name, chosen in signs:
            if chosen[keys].any():
                columns[name] = chosen[keys].float()
        if self.same_tokens and near.stop < len(key):
            side = torch.ones_like(key)
            side[: near.start], side[near] = -1.0, 0.0
            columns |= {"side": side, "far": side * key}
        around = (place[:, None] + torch.arange(-NEAR, NEAR + 1) - key[0]).long()
        inside = (around >= 0) & (around < len(key))
        twins, equal, device = None, self.of.twins, weights.device
        if equal is not None:
            pairs = equal.others(rows, causal=self.of.causal), equal.followers(rows)
            others, followers = (each.within(keys).to(device) for each in pairs)
            twins = others, followers
        chosen = self.of.sampled[rows].nonzero().flatten()
        offsets = self.of.offset_of(rows.start + chosen, keys)
        counted = torch.stack([each[:, rows] for each in self.of.rows.values()])
        return _Span(
            rows,
            keys,
            {name: factor.to(device) for name, factor in columns.items()},
            torch.stack([*columns.values()]).to(device),
            place.to(device),
            near,
            (around.clamp(0, len(key) - 1).to(device), inside.to(device)),
            counted.to(weights),
            self.of.spread[:, rows].to(device),
            twins,
            (chosen.to(device), offsets.flatten(), self.of.counted[:, rows][:, chosen].float()),
        )

    def _neighbours(self, span: _Span, weights: Tensor) -> dict[str, Tensor]:
        """Weight on the keys near a query, and on its twins."""
        places, inside = span.around
        near = weights.gather(2, places.expand(len(weights), *places.shape)) * inside
        twins: dict[str, Tensor] = {}
        if span.twins is not None:
            others, followers = (pairs.weight(weights) for pairs in span.twins)
            twins = {"duplicate token": others, "induction": followers}
        return {
            "previous token": near[..., NEAR - 1],
            "same token": near[..., NEAR],
            "next token": near[..., NEAR + 1],
            "local": near.sum(-1),
            **twins,
        }

    def _distances(
        self, span: _Span, weights: Tensor, sums: Mapping[str, Tensor]
    ) -> dict[str, Tensor]:
        """Mean distance and mean squared distance of a query's weight."""
        total, mean, square = sums["one"], sums["place"], sums["square"]
        place, key, close = span.place, span.columns["place"][span.near], weights[..., span.near]
        if "far" in sums:
            distance = sums["far"] - place * sums["side"]
        else:  # all other keys are behind
            distance = place * (total - close.sum(-1)) - (mean - close @ key)
        distance = distance + (close * (place[:, None] - key).abs()).sum(-1)
        squared = place.square() * total - 2 * place * mean + square
        whole = total.where(total > 0, 1.0)
        return {"distance": distance / whole, SQUARED: squared / whole}

    def _add_offsets(self, heads: slice, span: _Span, weights: Tensor) -> None:
        """Sums the weights of the sampled queries by offset of the key."""
        chosen, offsets, counted = span.sampled
        if len(chosen):
            some = weights[:, chosen].cpu() * span.of_heads(counted, heads)[..., None]
            self.offsets[heads].index_add_(1, offsets, some.flatten(1))
            self.squares[heads] += some.square().sum((1, 2)).double()

    # --- the whole ---

    def _positional(self) -> Float[Tensor, " head"]:
        """Share of the variance between pairs that lies between offsets."""
        counts = self.of.offsets
        offsets = self.offsets.double()
        mean = offsets.sum(1).square() / counts.sum(1)
        between = (offsets.square() / counts.clamp(min=1)).sum(1) - mean
        variance = self.squares - mean
        varies = variance > 1e-9 * self.squares
        return torch.where(varies, (between / variance).clamp(0, 1), math.nan)

    def _sink(self) -> Float[Tensor, " head"]:
        """The largest mean weight of a key, over the queries that see it."""
        seen, queries = self.of.seen, self.of.counted.sum(-1, keepdim=True)
        often = (seen * 2 >= queries) & (seen > 0)
        means = (self.drawn / seen.clamp(min=1)).where(often, -1.0).amax(-1)
        return means.where(often.any(-1), math.nan)
