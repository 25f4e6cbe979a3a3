"""Adds up what the heads do in a block of a corpus, batch by batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from analysis.corpus.numbers import Inputs, Readings, read
from analysis.corpus.samples import KEYS, Pairs, numbers
from analysis.corpus.scales import (
    BINS,
    GRID,
    SIDE,
    bins_of,
    edges,
    measures,
    position_bins,
)
from analysis.corpus.settings import Settings
from analysis.corpus.state import Layout, Place, State
from analysis.heads import SELF_KINDS, rule_of
from analysis.measures import Measure
from models.trace import Site, Tokens, Trace, Where

CELLS = {"cpu": 2**21, "cuda": 2**26}  # weights that are one tensor, at most
READ = (*SELF_KINDS, "cross")


@dataclass(frozen=True)
class Item:
    """One input of the corpus.

    Attributes:
        number: in the corpus.
        source: file and line, for display.
        text: the text; of a picture, its path.
        tokens: their number.
        target: what an encoder–decoder is to write; None for what it writes itself.
    """

    number: int
    source: str
    text: str
    tokens: int
    target: str | None = None


@dataclass(frozen=True, eq=False)
class Scheme:
    """What every block of a run is added up by.

    Attributes:
        settings: of the run.
        layout: the heads.
        slots: of each token id, its row among the tokens that are counted one by one; the last row
            is that of all others.
    """

    settings: Settings
    layout: Layout
    slots: np.ndarray

    @cached_property
    def by_where(self) -> dict[Where, tuple[int, Place]]:
        """Number and place of each site."""
        return {place.where: (number, place) for number, place in enumerate(self.layout.places)}

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        return measures(self.settings.pictures)

    @cached_property
    def keys(self) -> dict[str, int]:
        """The column of each measure."""
        return {measure.key: column for column, measure in enumerate(self.measures)}

    @cached_property
    def bins(self) -> int:
        """Bins of the longest histogram."""
        return max(len(edges(measure)) - 1 for measure in self.measures)


class Block:
    """The texts of a block, which are added up in the same order however a corpus is cut."""

    def __init__(self, scheme: Scheme, state: State) -> None:
        """A block to which no text was added yet.

        Args:
            scheme: of the run.
            state: what it is added to.
        """
        self.scheme, self.state = scheme, state
        heads, columns = scheme.layout.heads, len(scheme.measures)
        tokens, sites = int(scheme.slots.max(initial=0)) + 1, len(scheme.layout.places)
        self.sums = {
            "sum": np.zeros((heads, columns)),
            "square": np.zeros((heads, columns)),
            "distance": np.zeros((heads, 2 * BINS - 1)),
            "corner": np.zeros((heads, SIDE, SIDE)),
            "whole": np.zeros((heads, SIDE, SIDE)),
            "drawn by position": np.zeros((heads, BINS)),
            "entropy by position": np.zeros((heads, BINS)),
            "strength by position": np.zeros((heads, BINS)),
            "drawn by token": np.zeros((heads, tokens)),
            "given by token": np.zeros((heads, tokens)),
        }
        self.counts = {
            "count": np.zeros((heads, columns), np.int64),
            "histogram": np.zeros((heads, columns, scheme.bins), np.int64),
            "items": np.zeros(heads, np.int64),
            "queries": np.zeros(heads, np.int64),
            "corner": np.zeros((heads, SIDE, SIDE), np.int64),
            "seen by position": np.zeros((heads, BINS), np.int64),
            "queries by position": np.zeros((heads, BINS), np.int64),
            "seen by token": np.zeros((sites, tokens), np.int64),
            "keys by token": np.zeros((sites, tokens), np.int64),
            "queries by token": np.zeros((sites, tokens), np.int64),
        }
        if scheme.settings.pictures:
            self.sums["grid"] = np.zeros((heads, GRID * GRID))
        self.seen: dict[tuple, Inputs] = {}
        self.values: dict[int, tuple[list[np.ndarray], list[np.ndarray]]] = {}
        self.pairs: list[list[Pairs]] = [[] for _ in scheme.layout.places]

    def close(self) -> None:
        """Adds the block to the state."""
        for name, values in self.sums.items():
            self.state.sums.add(name, values)
        for name, values in self.counts.items():
            self.state.sums.count(name, values)
        for sample, parts in zip(self.state.pairs, self.pairs, strict=True):
            if parts:
                sample.merge(Pairs.together(parts))

    def add(self, batch: Sequence[Item], trace: Trace) -> None:
        """Adds a batch."""
        self.seen = {}
        for group in self._groups(trace):
            self._add_sites(batch, trace, group)
        for heads, values in self.values.values():
            self._add_values(np.concatenate(heads), np.concatenate(values, 1))
        self.values = {}
        for index, item in enumerate(batch):
            self.state.texts[item.number] = _text_of(item, trace, index)
        if len(self.state.texts) > 4 * len(batch) + self.scheme.settings.block:
            self.state.forget()

    def _add_values(self, heads: np.ndarray, values: np.ndarray) -> None:
        """Adds numbers `item head measure` to means, variances and histograms."""
        defined = ~np.isnan(values)
        filled = np.where(defined, values, 0.0)
        self.sums["sum"][heads] += filled.sum(0)
        self.sums["square"][heads] += (filled * filled).sum(0)
        self.counts["count"][heads] += defined.sum(0)
        for column, measure in enumerate(self.scheme.measures):
            item, head = defined[..., column].nonzero()
            bins = bins_of(values[item, head, column], measure)
            np.add.at(self.counts["histogram"][:, column], (heads[head], bins), 1)

    def _groups(self, trace: Trace) -> Iterator[list[Site]]:
        """Sites in a row whose weights are read together: those over the same tokens and mask."""
        group: list[Site] = []
        for site in trace.sites:
            if site.where not in self.scheme.by_where:
                if site.kind in READ:
                    self.state.note(f"left out: layer {site.layer}, not in the first input")
                continue
            if group and not self._together(trace, group, site):
                yield group
                group = []
            group.append(site)
        if group:
            yield group

    def _together(self, trace: Trace, group: Sequence[Site], site: Site) -> bool:
        inputs = self._inputs(trace, site)
        alike = inputs is self._inputs(trace, group[-1]) and inputs.seen.shape[1] == 1
        if not alike or trace.pattern(site).sink(0) is not None:
            return False
        places = [self.scheme.by_where[each.where][1] for each in (group[-1], site)]
        heads = places[1].first + places[1].heads - self.scheme.by_where[group[0].where][1].first
        cells = len(inputs.queries) * heads * inputs.seen.shape[2] * inputs.seen.shape[3]
        return places[0].slice.stop == places[1].first and cells <= _most_cells(trace, site) // 2

    def _add_sites(self, batch: Sequence[Item], trace: Trace, group: Sequence[Site]) -> None:
        inputs = self._inputs(trace, group[0])
        texts = np.array([item.number for item in batch])
        if len(inputs.queries) != len(batch):  # windows and tiles of one picture
            texts = np.repeat(texts, len(inputs.queries) // len(batch))
        places = [self.scheme.by_where[site.where] for site in group]
        reader = _Sites(self, places, inputs, texts, of_text=_of_text(trace, group[0]))
        if len(group) == 1:
            items = range(len(inputs.queries))
            sinks = [trace.sink_weights(group[0], item) for item in items]
            known = [sink for sink in sinks if sink is not None]
            for heads, weights in _weights(trace, group[0]):
                sink = _where_float64_is(torch.stack(known)[:, heads]) if known else None
                reader.add(heads, weights, read(weights, inputs, heads, sink))
        else:
            each = [weights for site in group for _, weights in _weights(trace, site)]
            weights = torch.cat(each, 1)
            heads = slice(0, weights.shape[1])
            reader.add(heads, weights, read(weights, inputs, heads))
        reader.close()

    def _inputs(self, trace: Trace, site: Site) -> Inputs:
        key = (
            id(trace.queries(site)),
            id(trace.keys(site)),
            site.kind,
            *rule_of(trace, site, 0),
        )
        if key not in self.seen:
            count = len(trace.queries(site)[0])
            grid = trace.query_grid(site)
            grid = None if grid is None or grid.frames > 1 else grid
            self.seen[key] = Inputs(
                trace.queries(site),
                trace.keys(site),
                _visible(trace, site, count),
                site.kind in SELF_KINDS,
                site.kind == "causal",
                grid if grid == trace.key_grid(site) else None,
            )
        return self.seen[key]


class _Sites:
    """Adds the weights of some sites over the same tokens, for one batch."""

    def __init__(
        self,
        block: Block,
        places: Sequence[tuple[int, Place]],
        inputs: Inputs,
        texts: np.ndarray,
        *,
        of_text: bool,
    ) -> None:
        """Before any weights.

        Args:
            block: that they are added to.
            places: number and place of each site, whose heads follow each other.
            inputs: tokens and mask.
            texts: the number of each item's text.
            of_text: whether rows and columns are the tokens of the text.
        """
        self.block, self.places, self.inputs, self.of_text = block, places, inputs, of_text
        self.first = places[0][1].first
        items, queries, keys = len(inputs.queries), *inputs.seen.shape[2:]
        self.size = items, queries, keys
        scheme = block.scheme
        self.text = np.repeat(texts, queries)
        self.query = np.tile(np.arange(queries), items)
        self.random = numbers(scheme.settings.seed, self.text, self.query)
        self.order = np.argsort(self.random, kind="stable")
        self.key_bins = position_bins(np.arange(keys))
        self.query_bins = position_bins(np.arange(queries))
        counted = inputs.counted.any(1).cpu().numpy().reshape(-1)
        limit = scheme.settings.sampled * 2.0**64
        chosen = (self.random.astype(float) < limit) & counted
        self.sampled = self.order[chosen[self.order]]
        self.pairs: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, heads: slice, weights: Tensor, readings: Readings) -> None:
        """Adds some heads."""
        rows = slice(self.first + heads.start, self.first + heads.stop)
        counted = self.inputs.of_heads(self.inputs.counted, heads).expand_as(readings.entropy)
        self._keep_values(rows, readings)
        self._add_positions(rows, heads, readings, counted)
        self._add_maps(rows, weights)
        if self.of_text:
            self._add_tokens(rows, readings, counted)
        self._add_examples(rows, weights, readings, counted)
        if self.of_text and self.inputs.on_line:
            self.pairs.append(self._strongest(weights))

    def _keep_values(self, rows: slice, readings: Readings) -> None:
        block, keys = self.block, self.block.scheme.keys
        items, heads = readings.entropy.shape[:2]
        missing = readings.entropy.new_full((items, heads), torch.nan, dtype=torch.float64)
        values = torch.stack([readings.values.get(key, missing) for key in keys], -1)
        kept = block.values.setdefault(items, ([], []))
        kept[0].append(np.arange(rows.start, rows.stop))
        kept[1].append(values.cpu().numpy())
        block.counts["items"][rows] += items
        if readings.distances is not None:
            block.sums["distance"][rows] += readings.distances.sum(0).cpu().numpy()

    def _add_positions(
        self, rows: slice, heads: slice, readings: Readings, counted: Tensor
    ) -> None:
        block = self.block
        drawn = readings.drawn.double().sum(0).cpu().numpy()
        seen = self.inputs.of_heads(self.inputs.seen_keys, heads).sum(0).cpu().numpy()
        queries = counted.sum(0).cpu().numpy()
        for name, values in (("drawn", drawn), ("seen", np.broadcast_to(seen, drawn.shape))):
            into = block.sums if name == "drawn" else block.counts
            _gather(into[f"{name} by position"][rows], self.key_bins, values)
        _gather(block.counts["queries by position"][rows], self.query_bins, queries)
        for name, values in (("entropy", readings.entropy), ("strength", readings.strength)):
            totals = (values.double() * counted).sum(0).cpu().numpy()
            _gather(block.sums[f"{name} by position"][rows], self.query_bins, totals)
        block.counts["queries"][rows] += queries.sum(-1)
        grid = self.inputs.grid
        if grid is not None:
            row, col = np.divmod(np.arange(grid.rows * grid.cols), grid.cols)
            cells = row * GRID // grid.rows * GRID + col * GRID // grid.cols
            patches = drawn[:, grid.prefix : grid.prefix + len(cells)]
            _gather(block.sums["grid"][rows], cells, patches)

    def _add_maps(self, rows: slice, weights: Tensor) -> None:
        """The upper left corner of the weights, and the whole of them on a smaller grid."""
        block = self.block
        total = weights.sum(0, dtype=torch.float64)
        corner = total[:, :SIDE, :SIDE].cpu().numpy()
        part = rows, slice(corner.shape[1]), slice(corner.shape[2])
        block.sums["corner"][part] += corner
        block.counts["corner"][part] += len(weights)
        whole = F.adaptive_avg_pool2d(total, SIDE) * (self.size[2] / SIDE)
        block.sums["whole"][rows] += whole.cpu().numpy()

    def _slots(self, tokens: Sequence[Tokens]) -> np.ndarray:
        """The rows of the tokens that are counted, item after item."""
        slots = self.block.scheme.slots
        ids = np.array([each.ids for each in tokens]).reshape(-1)
        return np.where(ids < len(slots), slots[np.minimum(ids, len(slots) - 1)], slots.max())

    def _add_tokens(self, rows: slice, readings: Readings, counted: Tensor) -> None:
        block = self.block
        pairs = (
            ("drawn", self._slots(self.inputs.keys), readings.drawn.double()),
            ("given", self._slots(self.inputs.queries), readings.given.double() * counted),
        )
        for name, slots, values in pairs:
            totals = values.transpose(0, 1).flatten(1).cpu().numpy()
            size = block.sums[f"{name} by token"].shape[1]
            for row, each in zip(range(rows.start, rows.stop), totals, strict=True):
                added = np.bincount(slots, each, size)
                block.sums[f"{name} by token"][row] += added

    def _add_examples(
        self, rows: slice, weights: Tensor, readings: Readings, counted: Tensor
    ) -> None:
        strength = torch.where(counted, readings.strength, -1.0).transpose(0, 1).flatten(1)
        order = self.order

        def fetch(heads: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            item, query = np.divmod(order[places], self.size[1])
            chosen = weights[item, heads, query]
            top = chosen.topk(min(KEYS, self.size[2]))
            keys = np.full((len(heads), KEYS), -1, np.int32)
            values = np.zeros((len(heads), KEYS), np.float32)
            keys[:, : top.indices.shape[1]] = top.indices.cpu().numpy()
            values[:, : top.values.shape[1]] = top.values.cpu().numpy()
            return keys, values

        self.block.state.examples.offer(
            rows.start,
            self.random[order],
            self.text[order],
            self.query[order],
            strength.double().cpu().numpy()[:, order],
            fetch,
        )

    def _strongest(self, weights: Tensor) -> tuple[np.ndarray, np.ndarray]:
        """The plain key with the largest weight, of each sampled query in each head."""
        item, query = np.divmod(self.sampled, self.size[1])
        plain = self.inputs.plain[item].to(weights)
        largest = (weights[item, :, query] * plain[:, None]).max(-1)
        ids = np.array([each.ids for each in self.inputs.keys])
        keys = ids[item[:, None], largest.indices.cpu().numpy()]
        return keys.astype(np.int32), largest.values.cpu().numpy()

    def close(self) -> None:
        """Adds what all heads share."""
        if not self.of_text:
            return
        block, inputs = self.block, self.inputs
        size = block.counts["seen by token"].shape[1]
        seen = inputs.seen_keys.amax(1).cpu().numpy().reshape(-1)
        keys, queries = self._slots(inputs.keys), self._slots(inputs.queries)
        counted = inputs.counted.any(1).cpu().numpy().reshape(-1)
        added = {
            "seen": np.bincount(keys, seen, size),
            "keys": np.bincount(keys, minlength=size),
            "queries": np.bincount(queries[counted], minlength=size),
        }
        for name, values in added.items():
            for number, _ in self.places:
                block.counts[f"{name} by token"][number] += values.round().astype(np.int64)
        if self.pairs:
            self._keep_pairs()

    def _keep_pairs(self) -> None:
        ids = np.array([each.ids for each in self.inputs.queries], np.int32).reshape(-1)
        keys, weights = (np.concatenate(each, 1) for each in zip(*self.pairs, strict=True))
        for number, place in self.places:
            heads = slice(place.first - self.first, place.first - self.first + place.heads)
            sample = self.random[self.sampled], ids[self.sampled], keys[:, heads], weights[:, heads]
            self.block.pairs[number].append(Pairs(*sample))


def _gather(into: np.ndarray, bins: np.ndarray, values: np.ndarray) -> None:
    """Adds columns of `values` to the columns of `into` that their bins name."""
    np.add.at(into.T, bins, values.T.astype(into.dtype))


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
    return CELLS["cuda" if trace.pattern(site).q.is_cuda else "cpu"]


def _visible(trace: Trace, site: Site, count: int) -> Tensor:
    """True at the keys that each query sees, `item head query key`."""
    rows = torch.arange(count)
    if not _plain_axes(trace, site):
        items = range(len(trace.queries(site)))
        every = torch.stack([trace.visible(site, rows, item=item) for item in items])
        return _where_float64_is(every)
    pattern = trace.pattern(site)
    places = rows.to(pattern.q.device)
    seen = pattern.mask.visible(places, pattern.keys, range(pattern.heads))
    if seen is None:
        seen = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=places.device)
    return _where_float64_is(seen.expand(-1, -1, count, pattern.keys))


def _where_float64_is(values: Tensor) -> Tensor:
    """Values where float64 is: Apple's GPUs have none."""
    return values.cpu() if values.device.type == "mps" else values


