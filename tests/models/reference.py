"""Attention the slow way, on one cell at a time in Python's own floats."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

Cell = Callable[[int, int, int, int], float]
Numbers = list[float]


def dot(q: Numbers, k: Numbers) -> float:
    return sum(a * b for a, b in zip(q, k, strict=True))


def scaled_dot(q: Numbers, k: Numbers, head: int) -> float:
    return dot(q, k) / math.sqrt(len(q))


class Answer(NamedTuple):
    """What attention gives, each `batch head query …` in float64."""

    scores: Tensor
    weights: Tensor
    values: Tensor


@dataclass(frozen=True)
class Slow:
    """Attention as a rule per cell (item, head, query, key)."""

    sees: Callable[[int, int, int, int], bool] = lambda b, h, i, j: True
    score: Callable[[Numbers, Numbers, int], float] = scaled_dot
    added: Cell = lambda b, h, i, j: 0.0
    temperature: Callable[[int], float] = lambda head: 1.0
    sink: Callable[[int], float] = lambda head: -math.inf

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Answer:
        batch, heads, queries, _ = q.shape
        group = heads // k.shape[1]
        scores = torch.zeros(batch, heads, queries, k.shape[2], dtype=torch.float64)
        weights = torch.zeros_like(scores)
        values = torch.zeros(batch, heads, queries, v.shape[3], dtype=torch.float64)
        for b in range(batch):
            for h in range(heads):
                keys, rows = k[b, h // group].tolist(), q[b, h].tolist()
                for i, row in enumerate(rows):
                    line = [self._cell(row, key, (b, h, i, j)) for j, key in enumerate(keys)]
                    share = softmax(line, self.sink(h))
                    scores[b, h, i] = torch.tensor(line, dtype=torch.float64)
                    weights[b, h, i] = torch.tensor(share, dtype=torch.float64)
                    values[b, h, i] = weights[b, h, i] @ v[b, h // group].double()
        return Answer(scores, weights, values)

    def _cell(self, q: Numbers, k: Numbers, cell: tuple[int, int, int, int]) -> float:
        if not self.sees(*cell):
            return -math.inf
        return (self.score(q, k, cell[1]) + self.added(*cell)) / self.temperature(cell[1])


def softmax(line: Numbers, sink: float) -> Numbers:
    """Shares of one row; all zero if there is nothing to share among."""
    top = max(*line, sink)
    if math.isinf(top):
        return [0.0] * len(line)
    total = sum(math.exp(x - top) for x in [*line, sink])
    return [math.exp(x - top) / total for x in line]
