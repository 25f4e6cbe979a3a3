"""What a network is made of: its parts, with their shapes, parameters and FLOPs.

FLOPs: two per multiply–add, in matrix products and convolutions only, like PyTorch's counter.
Masked attention cells count: the kernel computes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from torch import nn

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


def size(shape: Shape) -> int:
    """Number of elements of a tensor of this shape."""
    return prod(length for _, length in shape)


def numbers(module: nn.Module | None) -> int:
    """Number of parameters of a module."""
    return 0 if module is None else sum(each.numel() for each in module.parameters())


def group(
    name: str, title: str, kind: str, parts: Sequence[Part], source: Any, **fields: Any
) -> Part:
    """A sequence of parts as one part; its formula, where there is none, names them."""
    fields.setdefault("formula", " → ".join(part.title.lower() for part in parts))
    return Part(
        name,
        title,
        kind,
        takes=fields.pop("takes", parts[0].takes),
        gives=fields.pop("gives", parts[-1].gives),
        source=source,
        parameters=sum(part.times * part.parameters for part in parts),
        flops=sum(part.times * part.flops for part in parts),
        parts=tuple(parts),
        **fields,
    )


def linear(
    name: str, title: str, x: Shape, layer: nn.Linear, axis: str, source: Any, **more: Any
) -> Part:
    """A linear layer over the last axis, which is called `axis` behind it."""
    gives = (*x[:-1], (axis, layer.out_features))
    more = {
        "kind": "linear",
        "formula": "x · W" + (" + b" if layer.bias is not None else ""),
    } | more
    flops = 2 * size(gives) * layer.in_features
    row = {"takes": x, "gives": gives, "source": source, "parameters": numbers(layer)}
    return Part(name, title, **more, **row, flops=flops)


def norms(name: str, title: str, x: Shape, module: nn.Module, source: Any) -> list[Part]:
    """A norm over the features of each token; none where the module is no norm."""
    if isinstance(module, nn.Identity):
        return []
    formula = "γ · (x − mean(x)) / √(variance(x) + ε) + β"
    if isinstance(module, nn.RMSNorm):
        title = {"Norm": "RMS norm", "Final norm": "Final RMS norm"}[title]
        formula = "γ · x / √(mean(x²) + ε)"
    return [Part(name, title, "norm", formula, x, x, source, numbers(module))]


def add_norm(name: str, skips: str, x: Shape, module: Any, source: Any) -> Part:
    """The norm of the residual sum, by a norm or an `AddNorm`."""
    is_rms = isinstance(getattr(module, "norm", module), nn.RMSNorm)
    title, norm = ("Add & RMS norm", "RMSNorm") if is_rms else ("Add & Norm", "LayerNorm")
    more = {"parameters": numbers(module), "skips": skips}
    return Part(name, title, "add", f"{norm}(x + f(x))", x, x, source, **more)
