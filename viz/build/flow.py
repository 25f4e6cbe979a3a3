"""How the numbers that a module reads came from those before it, found in the numbers themselves.

    x          what an earlier module gave
    x + y      a residual connection
    f(x)       an activation that is no module of its own
    f(x) · y   a gate
    x₀         the vector of one token
    mean x     the mean of all
    [t | x]    tokens before the others

Nothing is assumed of a network's code: a relation counts only if it gives the numbers that were
read. What no relation gives is shown as unknown. On the meta device there are no numbers, and a
tensor of the same shape as two before it is taken as their sum, which holds for our own networks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
import torch.nn.functional as F
from torch import Tensor

NEWEST = 5  # values before a module that relations are sought among, beside the first
FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "softplus": F.softplus,
    "leaky_relu": F.leaky_relu,
    "relu²": lambda x: F.relu(x).square(),
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
}


@dataclass(frozen=True)
class Relation:
    """How a tensor comes from others.

    Attributes:
        kind: "same", "sum", "function", "gate", "product", "scaled", "row", "mean",
            "prefixed", "rearranged" or "unknown".
        of: the names of the others.
        name: of the function; the factor of "scaled", the place of "row", the tokens of
            "mean", and how many come first in "prefixed".
    """

    kind: str
    of: tuple[str, ...] = ()
    name: str = ""


Known = Sequence[tuple[str, Tensor]]


def relation(x: Tensor, known: Known) -> Relation:
    """How a tensor comes from those that are known, of which the newest come last."""
    if name := given_by(x, known):
        return Relation("same", (name,))
    newest = [*reversed(candidates(x, known))]
    rows = [v for _, v in newest if v.ndim == 3 and v.shape[1] > 1]
    flat = next((v for v in rows if v.flatten(0, 1).shape == x.shape), None)
    x = x if flat is None else x.reshape(flat.shape)  # some layers put all tokens in one row
    alike = [(name, value) for name, value in (*newest, *transposed(x, known)) if _fits(value, x)]
    if x.is_meta:
        names = tuple(name for name, _ in alike[:2])
        return Relation("sum", names[::-1]) if len(names) == 2 else Relation("unknown")
    if not x.is_floating_point():
        return Relation("unknown")
    few = [*alike[:NEWEST], *alike[NEWEST:][-1:]]
    for terms, count in ((alike, 2), (few, 3)):
        for chosen in combinations(terms, count):
            if _near(sum(value for _, value in chosen), x):
                return Relation("sum", tuple(name for name, _ in reversed(chosen)))
    for rule in (_product, _function, _scaled, _row, _prefixed, _rearranged):
        if outcome := rule(x, newest[: 2 * NEWEST]):
            return outcome
    return Relation("unknown")


def given_by(x: Tensor, known: Known) -> str | None:
    """The newest value that is this tensor, or has its numbers."""
    newest = reversed(candidates(x, known))
    return next((name for name, value in newest if value is x or _equal(value, x)), None)


def candidates(x: Tensor, known: Known) -> list[tuple[str, Tensor]]:
    """What is known, with both halves of what is twice as wide as `x`: two projections in one."""
    values = []
    for name, value in known:
        values.append((name, value))
        if value.ndim > 1 and value.shape[-1] == 2 * x.shape[-1]:
            first, second = value.chunk(2, -1)
            values += [(f"second half of {name}", second), (f"first half of {name}", first)]
    return values


def transposed(x: Tensor, known: Known) -> list[tuple[str, Tensor]]:
    """What fits once it is transposed: a convolution over time gives one row for each feature."""
    return [
        (f"{name}, transposed", value.mT)
        for name, value in known
        if value.ndim == x.ndim == 3 and value.shape != x.shape == value.mT.shape
    ]


def _function(x: Tensor, known: Known) -> Relation | None:
    """An activation of one value, alone or times another."""
    same = [(name, value) for name, value in known if value.shape == x.shape]
    for name, value in same:
        for function, call in FUNCTIONS.items():
            active = call(value)
            if _near(active, x):
                return Relation("function", (name,), function)
            for other, factor in same:
                if other != name and _near(active * factor, x):
                    return Relation("gate", (name, other), function)
    return None


def _product(x: Tensor, known: Known) -> Relation | None:
    """A product of two values."""
    same = [(name, value) for name, value in known if value.shape == x.shape]
    for (name, value), (other, factor) in combinations(same, 2):
        if _near(value * factor, x):
            return Relation("product", (other, name))
    return None


def _scaled(x: Tensor, known: Known) -> Relation | None:
    """A value times one number."""
    for name, value in known:
        if value.shape != x.shape or not value.is_floating_point() or not value.numel():
            continue
        at = int(value.abs().argmax())
        largest = float(value.flatten()[at])
        if largest == 0:
            continue
        factor = float(x.flatten()[at]) / largest
        if _near(value * factor, x):
            return Relation("scaled", (name,), f"{factor:.4g}")
    return None


def _row(x: Tensor, known: Known) -> Relation | None:
    """The first token of a value, its last, or the mean of all, or of all but the first."""
    for name, value in known:
        if value.ndim == x.ndim + 1 and value.ndim > 2 and value.is_floating_point():
            for place, word in ((0, "first"), (-1, "last")):
                if _equal(value[:, place], x):
                    return Relation("row", (name,), word)
            for start, words in ((0, "all"), (1, "all but the first")):
                if value.shape[1] > start and _near(value[:, start:].mean(1), x):
                    return Relation("mean", (name,), words)
    return None


def _prefixed(x: Tensor, known: Known) -> Relation | None:
    """A value behind other tokens, or the sum of one and a table that is learned."""
    for name, value in known:
        more = x.shape[-2] - value.shape[-2] if x.ndim == value.ndim == 3 else 0
        if not 0 < more < x.shape[-2] or value.shape != (len(x), x.shape[-2] - more, x.shape[-1]):
            continue
        rest = x[:, more:]
        if _equal(value, rest):
            return Relation("prefixed", (name,), str(more))
        for other, table in known:
            if table.shape in (x.shape, (1, *x.shape[1:])) and _near(value + table[:, more:], rest):
                return Relation("prefixed", (name, other), str(more))
    return None


def _rearranged(x: Tensor, known: Known) -> Relation | None:
    """The numbers of a value in another order."""
    for name, value in known:
        if value.numel() != x.numel() or not value.is_floating_point():
            continue
        flat, sought = value.flatten(), x.flatten()
        if flat.aminmax() == sought.aminmax() and flat.msort().equal(sought.msort()):
            return Relation("rearranged", (name,))
    return None


def _fits(value: Tensor, x: Tensor) -> bool:
    """Whether a value can be a term of a sum of this shape."""
    if value.is_floating_point() != x.is_floating_point() or value.ndim < 2:
        return False
    sizes = zip(reversed(value.shape), reversed(x.shape), strict=False)
    return value.ndim <= x.ndim and all(mine in (1, theirs) for mine, theirs in sizes)


def _equal(value: Tensor, x: Tensor) -> bool:
    if value.is_meta or x.is_meta or value.numel() != x.numel() or value.dtype != x.dtype:
        return False
    return value.flatten().equal(x.flatten())


def _near(value: Tensor | int, x: Tensor) -> bool:
    if isinstance(value, int) or value.shape != x.shape:
        return False
    rounding = 3 * torch.finfo(x.dtype).eps * float(x.abs().max().float().clamp(min=1e-30))
    return bool(((value - x).abs().max() <= rounding).item())
