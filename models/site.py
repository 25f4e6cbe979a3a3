"""Where a network attended, and what it gave back."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Site:
    """One place where a network attends.

    Attributes:
        layer: which layer, by the order of calls, from 0.
        kind: "self", "causal" or "cross".
        heads: number of heads.
        queries: number of queries, padding included.
        keys: number of keys, padding included.
        tower: "encoder" or "decoder" of a model that has both; else None.
    """

    layer: int
    kind: str
    heads: int
    queries: int
    keys: int
    tower: str | None = None


@dataclass(frozen=True, eq=False)
class Output:
    """What the network gave back, and what it is: "hidden states", "logits", "embedding"."""

    name: str
    values: Tensor
