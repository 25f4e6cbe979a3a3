"""Adds up what the heads do in a batch of a corpus."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.corpus.plan import Plan
from analysis.corpus.state import GRID, KEPT, SIDE, STRENGTHS, State, smallest
from analysis.corpus.state import numbers as random_numbers
from analysis.corpus.texts import Text
from analysis.descriptions import MOST
from analysis.head_numbers import HeadNumbers, Inputs, of_heads
from analysis.heads import KINDS, rule_of
from models.trace import Site, Tokens, Trace

CELLS = {"cpu": 2**21, "cuda": 2**26}  # weights that are one tensor, at most
WAITING = 1_024  # texts after which those without an example are dropped
KEYS = 8  # keys of an example: those with the largest weights


def tally(plan: Plan, state: State, batch: Sequence[Text], trace: Trace) -> None:
    """Adds a batch of inputs to what has been read."""
    limits = state.examples.limits(plan.heads * len(STRENGTHS))
    for sites, inputs in _groups(plan, state, trace):
        texts = np.array([item.number for item in batch])
        if len(inputs.queries) != len(batch):  # windows and tiles of one picture
            texts = np.repeat(texts, len(inputs.queries) // len(batch))
        numbers = HeadNumbers(inputs, sum(site.heads for site in sites), _sink(trace, sites[0]))
        group = _Group(plan, state, sites, numbers, texts, of_text=_of_text(trace, sites[0]))
        for heads, weights in _weights(trace, sites):
            group.add(heads, weights, limits)
        group.finish()
    for index, item in enumerate(batch):
        state.texts[item.number] = _text_of(item, trace, index)
    if len(state.texts) > 4 * len(batch) + WAITING:
        state.forget()


def _groups(plan: Plan, state: State, trace: Trace) -> Iterator[tuple[list[Site], Inputs]]:
    """Sites in a row whose weights are read together: those over the same tokens and mask."""
    known: dict[tuple, Inputs] = {}
    group: list[Site] = []
    before, end, cells = None, 0, 0
    for site in trace.sites:
        if site.where not in plan.sites:
            if site.kind in KINDS:
                state.notes[f"left out: layer {site.layer}, not in the first input"] += 1
            continue
        place, inputs = plan.sites[site.where][1], _inputs(trace, site, known)
        size = len(inputs.queries) * site.heads * math.prod(inputs.size)
        alone = inputs.counted.shape[1] > 1 or trace.pattern(site).sink(0) is not None
        full = cells + size > _most_cells(trace, site) // 2
        if before is not None and (alone or full or inputs is not before or place.first != end):
            yield group, before
            group, cells = [], 0
        group.append(site)
        before, end, cells = inputs, place.slice.stop, cells + size
    if before is not None:
        yield group, before


def _inputs(trace: Trace, site: Site, known: dict[tuple, Inputs]) -> Inputs:
    """What the numbers of a site are read from beside its weights; shared by equal sites."""
    queries, keys = trace.queries(site), trace.keys(site)
    key = (id(queries), id(keys), site.kind, *rule_of(trace, site))
    if key not in known:
        grid = trace.query_grid(site)
        flat = grid is not None and grid.frames == 1 and grid == trace.key_grid(site)
        seen_by, grid = partial(_visible, trace, site), grid if flat else None
        known[key] = Inputs(queries, keys, site.kind, seen_by, grid=grid)
    return known[key]


@dataclass(eq=False)
class _Group:
    """Sites over the same tokens, whose heads follow each other, for one batch.

    Attributes:
        plan: of the run.
        state: what they are added to.
        sites: the sites.
        numbers: of their heads.
        texts: the number of each item's text.
        of_text: whether rows and columns are the tokens of the text.
        strongest: of the sampled queries, token and weight of the strongest key in some heads.
    """

    plan: Plan
    state: State
    sites: Sequence[Site]
    numbers: HeadNumbers
    texts: np.ndarray
    of_text: bool
    strongest: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    @property
    def inputs(self) -> Inputs:
        return self.numbers.inputs

    @cached_property
    def ids(self) -> np.ndarray:
        """The token of every query, `item query`."""
        return np.array([each.ids for each in self.inputs.queries], np.int32)

    @cached_property
    def first(self) -> int:
        """The number of the first head."""
        return self.plan.sites[self.sites[0].where][1].first

    @cached_property
    def queries(self) -> dict[str, np.ndarray]:
        """Number, text and position of every query, item after item."""
        items, count = len(self.inputs.queries), self.inputs.size[0]
        text, query = np.repeat(self.texts, count), np.tile(np.arange(count), items)
        return {"number": random_numbers(text, query), "text": text, "query": query}

    @cached_property
    def sampled(self) -> np.ndarray:
        """The queries from which pairs of tokens are counted."""
        counted = self.inputs.counted.any(1).cpu().numpy().reshape(-1)
        limit = self.plan.sampled * 2.0**64
        return np.flatnonzero(counted & (self.queries["number"].astype(float) < limit))

    def add(self, heads: slice, weights: Tensor, limits: np.ndarray) -> None:
        """Adds the weights of some heads."""
        inputs, totals = self.inputs, self.state.totals
        rows = slice(self.first + heads.start, self.first + heads.stop)
        queries, keys = (slice(0, size) for size in inputs.size)
        self.numbers.update(heads, queries, keys, weights)
        counted = of_heads(inputs.counted, heads).expand(weights.shape[:3])
        corner = weights[:, :, :SIDE, :SIDE].sum(0, dtype=torch.float64).cpu().numpy()
        part = rows, slice(corner.shape[1]), slice(corner.shape[2])
        totals["corner"][part] += corner
        totals["corner items"][part] += len(weights)
        on_plain = weights * inputs.plain[:, None, None]
        if self.of_text:
            self._add_tokens("given", rows, inputs.queries, on_plain.sum(-1).double() * counted)
        strength = torch.where(counted, on_plain.amax(-1), -1.0)
        self._offer_examples(rows, weights, strength, limits)
        if self.of_text and inputs.on_line:
            self.strongest.append(self._strongest(on_plain))

    def finish(self) -> None:
        """Adds what is known once all heads were added."""
        inputs, totals, numbers = self.inputs, self.state.totals, self.numbers
        rows = slice(self.first, self.first + numbers.drawn.shape[1])
        totals["items"][rows] += len(numbers.drawn)
        totals["queries"][rows] += inputs.counted.sum((0, 2)).cpu().numpy()
        self._add_values(rows)
        if self.of_text:
            self._add_tokens("drawn", rows, inputs.keys, numbers.drawn)
        if (grid := inputs.grid) is not None:
            row, col = np.divmod(np.arange(grid.rows * grid.cols), grid.cols)
            cells = row * GRID // grid.rows * GRID + col * GRID // grid.cols
            patches = numbers.drawn[..., grid.prefix : grid.prefix + len(cells)]
            np.add.at(totals["grid"][rows].T, cells, patches.sum(0).T.cpu().numpy())
        self._offer_pairs()

    def _add_values(self, rows: slice) -> None:
        """What means and variances of the numbers are made of, and how often they are high."""
        measures, totals = self.plan.measures, self.state.totals
        results = self.numbers.result()
        missing = torch.full_like(results["entropy"], torch.nan)
        every = [results.get(measure.key, missing).cpu() for measure in measures]
        values = torch.stack(every, -1).numpy()  # item head measure
        defined = ~np.isnan(values)
        filled = np.where(defined, values, 0.0)
        totals["sum"][rows] += filled.sum(0)
        totals["square"][rows] += (filled * filled).sum(0)
        totals["count"][rows] += defined.sum(0)
        totals["holds"][rows] += (filled >= MOST).sum(0)

    def _add_tokens(self, name: str, rows: slice, tokens: Sequence[Tokens], values: Tensor) -> None:
        """The weight that each token draws, or that it gives."""
        columns = self.plan.columns(np.array([each.ids for each in tokens]).reshape(-1))
        into = self.state.totals[name][rows]
        for row, each in zip(into, values.transpose(0, 1).flatten(1).cpu().numpy(), strict=True):
            row += np.bincount(columns, each, into.shape[1])

    def _offer_examples(
        self, rows: slice, weights: Tensor, strengths: Tensor, limits: np.ndarray
    ) -> None:
        """Queries of each interval of strength, with their strongest keys."""
        strength = strengths.transpose(0, 1).flatten(1).double().cpu().numpy()  # head query
        interval = np.searchsorted(STRENGTHS, strength, side="right") - 1
        cells = (np.arange(rows.start, rows.stop) * len(STRENGTHS))[:, None] + interval
        number = self.queries["number"]
        head, place = ((interval >= 0) & (number < limits[cells])).nonzero()
        few = smallest(cells[head, place], number[place], KEPT)
        head, place = head[few], place[few]
        item, query = np.divmod(place, weights.shape[2])
        top = weights[item, head, query].topk(min(KEYS, weights.shape[3]))
        padding = ((0, 0), (0, KEYS - top.indices.shape[1]))
        self.state.examples.offer(
            cell=cells[head, place],
            **{name: values[place] for name, values in self.queries.items()},
            strength=strength[head, place],
            keys=np.pad(top.indices.cpu().numpy(), padding, constant_values=-1),
            weights=np.pad(top.values.float().cpu().numpy(), padding),
        )

    def _strongest(self, on_plain: Tensor) -> tuple[np.ndarray, np.ndarray]:
        """The plain key with the largest weight, of each sampled query in each head."""
        item, query = np.divmod(self.sampled, on_plain.shape[2])
        largest = on_plain[item, :, query].max(-1)
        keys = self.ids[item[:, None], largest.indices.cpu().numpy()]
        return keys, largest.values.cpu().numpy()

    def _offer_pairs(self) -> None:
        """Adds the sampled queries with their strongest keys."""
        if not self.strongest:
            return
        keys, weights = (np.concatenate(each, 1) for each in zip(*self.strongest, strict=True))
        for site in self.sites:
            number, place = self.plan.sites[site.where]
            heads = slice(place.first - self.first, place.first - self.first + place.heads)
            self.state.pairs[number].offer(
                cell=np.zeros(len(self.sampled), np.int64),
                number=self.queries["number"][self.sampled],
                token=self.ids.reshape(-1)[self.sampled],
                keys=keys[:, heads],
                weights=weights[:, heads],
            )


def _of_text(trace: Trace, site: Site) -> bool:
    """Whether rows and columns are tokens that the model's text was cut into."""
    if trace.grid is not None or trace.query_grid(site) is not None:
        return False
    text = [each.ids for each in trace.tokens]
    return all([e.ids for e in side(site)] == text for side in (trace.queries, trace.keys))


