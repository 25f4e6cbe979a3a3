"""Reads a shard of a corpus: traces its texts batch by batch, and adds up what every head does."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from analysis.corpus.blocks import CELLS, Block, Item, Scheme
from analysis.corpus.state import State
from models.run import trace
from models.trace import Trace

if TYPE_CHECKING:
    import pyarrow as pa

    from models.model import Model

TOKENS = {"cpu": 2**10, "cuda": 2**15}  # of a batch, at most
Report = Callable[[int], None]


@dataclass(eq=False)
class Worker:
    """Holds a model, and reads shards.

    Attributes:
        model: the model.
        scheme: of the run.
    """

    model: "Model"
    scheme: Scheme

    def __call__(self, shard: "pa.Table", report: Report = lambda done: None) -> "pa.Table":
        """What a shard leaves behind.

        Args:
            shard: its inputs, in order.
            report: called after each batch with the number of inputs read; an exception ends it.
        """
        if self.scheme.settings.threads and self.model.device.type == "cpu":
            torch.set_num_threads(self.scheme.settings.threads)
        items = [Item(**row) for row in shard.to_pylist()]
        state = State.empty(self.scheme.layout)
        done = 0
        for start in range(0, len(items), self.scheme.settings.block):
            block = Block(self.scheme, state)
            for batch in self.batches(items[start : start + self.scheme.settings.block]):
                self._read(batch, block)
                done += len(batch)
                report(done)
            block.close()
        state.forget()
        return state.to_table()

    def batches(self, items: Sequence[Item]) -> Iterator[list[Item]]:
        """Inputs of equal length together, the short ones first."""
        kind = "cuda" if self.model.device.type == "cuda" else "cpu"
        heads = max(place.heads for place in self.scheme.layout.places)
        alone = self.scheme.settings.pictures or any(
            p.where.kind == "cross" for p in self.scheme.layout.places
        )
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
            t = self.traced(batch)
            if len({len(each) for each in t.tokens}) > 1:
                raise ValueError("its tokens are not those that were counted")
        except (OSError, ValueError) as error:
            if len(batch) > 1:
                for item in batch:
                    self._read([item], block)
            else:
                block.state.note(f"refused: {' '.join(str(error).split())}")
            return
        block.add(batch, t)

    def traced(self, batch: Sequence[Item]) -> Trace:
        """One pass."""
        if self.scheme.settings.pictures:
            return trace(self.model, Path(batch[0].text))
        texts = [item.text for item in batch]
        targets = [item.target for item in batch if item.target is not None] or None
        return trace(self.model, texts, targets, logits_to_keep=1)
