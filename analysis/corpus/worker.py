"""Reads a shard of a corpus: traces its texts batch by batch, and adds up what every head does."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from analysis.corpus.numbers import Found, Inputs, read
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
from analysis.heads import OWN, reach_of, rule_of
from models.run import trace
from models.trace import Site, Tokens, Trace

if TYPE_CHECKING:
    import pyarrow as pa

    from models.model import Model

CELLS = {"cpu": 2**21, "cuda": 2**26}  # weights of a site that are one tensor, at most
TOKENS = {"cpu": 2**10, "cuda": 2**15}  # of a batch, at most
READ = (*OWN, "cross")
Report = Callable[[int], None]


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


@dataclass(eq=False)
class Worker:
    """Holds a model, and reads shards.

    Attributes:
        model: the model.
        settings: of the run.
        layout: its heads.
        slots: of each token id, its row among the tokens that are counted one by one; the last row
            is that of all others.
    """

    model: "Model"
    settings: Settings
    layout: Layout
    slots: np.ndarray
    by_where: dict[Any, tuple[int, Place]] = field(init=False)

    def __post_init__(self) -> None:
        self.by_where = {each.where: (n, each) for n, each in enumerate(self.layout.places)}
        self.measures = measures(self.settings.pictures)
        self.keys = {measure.key: column for column, measure in enumerate(self.measures)}
        self.bins = max(len(edges(measure)) - 1 for measure in self.measures)

    def __call__(self, shard: "pa.Table", report: Report = lambda done: None) -> "pa.Table":
        """What a shard leaves behind.

        Args:
            shard: its inputs, in order.
            report: called after each batch with the number of inputs read; an exception ends it.
        """
        if self.settings.threads and self.model.device.type == "cpu":
            torch.set_num_threads(self.settings.threads)
        items = [Item(**row) for row in shard.to_pylist()]
        found = State.empty(self.layout)
        done = 0
        for start in range(0, len(items), self.settings.block):
            block = Block(self, found)
            for batch in self.batches(items[start : start + self.settings.block]):
                self._read(batch, block)
                done += len(batch)
                report(done)
            block.close()
        found.forget()
        return found.to_table()

    def batches(self, items: Sequence[Item]) -> Iterator[list[Item]]:
        """Inputs of equal length together, the short ones first."""
        kind = "cuda" if self.model.device.type == "cuda" else "cpu"
        heads = max(place.heads for place in self.layout.places)
        alone = self.settings.pictures or any(p.where.kind == "cross" for p in self.layout.places)
        groups: dict[int, list[Item]] = {}
        for item in items:
            groups.setdefault(item.tokens, []).append(item)
        for tokens, group in sorted(groups.items()):
            cells = heads * max(1, tokens) ** 2
            most = max(1, min(TOKENS[kind] // max(1, tokens), CELLS[kind] // cells))
            step = 1 if alone else most
            for start in range(0, len(group), step):
                yield group[start : start + step]

    def _read(self, batch: list[Item], block: "Block") -> None:
        """Reads a batch; if it is refused, one by one."""
        try:
            found = self.traced(batch)
            if len({len(each) for each in found.tokens}) > 1:
                raise ValueError("its tokens are not those that were counted")
        except (OSError, ValueError) as error:
            if len(batch) > 1:
                for item in batch:
                    self._read([item], block)
            else:
                block.state.note(f"refused: {' '.join(str(error).split())}")
            return
        block.add(batch, found)

    def traced(self, batch: Sequence[Item]) -> Trace:
        """One pass."""
        if self.settings.pictures:
            return trace(self.model, Path(batch[0].text))
        texts = [item.text for item in batch]
        targets = [item.target for item in batch if item.target is not None] or None
        return trace(self.model, texts, targets, logits_to_keep=1)


class Block:
    """The texts of a block, which are added up in the same order however a corpus is cut."""

    def __init__(self, worker: Worker, state: State) -> None:
        """Before any batch.

        Args:
            worker: whose block it is.
            state: what it is added to.
        """
        self.worker, self.state = worker, state
        heads, columns = worker.layout.heads, len(worker.measures)
        tokens, sites = int(worker.slots.max(initial=0)) + 1, len(worker.layout.places)
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
            "histogram": np.zeros((heads, columns, worker.bins), np.int64),
            "items": np.zeros(heads, np.int64),
            "queries": np.zeros(heads, np.int64),
            "corner": np.zeros((heads, SIDE, SIDE), np.int64),
            "seen by position": np.zeros((heads, BINS), np.int64),
            "queries by position": np.zeros((heads, BINS), np.int64),
            "seen by token": np.zeros((sites, tokens), np.int64),
            "keys by token": np.zeros((sites, tokens), np.int64),
            "queries by token": np.zeros((sites, tokens), np.int64),
        }
        if worker.settings.pictures:
            self.sums["grid"] = np.zeros((heads, GRID * GRID))
        self.seen: dict[tuple, Inputs] = {}
        self.values: dict[int, tuple[list[np.ndarray], list[np.ndarray]]] = {}

    def close(self) -> None:
        """Adds the block to the state."""
        for name, values in self.sums.items():
            self.state.sums.add(name, values)
        for name, values in self.counts.items():
            self.state.sums.count(name, values)

    def add(self, batch: Sequence[Item], found: Trace) -> None:
        """Adds a batch."""
        self.seen = {}
        for site in found.sites:
            if site.where in self.worker.by_where:
                self._add_site(batch, found, site)
            elif site.kind in READ:
                self.state.note(f"left out: layer {site.layer}, which the first input did not have")
        for heads, values in self.values.values():
            self._add_values(np.concatenate(heads), np.concatenate(values, 1))
        self.values = {}
        for index, item in enumerate(batch):
            self.state.texts[item.number] = _text_of(item, found, index)
        if len(self.state.texts) > 4 * len(batch) + self.worker.settings.block:
            self.state.forget()

    def _add_values(self, heads: np.ndarray, values: np.ndarray) -> None:
        """Adds numbers `item head measure` to means, variances and histograms."""
        defined = ~np.isnan(values)
        filled = np.where(defined, values, 0.0)
        self.sums["sum"][heads] += filled.sum(0)
        self.sums["square"][heads] += (filled * filled).sum(0)
        self.counts["count"][heads] += defined.sum(0)
        for column, measure in enumerate(self.worker.measures):
            item, head = defined[..., column].nonzero()
            bins = bins_of(values[item, head, column], measure)
            np.add.at(self.counts["histogram"][:, column], (heads[head], bins), 1)

    def _add_site(self, batch: Sequence[Item], found: Trace, site: Site) -> None:
        number, place = self.worker.by_where[site.where]
        inputs = self._inputs(found, site)
        numbers_ = np.array([item.number for item in batch])
        if len(inputs.queries) != len(batch):  # windows and tiles of one picture
            numbers_ = np.repeat(numbers_, len(inputs.queries) // len(batch))
        reader = _Site(self, number, place, inputs, numbers_)
        for heads, weights in _weights(found, site):
            reader.add(heads, weights, read(weights, inputs, heads), of_text=_of_text(found, site))
        reader.close(_of_text(found, site))

    def _inputs(self, found: Trace, site: Site) -> Inputs:
        key = (
            id(found.queries(site)),
            id(found.keys(site)),
            site.kind,
            *rule_of(found, site, 0),
        )
        if key not in self.seen:
            reach, count = reach_of(found, site), len(found.queries(site)[0])
            grid = found.query_grid(site)
            grid = None if grid is None or grid.frames > 1 else grid
            self.seen[key] = Inputs(
                found.queries(site),
                found.keys(site),
                _visible(found, site, count),
                site.kind in OWN,
                site.kind == "causal",
                reach.first,
                reach.dropped,
                grid if grid == found.key_grid(site) else None,
            )
        return self.seen[key]


class _Site:
    """Adds the weights of one site for one batch."""

    def __init__(
        self, block: Block, number: int, place: Place, inputs: Inputs, texts: np.ndarray
    ) -> None:
        self.block, self.number, self.place, self.inputs = block, number, place, inputs
        items, _, queries, keys = inputs.seen.shape
        items = len(inputs.queries)
        self.size = items, queries, keys
        worker = block.worker
        self.text = np.repeat(texts, queries)
        self.query = np.tile(np.arange(queries), items)
        self.random = numbers(worker.settings.seed, self.text, self.query)
        self.order = np.argsort(self.random, kind="stable")
        self.key_bins = position_bins(np.arange(keys))
        self.query_bins = position_bins(np.arange(queries))
        counted = inputs.counted.any(1).cpu().numpy().reshape(-1)
        limit = worker.settings.sampled * 2.0**64
        chosen = (self.random.astype(float) < limit) & counted
        self.sampled = self.order[chosen[self.order]]
        self.pairs: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, heads: slice, weights: Tensor, found: Found, *, of_text: bool) -> None:
        """Adds some heads."""
        rows = slice(self.place.first + heads.start, self.place.first + heads.stop)
        counted = self.inputs.of_heads(self.inputs.counted, heads).expand_as(found.entropy)
        self._keep_values(rows, found)
        self._add_positions(rows, heads, found, counted)
        self._add_maps(rows, weights)
        if of_text:
            self._add_tokens(rows, found, counted)
        self._add_examples(rows, weights, found, counted)
        if of_text and self.inputs.on_line:
            self.pairs.append(self._strongest(weights))

    def _keep_values(self, rows: slice, found: Found) -> None:
        block, keys = self.block, self.block.worker.keys
        items, heads = found.entropy.shape[:2]
        missing = found.entropy.new_full((items, heads), torch.nan, dtype=torch.float64)
        values = torch.stack([found.values.get(key, missing) for key in keys], -1)
        kept = block.values.setdefault(items, ([], []))
        kept[0].append(np.arange(rows.start, rows.stop))
        kept[1].append(values.cpu().numpy())
        block.counts["items"][rows] += items
        if found.distances is not None:
            block.sums["distance"][rows] += found.distances.sum(0).cpu().numpy()

    def _add_positions(self, rows: slice, heads: slice, found: Found, counted: Tensor) -> None:
        block = self.block
        drawn = found.drawn.double().sum(0).cpu().numpy()
        seen = self.inputs.of_heads(self.inputs.seen_keys, heads).sum(0).cpu().numpy()
        queries = counted.sum(0).cpu().numpy()
        for name, values in (("drawn", drawn), ("seen", np.broadcast_to(seen, drawn.shape))):
            into = block.sums if name == "drawn" else block.counts
            _gather(into[f"{name} by position"][rows], self.key_bins, values)
        _gather(block.counts["queries by position"][rows], self.query_bins, queries)
        for name, values in (("entropy", found.entropy), ("strength", found.strength)):
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
        corner = weights[..., :SIDE, :SIDE].double().sum(0).cpu().numpy()
        part = rows, slice(corner.shape[1]), slice(corner.shape[2])
        block.sums["corner"][part] += corner
        block.counts["corner"][part] += len(weights)
        whole = F.adaptive_avg_pool2d(weights, SIDE).double().sum(0) * (self.size[2] / SIDE)
        block.sums["whole"][rows] += whole.cpu().numpy()

    def _slots(self, tokens: Sequence[Tokens]) -> np.ndarray:
        """The rows of the tokens that are counted, item after item."""
        slots = self.block.worker.slots
        ids = np.array([each.ids for each in tokens]).reshape(-1)
        return np.where(ids < len(slots), slots[np.minimum(ids, len(slots) - 1)], slots.max())

    def _add_tokens(self, rows: slice, found: Found, counted: Tensor) -> None:
        block = self.block
        pairs = (
            ("drawn", self._slots(self.inputs.keys), found.drawn.double()),
            ("given", self._slots(self.inputs.queries), found.given.double() * counted),
        )
        for name, slots, values in pairs:
            totals = values.transpose(0, 1).flatten(1).cpu().numpy()
            size = block.sums[f"{name} by token"].shape[1]
            for row, each in zip(range(rows.start, rows.stop), totals, strict=True):
                added = np.bincount(slots, each, size)
                block.sums[f"{name} by token"][row] += added

    def _add_examples(self, rows: slice, weights: Tensor, found: Found, counted: Tensor) -> None:
        strength = torch.where(counted, found.strength, -1.0).transpose(0, 1).flatten(1)
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

    def close(self, of_text: bool) -> None:
        """Adds what all heads share."""
        if not of_text:
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
            block.counts[f"{name} by token"][self.number] += values.round().astype(np.int64)
        if self.pairs:
            ids = np.array([each.ids for each in inputs.queries], np.int32).reshape(-1)
            columns = (np.concatenate(each, 1) for each in zip(*self.pairs, strict=True))
            keys, weights = columns
            sample = Pairs(self.random[self.sampled], ids[self.sampled], keys, weights)
            block.state.pairs[self.number].merge(sample)


def _gather(into: np.ndarray, bins: np.ndarray, values: np.ndarray) -> None:
    """Adds columns of `values` to the columns of `into` that their bins name."""
    np.add.at(into.T, bins, values.T.astype(into.dtype))


def _of_text(found: Trace, site: Site) -> bool:
    """Whether rows and columns are tokens that the model's text was cut into."""
    if found.grid is not None or found.query_grid(site) is not None:
        return False
    text = [each.ids for each in found.tokens]
    return all([e.ids for e in side(site)] == text for side in (found.queries, found.keys))