def _plain_axes(trace: Trace, site: Site) -> bool:
    """Whether all of a site's pattern is the tokens of its items, without padding."""
    sizes = {(len(q), len(k)) for q, k in zip(trace.queries(site), trace.keys(site), strict=True)}
    if sizes != {(site.queries, site.keys)}:
        return False
    axes = trace.axes.get(site)
    items = range(len(trace.queries(site)))
    return axes is None or all(axis.leads(item) for axis in axes for item in items)


def _most_cells(trace: Trace, site: Site) -> int:
    """The most weights that one tensor may hold."""
    return CELLS["cuda" if trace.pattern(site).device.type == "cuda" else "cpu"]


def _visible(trace: Trace, site: Site, rows: Tensor) -> Tensor:
    """True at the keys that some queries see, `#item #head row key`."""
    items, pattern = range(len(trace.queries(site))), trace.pattern(site)
    if not _plain_axes(trace, site):
        return torch.stack([trace.visible(site, rows, item=item) for item in items])
    places = rows.to(pattern.device)
    seen = pattern.mask.visible(places, pattern.keys, range(pattern.heads))
    seen = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=places.device) if seen is None else seen
    return seen.expand(-1, -1, len(rows), pattern.keys)


def _sink(trace: Trace, site: Site) -> Tensor | None:
    """The weight of each query on the sink of its softmax, `item head query`."""
    items = range(len(trace.queries(site)))
    known = [sink for item in items if (sink := trace.sink_weights(site, item)) is not None]
    return torch.stack(known) if known else None


