"""Parts of networks with parameters and FLOPs, computed from sizes alone.

FLOPs: two per multiply–add, in matrix products and convolutions only, like PyTorch's counter.
Masked attention cells count: the kernel computes them.
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
        name: unique among its siblings.
        title: for display.
        kind: "input", "embedding", "positions", "norm", "projection", "attend", "linear",
            "activation", "add", "pool", or, of several, "attention", "feed-forward", "head",
            "block" and "tower".
        formula: the output as a function of the input x.
        takes: axes of the input, each with its name and size.
        gives: axes of the output.
        source: the function in models/ that computes it.
        parameters: number of learned parameters.
        flops: of one forward pass.
        times: number of consecutive copies; all numbers are for one copy.
        skips: the sibling whose input is added here; empty without a residual connection.
        context: axes of the input from another tower; empty if there is none.
        causal: whether the attention is causal.
        weights: numbers per pass that attention forms outside the fused kernel, in blocks: its
            weights, and the hidden units of an additive score.
        parts: its components; its numbers are their sums.
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
    times: int = 1
    skips: str = ""
    context: Shape = ()
    causal: bool = False
    weights: int = 0
    parts: tuple["Part", ...] = ()


def group(name: str, title: str, kind: str, parts: Sequence[Part], **fields: Any) -> Part:
    """A sequence of parts as one part."""
    return Part(
        name,
        title,
        kind,
        fields.pop("formula", " → ".join(part.title.lower() for part in parts)),
        fields.pop("takes", parts[0].takes),
        fields.pop("gives", parts[-1].gives),
        parameters=sum(part.times * part.parameters for part in parts),
        flops=sum(part.times * part.flops for part in parts),
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
    """A linear layer over the last axis."""
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


NORM_FORMULAS = {
    "layer": "γ · (x − mean(x)) / √(variance(x) + ε) + β",
    "rms": "γ · x / √(mean(x²) + ε)",
}


def norm(name: str, title: str, shape: Shape, source: Any, kind: str, **more: Any) -> Part:
    """A norm over the features of each token.

    Args:
        name: of the part.
        title: of the part, were it a LayerNorm: "Norm", "Final norm" or "Add & Norm".
        shape: of input and output.
        source: the function that computes it.
        kind: one of `blocks.NORMS`.
        more: other fields of the part.
    """
    parameters = shape[-1][1] * (2 if kind == "layer" else 1)
    return Part(
        name,
        title
        if kind == "layer"
        else title.replace("Norm", "RMS norm").replace("Final norm", "Final RMS norm"),
        more.pop("part_kind", "norm"),
        more.pop("formula", NORM_FORMULAS[kind]),
        shape,
        shape,
        source,
        parameters=parameters,
        **more,
    )


def add(name: str, skips: str, shape: Shape, source: Any) -> Part:
    """The residual connection: the input of a part plus its output."""
    return Part(name, "Add", "add", "x + f(x)", shape, shape, source, skips=skips)


def add_norm(name: str, skips: str, shape: Shape, source: Any, kind: str) -> Part:
    """The norm of the residual sum."""
    return norm(
        *(name, "Add & Norm", shape, source, kind),
        part_kind="add",
        formula=f"{'LayerNorm' if kind == 'layer' else 'RMSNorm'}(x + f(x))",
        skips=skips,
    )