def _plain_axes(found: Trace, site: Site) -> bool:
    """Whether all of a site's pattern is the tokens of its items, without padding."""
    sizes = {(len(q), len(k)) for q, k in zip(found.queries(site), found.keys(site), strict=True)}
    if sizes != {(site.queries, site.keys)}:
        return False
    axes = found.axes.get(site)
    items = range(len(found.queries(site)))
    return axes is None or all(axis.leads(item) for axis in axes for item in items)


def _visible(found: Trace, site: Site, count: int) -> Tensor:
    """True at the keys that each query sees, `item head query key`."""
    rows = torch.arange(count)
    if _plain_axes(found, site):
        pattern = found.pattern(site)
        places = rows.to(pattern.q.device)
        seen = pattern.mask.visible(places, pattern.keys, range(pattern.heads))
        if seen is None:
            return torch.ones(1, 1, count, pattern.keys, dtype=torch.bool, device=places.device)
        return seen.expand(-1, -1, count, pattern.keys)
    items = range(len(found.queries(site)))
    return torch.stack([found.visible(site, rows, item=item) for item in items])


def _weights(found: Trace, site: Site) -> Iterator[tuple[slice, Tensor]]:
    """The weights of all items, all heads at once or one by one."""
    pattern, items = found.pattern(site), len(found.queries(site))
    queries, keys = len(found.queries(site)[0]), len(found.keys(site)[0])
    most = CELLS["cuda" if pattern.q.is_cuda else "cpu"]
    together = items * site.heads * queries * keys <= most
    plain = _plain_axes(found, site)
    for head in [None] if together else range(site.heads):
        if plain:
            weights = pattern.weights(head)
            weights = weights if head is None else weights[:, None]
        else:
            each = [found.weights(site, head, item=item) for item in range(items)]
            weights = torch.stack([one if head is None else one[None] for one in each])
        yield slice(0, site.heads) if head is None else slice(head, head + 1), weights.detach()


def _text_of(item: Item, found: Trace, index: int) -> dict[str, Any]:
    """What an example needs of its text."""
    kept: dict[str, Any] = {"source": item.source, "text": item.text}
    if found.grid is not None:
        return kept | {"grid": list(found.grid), "prefix": found.prefix}
    kept["labels"] = list(found.tokens[index].labels)
    if found.target_tokens is not None:
        kept["target labels"] = list(found.target_tokens[index].labels)
    return kept