def _weights(trace: Trace, sites: Sequence[Site]) -> Iterator[tuple[slice, Tensor]]:
    """Heads, and their weights of all items: all heads at once or one by one."""
    if len(sites) > 1:
        weights = torch.cat([w for site in sites for _, w in _weights(trace, [site])], 1)
        yield slice(0, weights.shape[1]), weights
        return
    (site,) = sites
    pattern, items = trace.pattern(site), range(len(trace.queries(site)))
    queries, keys = len(trace.queries(site)[0]), len(trace.keys(site)[0])
    together = len(items) * site.heads * queries * keys <= _most_cells(trace, site)
    plain = _plain_axes(trace, site)
    for head in [None] if together else range(site.heads):
        if plain:
            weights = pattern.weights(head)
        else:
            weights = torch.stack([trace.weights(site, head, item=item) for item in items])
        heads = slice(0, site.heads) if head is None else slice(head, head + 1)
        weights = weights.detach() if head is None else weights.detach()[:, None]
        yield heads, weights.cpu() if weights.device.type == "mps" else weights


def _text_of(item: Text, trace: Trace, index: int) -> dict[str, Any]:
    """What an example shows of its text."""
    kept: dict[str, Any] = {"source": item.source, "text": item.text}
    if trace.grid is not None:
        return kept | {"grid": list(trace.grid), "prefix": trace.prefix}
    kept["labels"] = list(trace.tokens[index].labels)
    if trace.target_tokens is not None:
        kept["target labels"] = list(trace.target_tokens[index].labels)
    return kept
