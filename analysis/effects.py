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

from analysis.target import EMBEDDINGS
from models.output import cross_entropy, log_softmax
from models.trace import Output, Trace


@runtime_checkable
class Measure(Protocol):
    """A number of an output."""

    def __call__(self, t: Trace) -> float:
        return float(self.of(t.output))

    def of(self, output: Output) -> Float[Tensor, ""]:
        """The number, with its graph."""
        ...


@dataclass(frozen=True)
class Logit(Measure):
    """The logit of a token or class, or its difference to that of another.

    Attributes:
        id: of the token or class.
        query: the token whose logits are read.
        versus: id of the other; None for the logit alone.
        item: index in the batch.
    """

    id: int
    query: int = -1
    versus: int | None = None
    item: int = 0

    def of(self, output: Output) -> Float[Tensor, ""]:
        row = output.logits_of(self.query, self.item)
        logit = _at(row, self.id)
        return logit if self.versus is None else logit - _at(row, self.versus)


@dataclass(frozen=True)
class Probability(Measure):
    """The probability of a token or class."""

    id: int
    query: int = -1
    item: int = 0

    def of(self, output: Output) -> Float[Tensor, ""]:
        return _at(log_softmax(output.logits_of(self.query, self.item)), self.id).exp()


@dataclass(frozen=True, eq=False)
class Divergence(Measure):
    """Kullback–Leibler divergence of the prediction from that of a reference pass, in nats.

    Its slope at the reference is 0: attribution cannot estimate it.

    Attributes:
        reference: the pass that it is measured from.
        query: the token whose predictions are compared.
        item: index in the batch.
    """

    reference: Trace
    query: int = -1
    item: int = 0

    def of(self, output: Output) -> Float[Tensor, ""]:
        p = log_softmax(self.reference.output.logits_of(self.query, self.item))
        q = log_softmax(output.logits_of(self.query, self.item))
        return (p.exp() * (p - q)).sum()


@dataclass(frozen=True, eq=False)
class EmbeddingDistance(Measure):
    """1 − cosine between the embedding and that of a reference pass, from 0 to 2.

    For what has no logits: the state of one token after the last norm, or the mean of all.

    Its slope at the reference is 0: attribution cannot estimate it.

    Attributes:
        reference: the pass that distances are from.
        token: whose state it is; None is the mean over the tokens, or a whole embedding.
    """

    reference: Trace
    token: int | None = None

    def of(self, output: Output) -> Float[Tensor, ""]:
        mine, other = (self.embedding(each) for each in (self.reference.output, output))
        return (mine / mine.norm() - other / other.norm()).square().sum() / 2

    def embedding(self, output: Output) -> Float[Tensor, " dim"]:
        """What is compared, in double precision: distances are differences of what is alike."""
        values = output.of_item()
        if output.name not in EMBEDDINGS or (self.token is not None and values.ndim != 2):
            raise ValueError(f"expected hidden states or an embedding, received {output.name}")
        if values.ndim == 2:
            values = values.mean(0) if self.token is None else values[self.token]
        return values.double()


@dataclass(frozen=True, eq=False)
class Towards(Measure):
    """How far an embedding has moved from that of one pass to that of another.

        (e − a) · (b − a) / |b − a|²

    0 for the embedding a of the first pass and 1 for b of the other; it is linear in e.

    Attributes:
        reference: the first pass.
        other: the other one.
        token: as for `EmbeddingDistance`.
    """

    reference: Trace
    other: Trace
    token: int | None = None

    def of(self, output: Output) -> Float[Tensor, ""]:
        embedding = EmbeddingDistance(self.reference, self.token).embedding
        begin, end = (embedding(each.output).detach() for each in (self.reference, self.other))
        way = end - begin
        return (embedding(output) - begin) @ way / way.square().sum()


@dataclass(frozen=True)
class Loss(Measure):
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

    def of(self, output: Output) -> Float[Tensor, ""]:
        missing = output.missing(self.item)
        logits = output.of_item(self.item)[self.first - 1 - missing : -1]
        targets = torch.tensor(self.ids[self.first :], device=logits.device)
        if missing >= self.first or len(logits) != len(targets):
            raise ValueError(f"expected logits of {len(self.ids)} tokens, from {self.first - 1} on")
        return cross_entropy(logits.float(), targets)


def _at(row: Float[Tensor, " vocab"], id: int) -> Float[Tensor, ""]:
    if not 0 <= id < len(row):
        raise ValueError(f"id: expected 0 to {len(row) - 1}, received {id}")
    return row[id]
