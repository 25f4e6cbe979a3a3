"""Numbers of every head of a text: where its weight goes, how spread out, and what it copies.

They describe a head on this text, not the head's function. A number that is not defined is NaN, and
`reasons` says why. The weights are read once, in blocks of rows, never all at once.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.circuits import OF_WEIGHTS, Known, circuit_scores
from analysis.head_numbers import HeadNumbers, Inputs
from analysis.measures import MEASURES, TABLES
from analysis.view import View
from models.given import as_trace
from models.progress import Progress, bar, each
from models.trace import Site, Trace

if TYPE_CHECKING:
    from pandas import DataFrame

KINDS = ("self", "causal", "cross")  # of sites whose rows are the softmax of one attention
KEYS = tuple(measure.key for measure in MEASURES)
ON_OWN = ("previous token", "next token", "same token", "duplicate token", "induction", "local")
ON_OWN += ("distance", "distance spread", "positional")
MOST_ROWS = 40  # in a notebook
FEW = "no query sees two keys"
TraceOrView = Trace | View


class HeadValues(dict[str, Float[Tensor, "site head"]]):
    """The numbers of every head by the keys of `MEASURES`; NaN for those that are not defined, and
    for heads that a site has not.

    Attributes:
        sites: of the rows.
        reasons: why a number is defined nowhere.
    """

    def __init__(
        self, values: Mapping[str, Tensor], sites: Sequence[Site], reasons: Mapping[str, str]
    ) -> None:
        super().__init__(values)
        self.sites, self.reasons = tuple(sites), reasons

    def __repr__(self) -> str:
        heads = sum(site.heads for site in self.sites)
        return f"HeadValues({len(self)} numbers of {heads} heads: {', '.join(map(repr, self))})"

    def _repr_html_(self) -> str:
        table = self.to_pandas().dropna(axis="columns", how="all").round(3)
        return table.to_html(index=False, max_rows=MOST_ROWS, notebook=True)

    def to_pandas(self) -> "DataFrame":
        """A data frame with a row for each head: its address, then its numbers."""
        from pandas import DataFrame

        address = ("layer", "kind", "tower", "module", "part")
        rows = [
            {name: getattr(site, name) for name in address}
            | {"head": head}
            | {name: float(numbers[row, head]) for name, numbers in self.items()}
            for row, site in enumerate(self.sites)
            for head in range(site.heads)
        ]
        return DataFrame(rows)


def heads(
    trace: TraceOrView | Any,
    only: Any = None,
    *,
    tokens: Any = None,
    item: int = 0,
    check: Callable[[], None] = lambda: None,
    progress: Progress | None = None,
) -> HeadValues:
    """The numbers of every head, by the keys of `MEASURES`.

    Args:
        trace: of a text, or a view of one; or weights, then their tokens: see `from_weights`.
        only: which numbers; None for all. Those of the weights alone ("copying", "copying of
            tokens", "matching") take longest on a network's first text.
        tokens: of weights, where `only` is given besides.
        item: index in the batch.
        check: called before each block of weights; an exception ends the pass.
        progress: called before each site and after the last; likewise.

    Returns:
        One row for each of the trace's sites: for a network with one attention in each layer, one
        for each layer. Its `to_pandas()` is a data frame.

    Raises:
        ValueError: for a number that there is not.
    """
    progress = progress or bar("heads")
    if tokens is None and not isinstance(trace, Trace | View):
        tokens, only = only, None
    trace = as_trace(trace, tokens)
    asked = KEYS if only is None else (only,) if isinstance(only, str) else tuple(only)
    unknown = next((key for key in asked if key not in KEYS), None)
    if unknown is not None:
        near = get_close_matches(unknown, KEYS, n=3) or KEYS
        raise ValueError(f"only: expected {', '.join(near)}, received {unknown!r}")
    shape = len(trace.sites), max(site.heads for site in trace.sites)
    values = {key: torch.full(shape, math.nan) for key in asked}
    reasons: dict[str, str] = {}
    known: Known = {}
    of_weights = bool({*OF_WEIGHTS} & {*asked})
    for site, numbers in each(accumulators(trace, item=item).items(), progress):
        for block in trace.blocks(site, item=item):
            check()
            numbers.add(block)
        results = {key: every[0] for key, every in numbers.result().items()}
        if of_weights:
            whole = trace.trace if isinstance(trace, View) else trace
            scores, why = circuit_scores(whole, whole.site(site), known)
            results, reasons = results | dict(scores), {**why, **reasons}
        for key in {*asked} & {*results}:
            values[key][trace.sites.index(site), : site.heads] = results[key].cpu()
        if site.kind == "cross":
            other = "cross-attention has queries and keys of different texts"
            reasons = dict.fromkeys(ON_OWN, other) | reasons
    why = TABLES["reasons"] | reasons
    nowhere = [key for key, numbers in values.items() if numbers.isnan().all()]
    return HeadValues(values, trace.sites, {key: why.get(key, FEW) for key in nowhere})


def accumulators(trace: TraceOrView, *, item: int = 0) -> dict[Site, HeadNumbers]:
    """Empty accumulators, one for each site whose rows are the softmax of one attention."""
    known: dict[tuple, Inputs] = {}
    numbers = {}
    for site in trace.sites:
        if site.kind in KINDS:
            queries, keys = trace.queries(site)[item], trace.keys(site)[item]
            rule = id(queries), id(keys), site.kind, *rule_of(trace, site)
            if rule not in known:

                def seen_by(rows: Tensor, site: Site = site) -> Tensor:
                    return trace.visible(site, rows, item=item)[None]

                words = isinstance(trace, View)
                known[rule] = Inputs([queries], [keys], site.kind, seen_by, words=words)
            sink = trace.sink_weights(site, item)
            numbers[site] = HeadNumbers(
                known[rule], site.heads, None if sink is None else sink[None]
            )
    return numbers


def rule_of(trace: TraceOrView, site: Site) -> tuple:
    """A key that is equal for sites whose queries see the same keys."""
    whole = trace.trace if isinstance(trace, View) else trace
    whole_site = whole.site(site)
    mask, axes = whole.pattern(whole_site).mask, whole.axes.get(whole_site)
    tensors = (mask.padding, mask.segments, mask.dense)
    places = () if axes is None else tuple(id(axis.positions) for axis in axes)
    heads = site.heads if mask.differs_by_head else 1
    return mask.causal, mask.window, mask.offset, mask.cut, *map(id, tensors), *places, heads
