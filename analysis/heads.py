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
from functools import partial
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.circuits import OF_WEIGHTS, Products, circuit_scores
from analysis.measures import MEASURES
from analysis.reach import SQUARED, Counted
from analysis.row_numbers import Rows, numbers_of, with_sink
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
    known: dict[tuple, Counted] = {}
    numbers = {}
    for site in trace.sites:
        if site.kind in (*SELF_KINDS, "cross"):
            queries, keys = trace.queries(site)[item], trace.keys(site)[item]
            rule = id(queries), id(keys), site.kind, *rule_of(trace, site, item)
            if rule not in known:
                seen_by = partial(trace.visible, site, item=item)
                different, words = int(rule[-1]), isinstance(trace, View)
                known[rule] = Counted(
                    queries, keys, site.kind, seen_by, heads=different, words=words
                )
            numbers[site] = HeadNumbers(site.heads, known[rule], trace.sink_weights(site, item))
    return numbers


def rule_of(trace: TraceOrView, site: Site, item: int) -> tuple:
    """A key that is equal for sites whose queries see the same keys; last, how many heads of them
    differ in what they see, or 1."""
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
        self.of = counted
        self.masks = torch.stack([*counted.rows.values()])
        self.sums = torch.zeros(len(counted.rows), heads, dtype=torch.float64)
        self.drawn = torch.zeros(heads, counted.size[1], dtype=torch.float64)
        self.offsets = torch.zeros(heads, sum(counted.size) - 1)
        self.squares = torch.zeros(heads, dtype=torch.float64)

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
        entropy = torch.special.entr(weights).sum(-1) if entropy is None else entropy
        peaks = weights.amax(-1) if peaks is None else peaks
        read = Rows(weights, entropy, peaks, _of_heads(self.of.spread, heads)[:, rows].to(weights))
        values = numbers_of(with_sink(read, None if self.sink is None else self.sink[heads, rows]))
        values |= self.of.sums(rows, keys, weights)
        if self.of.same_tokens:
            whole = weights.sum(-1)
            whole = whole.where(whole > 0, 1.0)
            values |= {name: values[name] / whole for name in ("distance", SQUARED)}
            self._add_offsets(heads, rows, keys, weights)
        numbers = torch.stack([values[key] for key in self.of.rows])
        masks = self.masks if self.of.heads == 1 else self.masks[:, heads]
        self.sums[:, heads] += (numbers * masks[..., rows].to(weights)).sum(-1).double().cpu()
        counted = _of_heads(self.of.counted, heads)[:, None, rows].to(weights)
        self.drawn[heads, keys] += (counted @ weights)[:, 0].double().cpu()

    def result(self) -> dict[str, Float[Tensor, " head"]]:
        """The numbers; NaN for those that are not defined."""
        means = {
            key: total / rows.sum(-1).where(rows.any(-1), math.nan)
            for (key, rows), total in zip(self.of.rows.items(), self.sums, strict=True)
        }
        if self.of.same_tokens:
            variance = means.pop(SQUARED) - means["distance"].square()
            means["distance spread"] = variance.clamp(min=0.0).sqrt()
            means["positional"] = self._positional()
        means["sink share"] = self._sink()
        return {key: numbers.float() for key, numbers in means.items()}

    def reasons(self) -> dict[str, str]:
        """Why a number is not defined here."""
        numbers, reasons = self.result(), dict(REASONS)
        if not self.of.same_tokens:
            reasons |= dict.fromkeys(ON_OWN, OTHER_TOKENS)
        return {
            key: why
            for key, why in reasons.items()
            if key not in numbers or numbers[key].isnan().all()
        }

    def _add_offsets(self, heads: slice, rows: slice, keys: slice, weights: Tensor) -> None:
        """Sums the weights of the sampled queries by offset of the key."""
        chosen = rows.start + self.of.sampled[rows].nonzero().flatten()
        if len(chosen):
            counted = _of_heads(self.of.counted, heads)[:, chosen, None]
            some = weights[:, chosen - rows.start].cpu() * counted
            offsets = self.of.offset_of(chosen, keys).flatten()
            self.offsets[heads].index_add_(1, offsets, some.flatten(1))
            self.squares[heads] += some.square().sum((1, 2)).double()

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


def _of_heads(numbers: Tensor, heads: slice) -> Tensor:
    """Those of some heads, where heads differ."""
    return numbers if len(numbers) == 1 else numbers[heads]
