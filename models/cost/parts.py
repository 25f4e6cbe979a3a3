"""Parts of networks with parameters, FLOPs and memory, computed from sizes alone.

FLOPs: two for each multiplication with its addition, in matrix products and convolutions alone,
as PyTorch's own counter has it. Masked cells of the attention count: the kernel works them out.
Memory: bytes of the float32 numbers a part writes and a backward pass will need, dropout off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NUMBER = 4  # bytes of a float32
Shape = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Part:
    """One step of a network, or several in order, for one item of a batch.

    Attributes:
        name: of the part among those beside it.
        title: for readers.
        kind: "input", "embedding", "positions", "norm", "projection", "attend", "linear",
            "activation", "add", "pool", or, of several, "attention", "feed-forward", "head",
            "block" and "tower".
        formula: what comes out, from x, which goes in.
        takes: axes of what goes in, each with its name and size.
        gives: axes of what comes out.
        source: the function of models/ whose lines run.
        parameters: numbers to learn.
        flops: of one pass.
        memory: bytes kept for a backward pass.
        times: how many copies follow each other, each with these numbers.
        skips: the part beside this one whose input is added here; empty without a residual.
        context: axes of what comes in from another tower; empty if nothing does.
        causal: whether, where tokens attend, later ones are hidden.
        parts: what it is made of; its numbers are their sums.
    """

    name: str
    title: str
    kind: str
    formula: str
    takes: Shape
    gives: Shape
    source: Any
    parameters: int = 0
    flops: int = 0
    memory: int = 0
    times: int = 1
    skips: str = ""
    context: Shape = ()
    causal: bool = False
    parts: tuple["Part", ...] = ()


def group(name: str, title: str, kind: str, parts: Sequence[Part], **fields: Any) -> Part:
    """Parts in order as one part."""
    return Part(
        name,
        title,
        kind,
        fields.pop("formula", " → ".join(part.title.lower() for part in parts)),
        fields.pop("takes", parts[0].takes),
        fields.pop("gives", parts[-1].gives),
        parameters=sum(part.times * part.parameters for part in parts),
        flops=sum(part.times * part.flops for part in parts),
        memory=sum(part.times * part.memory for part in parts),
        parts=tuple(parts),
        **fields,
    )


def size(shape: Shape) -> int:
    """Number of elements of a tensor of this shape."""
    count = 1
    for _, length in shape:
        count *= length
    return count


def linear(
    name: str,
    title: str,
    takes: Shape,
    gives: Shape,
    source: Any,
    *,
    bias: bool = True,
    **more: Any,
) -> Part:
    """A matrix on the last axis."""
    into, out = takes[-1][1], gives[-1][1]
    rows = size(takes) // into
    return Part(
        name,
        title,
        more.pop("kind", "linear"),
        more.pop("formula", "x · W + b" if bias else "x · W"),
        takes,
        gives,
        source,
        parameters=into * out + bias * out,
        flops=2 * rows * into * out,
        **more,
    )


def norm(name: str, title: str, shape: Shape, source: Any, **more: Any) -> Part:
    """LayerNorm: keeps what comes out, and each token's mean and deviation."""
    width = shape[-1][1]
    return Part(
        name,
        title,
        more.pop("kind", "norm"),
        more.pop("formula", "γ · (x − mean(x)) / √(variance(x) + ε) + β"),
        shape,
        shape,
        source,
        parameters=2 * width,
        memory=NUMBER * (size(shape) + 2 * size(shape) // width) + more.pop("extra", 0),
        **more,
    )


def add(name: str, skips: str, shape: Shape, source: Any) -> Part:
    """The residual: what went into a part and what came out of it."""
    kept = NUMBER * size(shape)
    return Part(name, "Add", "add", "x + f(x)", shape, shape, source, memory=kept, skips=skips)


def add_norm(name: str, skips: str, shape: Shape, source: Any) -> Part:
    """LayerNorm of the residual sum, which is kept as well."""
    return norm(
        *(name, "Add & Norm", shape, source),
        kind="add",
        formula="LayerNorm(x + f(x))",
        extra=NUMBER * size(shape),
        skips=skips,
    )
