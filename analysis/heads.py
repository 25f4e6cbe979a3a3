"""Numbers of every head of a text: where its weight goes, how spread out, and what it copies.

Each is a mean over queries that are tokens of the text (special tokens do not count as queries,
unless there are no others) and that see two keys or more. They describe a head on this text, not
the head's function. A number that is not defined is NaN, and `reasons` says why.

The weights are read once, in blocks of rows (see `HeadNumbers`), never all at once. Formulas and
sources are in analysis/measures.py.
"""

import math
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.circuits import Products, circuit_scores
from analysis.measures import MEASURES, NEAR, SAMPLED
from analysis.twins import Pairs, Twins
from analysis.view import View
from models.attention import Block
from models.progress import Progress, each, no_progress
from models.trace import Site, Tokens, Trace

OWN = ("self", "causal")  # kinds whose queries and keys are the same tokens
Shown = Trace | View


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


def heads(trace: Shown, *, item: int = 0) -> dict[str, Float[Tensor, "site head"]]:
    """The numbers of every head, by the keys of `MEASURES`.

    Args:
        trace: of a text, or a view of one.
        item: index in the batch.

    Returns:
        One row for each of the trace's sites: for a network with one attention in each layer, one
        for each layer. NaN for a number that is not defined (`head_table` says why).
    """
    return dict(head_table(trace, item=item).values)


def head_table(
    trace: Shown,
    *,
    item: int = 0,
    check: Callable[[], None] = lambda: None,
    progress: Progress = no_progress,
) -> HeadTable:
    """The numbers of every head, and why some are defined nowhere.

    Args:
        trace: of a text, or a view of one.
        item: index in the batch.
        check: called before each block of weights; an exception ends the pass.
        progress: called before each site and after the last; likewise.
    """
    found = accumulators(trace, item=item)
    for site, numbers in each(found.items(), progress):
        for block in trace.blocks(site, item=item):
            check()
            numbers.add(block)
    return table(trace, found)


def accumulators(trace: Shown, *, item: int = 0) -> "dict[Site, HeadNumbers]":
    """Empty accumulators, one for each site whose rows are the softmax of one attention."""
    twins: dict[int, Twins] = {}
    made = {}
    for site in trace.sites:
        if site.kind in (*OWN, "cross"):
            queries, keys = trace.queries(site)[item], trace.keys(site)[item]
            if id(queries) not in twins:
                twins[id(queries)] = Twins(queries, words=isinstance(trace, View))
            window = None if isinstance(trace, View) else trace.pattern(site).mask.window
            made[site] = HeadNumbers(
                site.heads, site.kind, queries, keys, twins=twins[id(queries)], window=window
            )
    return made