def _weights(trace: Trace, site: Site) -> Iterator[tuple[slice, Tensor]]:
    """The weights of all items, all heads at once or one by one."""
    pattern, items = trace.pattern(site), len(trace.queries(site))
    queries, keys = len(trace.queries(site)[0]), len(trace.keys(site)[0])
    together = items * site.heads * queries * keys <= _most_cells(trace, site)
    plain = _plain_axes(trace, site)
    for head in [None] if together else range(site.heads):
        if plain:
            weights = pattern.weights(head)
            weights = weights if head is None else weights[:, None]
        else:
            each = [trace.weights(site, head, item=item) for item in range(items)]
            weights = torch.stack([one if head is None else one[None] for one in each])
        heads = slice(0, site.heads) if head is None else slice(head, head + 1)
        yield heads, _where_float64_is(weights.detach())


def _text_of(item: Item, trace: Trace, index: int) -> dict[str, Any]:
    """What an example shows of its text."""
    kept: dict[str, Any] = {"source": item.source, "text": item.text}
    if trace.grid is not None:
        return kept | {"grid": list(trace.grid), "prefix": trace.prefix}
    kept["labels"] = list(trace.tokens[index].labels)
    if trace.target_tokens is not None:
        kept["target labels"] = list(trace.target_tokens[index].labels)
    return kept
