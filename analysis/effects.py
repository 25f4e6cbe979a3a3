"""What an edit is measured by: one number of an output.

Each is called with a trace, or its `of` with an output; that is differentiable, which sweeps by
attribution need. Tokens are read at `query`, which counts an item's own tokens and from the last
one if it is negative; for classes it does not matter.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from models.output import cross_entropy, log_softmax
from models.trace import Output, Trace


@runtime_checkable
class Measure(Protocol):
    """A number of an output."""

    def __call__(self, t: Trace) -> float: ...

    def of(self, output: Output) -> Float[Tensor, ""]:
        """The number, with its graph."""
        ...


@dataclass(frozen=True)
class Logit:
    """The logit of a token or class; `versus`: less that of another."""

    id: int
    query: int = -1
    versus: int | None = None
    item: int = 0

    def __call__(self, t: Trace) -> float:
        return float(self.of(t.output))

    def of(self, output: Output) -> Float[Tensor, ""]:
        row = _row(output, self.query, self.item)
        logit = _at(row, self.id)
        return logit if self.versus is None else logit - _at(row, self.versus)


@dataclass(frozen=True)
class Probability:
    """The probability of a token or class."""

    id: int
    query: int = -1
    item: int = 0

    def __call__(self, t: Trace) -> float:
        return float(self.of(t.output))

    def of(self, output: Output) -> Float[Tensor, ""]:
        return _at(log_softmax(_row(output, self.query, self.item)), self.id).exp()


@dataclass(frozen=True, eq=False)
class Divergence:
    """Kullback–Leibler divergence of the prediction from that of a reference pass, in nats.

    Its slope at the reference is 0: attribution cannot estimate it.
    """

    reference: Trace
    query: int = -1
    item: int = 0

    def __call__(self, t: Trace) -> float:
        return float(self.of(t.output))

    def of(self, output: Output) -> Float[Tensor, ""]:
        p = log_softmax(_row(self.reference.output, self.query, self.item))
        q = log_softmax(_row(output, self.query, self.item))
        return (p.exp() * (p - q)).sum()


@dataclass(frozen=True)
class Loss:
    """Mean of −log p of an item's own tokens, each told from those before it, in nats.

    Attributes:
        ids: of all tokens of the item.
        first: the first token that counts.
        item: index in the batch.
    """

    ids: tuple[int, ...]
    first: int = 1
    item: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.first < len(self.ids):
            raise ValueError(f"first: expected 1 to {len(self.ids) - 1}, received {self.first}")

    def __call__(self, t: Trace) -> float:
        return float(self.of(t.output))

    def of(self, output: Output) -> Float[Tensor, ""]:
        missing = output.missing(self.item)
        logits = output.of_item(self.item)[self.first - 1 - missing : -1]
        targets = torch.tensor(self.ids[self.first :], device=logits.device)
        if missing >= self.first or len(logits) != len(targets):
            raise ValueError(f"expected logits of {len(self.ids)} tokens, from {self.first - 1} on")
        return cross_entropy(logits.float(), targets)


def _row(output: Output, query: int, item: int) -> Float[Tensor, " vocab"]:
    if output.name != "logits" or output.values.ndim not in (2, 3):
        raise ValueError(f"expected logits, received {output.name}")
    row = output.values[item] if output.values.ndim == 2 else output.row(query, item)
    return row.float()


def _at(row: Float[Tensor, " vocab"], id: int) -> Float[Tensor, ""]:
    if not 0 <= id < len(row):
        raise ValueError(f"id: expected 0 to {len(row) - 1}, received {id}")
    return row[id]