def table(trace: Shown, found: "Mapping[Site, HeadNumbers]") -> HeadTable:
    """The table of accumulators that have been given every block."""
    shape = len(trace.sites), max(site.heads for site in trace.sites)
    values = {measure.key: torch.full(shape, math.nan) for measure in MEASURES}
    reasons: dict[str, str] = {}
    products: Products = {}
    for row, site in enumerate(trace.sites):
        if site not in found:
            continue
        whole = trace.trace if isinstance(trace, View) else trace
        scores, why = circuit_scores(whole, whole.site(site), products)
        for key, numbers in (found[site].result() | dict(scores)).items():
            values[key][row, : site.heads] = numbers.cpu()
        reasons = {**found[site].reasons(), **why, **reasons}
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
SQUARED = "squared distance"


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
        counted: 1 at the queries whose mean each number is.
        spread: the logarithm of the number of keys that each query sees.
        twins: equal tokens, and what followed the earlier ones.
        sampled: the sampled queries, and the offset of each of their keys.
    """

    rows: slice
    keys: slice
    columns: dict[str, Float[Tensor, " key"]]
    factors: Float[Tensor, "factor key"]
    place: Float[Tensor, " row"]
    near: slice
    around: tuple[Int[Tensor, "row offset"], Bool[Tensor, "row offset"]]
    counted: Float[Tensor, "number row"]
    spread: Float[Tensor, " row"]
    twins: tuple[Pairs, Pairs] | None
    sampled: tuple[Int[Tensor, " chosen"], Int[Tensor, " pair"]]


class HeadNumbers:
    """Numbers of the heads of one site, from its weights block by block.

    Blocks may come in any order, with one head or several; every weight is to come once.
    """

    def __init__(
        self,
        heads: int,
        kind: str,
        queries: Tokens,
        keys: Tokens,
        *,
        twins: Twins | None = None,
        window: int | None = None,
    ) -> None:
        """Before any block.

        Args:
            heads: number of heads.
            kind: "self", "causal" or "cross".
            queries: the tokens of the rows.
            keys: the tokens of the columns.
            twins: equal queries, which several sites may share; None compares them.
            window: a query sees keys fewer than this many positions away; None means all.
        """
        self.own, self.causal = kind in OWN, kind == "causal"
        self.size = len(queries), len(keys)
        self.twins = Twins(queries) if twins is None else twins
        self.low, self.high = _reach(self.size, self.causal, window if self.own else None)
        self.separators = torch.tensor([False, *keys.special[1:]], dtype=torch.bool)
        self.punctuation = torch.tensor([_is_punctuation(label) for label in keys.labels])
        self.counted = _queries(queries) & (self.high - self.low > 1)
        self.rows = self._counted_rows()
        self.sums = torch.zeros(len(self.rows), heads, dtype=torch.float64)
        self.drawn = torch.zeros(heads, len(keys), dtype=torch.float64)
        self.sampled = _spread(self.counted, SAMPLED)
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
            entropy: of each row in nats; None computes it.
            peaks: the largest weight of each row; None computes it.
        """
        keys = slice(first, first + weights.shape[2])
        if self.span is None or (self.span.rows, self.span.keys) != (rows, keys):
            self.span = self._span(rows, keys, weights)
        span = self.span
        entropy = torch.special.entr(weights).sum(-1) if entropy is None else entropy
        values = {
            "broad": entropy / span.spread,
            "entropy": entropy,
            "effective keys": entropy.exp(),
            "confidence": weights.amax(-1) if peaks is None else peaks,
            "first token": weights[..., 0] if first == 0 else weights.new_zeros(entropy.shape),
        }
        found = (span.factors @ weights.transpose(1, 2)).unbind(1)
        sums = dict(zip(span.columns, found, strict=True))
        none = torch.zeros_like(entropy)
        values |= {key: sums.get(key, none) for key in ("separator", "punctuation")}
        if self.own:
            values |= self._neighbours(span, weights) | self._distances(span, weights, sums)
            self._add_offsets(heads, span, weights)
        numbers = torch.stack([values[key] for key in self.rows])
        self.sums[:, heads] += (numbers @ span.counted[..., None])[..., 0].double().cpu()
        drawn = span.counted[0] @ weights
        self.drawn[heads, keys] += drawn.double().cpu()

    def result(self) -> dict[str, Float[Tensor, " head"]]:
        """The numbers; NaN for those that are not defined."""
        means = {
            key: total / (int(rows.sum()) or math.nan)
            for (key, rows), total in zip(self.rows.items(), self.sums, strict=True)
        }
        if self.own:
            variance = means.pop(SQUARED) - means["distance"].square()
            means["distance spread"] = variance.clamp(min=0.0).sqrt()
            means["positional"] = self._positional()
        means["sink share"] = self._sink()
        return {key: numbers.float() for key, numbers in means.items()}

    def reasons(self) -> dict[str, str]:
        """Why a number is not defined here."""
        numbers = self.result()
        return {
            key: OTHER_TOKENS if not self.own and key in ON_OWN else why
            for key, why in REASONS.items()
            if key not in numbers or numbers[key].isnan().all()
        }

    # --- which queries count ---

    def _counted_rows(self) -> dict[str, Bool[Tensor, " query"]]:
        """The queries whose mean each number is."""
        place, counted = torch.arange(self.size[0]), self.counted
        spread = ("entropy", "broad", "effective keys", "confidence")
        rows = dict.fromkeys(spread, counted) | {
            "first token": counted & ((place > 0) if self.own else counted) & (self.low == 0),
            "separator": counted & self._sees(self.separators),
            "punctuation": counted & self._sees(self.punctuation),
        }
        if not self.own:
            return rows
        return rows | {
            "previous token": counted & (place > 0),
            "next token": counted & (place + 1 < self.high),
            "duplicate token": counted & self.twins.has_other(causal=self.causal),
            "induction": counted & self.twins.has_follower(),
            **dict.fromkeys(("same token", "local", "distance", SQUARED), counted),
        }

    def _sees(self, chosen: Bool[Tensor, " key"]) -> Bool[Tensor, " query"]:
        """Whether a query sees any of the chosen keys."""
        before = torch.cat([torch.zeros(1, dtype=torch.long), chosen.cumsum(0)])
        return before[self.high] > before[self.low]

    # --- the numbers of each row of a block ---

    def _span(self, rows: slice, keys: slice, weights: Tensor) -> _Span:
        """What does not depend on the weights."""
        middle = (rows.start + rows.stop) / 2
        place = torch.arange(rows.start, rows.stop) - middle
        key = torch.arange(keys.start, keys.stop) - middle
        near = slice(*(min(max(each, keys.start), keys.stop) for each in (rows.start, rows.stop)))
        near = slice(near.start - keys.start, near.stop - keys.start)
        columns = {"one": torch.ones_like(key)}
        if self.own:
            columns |= {"place": key, "square": key.square()}
        for name, chosen in (("separator", self.separators), ("punctuation", self.punctuation)):
            if chosen[keys].any():
                columns[name] = chosen[keys].float()
        if self.own and near.stop < len(key):
            side = torch.ones_like(key)
            side[: near.start], side[near] = -1.0, 0.0
            columns |= {"side": side, "far": side * key}
        around = (place[:, None] + torch.arange(-NEAR, NEAR + 1) - key[0]).long()
        inside = (around >= 0) & (around < len(key))
        twins = None
        if self.own:
            pairs = self.twins.others(rows, causal=self.causal), self.twins.followers(rows)
            twins = pairs[0].within(keys), pairs[1].within(keys)
        chosen = self.sampled[rows].nonzero().flatten()
        offsets = (key - place[chosen, None]).long() + self.size[0] - 1
        device = weights.device
        return _Span(
            rows,
            keys,
            {name: factor.to(device) for name, factor in columns.items()},
            torch.stack([*columns.values()]).to(device),
            place.to(device),
            near,
            (around.clamp(0, len(key) - 1).to(device), inside.to(device)),
            torch.stack([counted[rows] for counted in self.rows.values()]).to(weights),
            (self.high - self.low)[rows].clamp(min=2).log().to(device),
            twins,
            (chosen.to(device), offsets.flatten()),
        )

    def _neighbours(self, span: _Span, weights: Tensor) -> dict[str, Tensor]:
        """Weight on the keys near a query, and on its twins."""
        places, inside = span.around
        near = weights.gather(2, places.expand(len(weights), *places.shape)) * inside
        duplicates, followers = span.twins or (Pairs(), Pairs())
        return {
            "previous token": near[..., NEAR - 1],
            "same token": near[..., NEAR],
            "next token": near[..., NEAR + 1],
            "local": near.sum(-1),
            "duplicate token": duplicates.weight(weights),
            "induction": followers.weight(weights),
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
        return {"distance": distance, SQUARED: place.square() * total - 2 * place * mean + square}

    def _add_offsets(self, heads: slice, span: _Span, weights: Tensor) -> None:
        """Sums the weights of the sampled queries by offset of the key."""
        chosen, offsets = span.sampled
        if len(chosen):
            some = weights[:, chosen].cpu()
            self.offsets[heads].index_add_(1, offsets, some.flatten(1))
            self.squares[heads] += some.square().sum((1, 2)).double()

    # --- the whole ---

    def _positional(self) -> Float[Tensor, " head"]:
        """Share of the variance between pairs that lies between offsets."""
        place = torch.arange(self.size[0])[self.sampled]
        edges = torch.zeros(sum(self.size), dtype=torch.float64)
        for bound, sign in ((self.low, 1), (self.high, -1)):
            ends = bound[self.sampled] - place + self.size[0] - 1
            edges.index_add_(0, ends, torch.full((len(ends),), float(sign), dtype=torch.float64))
        counts = edges.cumsum(0)[:-1]
        offsets = self.offsets.double()
        mean = offsets.sum(1).square() / counts.sum()
        between = (offsets.square() / counts.clamp(min=1)).sum(1) - mean
        variance = self.squares - mean
        varies = variance > 1e-9 * self.squares
        return torch.where(varies, (between / variance).clamp(0, 1), math.nan)

    def _sink(self) -> Float[Tensor, " head"]:
        """The largest mean weight of a key, over the queries that see it."""
        edges = torch.zeros(self.size[1] + 1, dtype=torch.float64)
        ones = torch.ones(int(self.counted.sum()), dtype=torch.float64)
        edges.index_add_(0, self.low[self.counted], ones)
        edges.index_add_(0, self.high[self.counted], -ones)
        seen = edges.cumsum(0)[:-1]
        often = (seen * 2 >= len(ones)) & (seen > 0)
        if not often.any():
            return torch.full((len(self.drawn),), math.nan)
        return (self.drawn[:, often] / seen[often]).amax(1)


def _reach(
    size: tuple[int, int], causal: bool, window: int | None
) -> tuple[Int[Tensor, " query"], Int[Tensor, " query"]]:
    """The first key that each query sees, and the one after the last."""
    queries, keys = size
    place = torch.arange(queries)
    low, high = torch.zeros_like(place), torch.full_like(place, keys)
    if causal:
        high = place + 1
    if window is not None:
        low, high = (place - window + 1).clamp(min=0), high.minimum(place + window)
    return low, high


def _queries(tokens: Tokens) -> Bool[Tensor, " query"]:
    """The tokens of the text; all of them if there are only special ones."""
    special = torch.tensor(tokens.special, dtype=torch.bool)
    return torch.ones_like(special) if special.all() else ~special


def _is_punctuation(label: str) -> bool:
    """Whether a token has no letter, digit or symbol, and is not empty."""
    text = label.strip()
    return bool(text) and all(unicodedata.category(sign)[0] == "P" for sign in text)


def _spread(chosen: Bool[Tensor, " query"], most: int) -> Bool[Tensor, " query"]:
    """At most so many of the chosen queries, evenly spread."""
    places = chosen.nonzero().flatten()
    if len(places) > most:
        places = places[torch.linspace(0, len(places) - 1, most).round().long()]
    return torch.zeros_like(chosen).index_fill(0, places, True)
