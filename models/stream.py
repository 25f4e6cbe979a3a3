"""The residual stream of a few tokens, as what each component wrote into it.

    x ← x + head 0 + head 1 + … + bias        x ← x + MLP        x ← norm(x)

A norm divides by a deviation that depends on the whole stream. With this input's own deviation held
fixed it is linear, so the stream stays a sum of shares.

Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; the norm held fixed
as in Kobayashi et al. 2021, "Incorporating Residual and Normalization Layers".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.attention import Pattern
from models.attention.fitted_rotation import alike
from models.attention.pattern import expand_heads
from models.projections import BIASES as BIASES
from models.projections import Norm

TOKENS, POSITIONS, SEGMENTS = "token embedding", "positions", "segments"
EMBEDDING = "embedding"  # where its parts are not told apart


@dataclass(frozen=True, eq=False)
class Write:
    """What one component adds to the stream.

    Attributes:
        name: of the component.
        vectors: one for each token.
    """

    name: str
    vectors: Float[Tensor, "token dim"]


@dataclass(frozen=True, eq=False)
class Normed:
    """The stream is replaced by its norm."""

    norm: Norm


@dataclass(frozen=True, eq=False)
class Stream:
    """The residual stream of some tokens where an attention layer reads it.

    Attributes:
        steps: how it came about.
        state: as the network computed it.
    """

    steps: tuple[Write | Normed, ...]
    state: Float[Tensor, "token dim"]

    def parts(self) -> dict[str, Float[Tensor, "token dim"]]:
        """The share of each component, in float64; they sum to the stream.

        Raises:
            ValueError: if they do not: the pass had edits, or the network adds something else.
        """
        parts: dict[str, Tensor] = {}
        for step in self.steps:
            if isinstance(step, Write):
                vectors = step.vectors.double()
                parts[step.name] = parts[step.name] + vectors if step.name in parts else vectors
                continue
            parts = step.norm.shares(parts)
        whole = torch.stack(list(parts.values())).sum(0)
        if not alike(whole.to(self.state.dtype), self.state):
            raise ValueError(
                "expected what the components wrote to sum to the residual stream, received a"
                f" difference of {float((whole - self.state).abs().max()):.2g}: an edit changed"
                " the values, or the network adds something else"
            )
        return parts


def head_writes(
    pattern: Pattern,
    output: Float[Tensor, "head value_dim dim"],
    item: int,
    places: Int[Tensor, " token"],
) -> Float[Tensor, "head token dim"]:
    """What each head adds at some queries: its edited values times its output matrix."""
    weights = pattern.effective_weights(rows=places, item=item)
    v = expand_heads(pattern.v[item : item + 1], pattern.heads, slice(None))[0]
    return (weights @ v.float()) @ output.float()


def attention_steps(
    layer: int, writes: Float[Tensor, "head token dim"], bias: Tensor | None, word: str = "head"
) -> Iterable[Write]:
    """One write for each head, and one for the bias."""
    for head, vectors in enumerate(writes):
        yield Write(f"layer {layer}, {word} {head}", vectors)
    if bias is not None:
        yield Write(BIASES, bias.expand_as(writes[0]))


def mlp_name(layer: int) -> str:
    """Name of a feed-forward network."""
    return f"layer {layer}, MLP"


def total(steps: Sequence[Write]) -> Float[Tensor, "token dim"]:
    """The sum of some writes."""
    return torch.stack([step.vectors for step in steps]).sum(0)
