"""Finds the linear maps of an attention layer by comparing what its modules returned.

Families lay their weights out in many ways: one module each for queries, keys and values, or one
for all three, head by head or one after another. No layout is looked up by name: a head's values
are some consecutive columns of what a linear module returned, number for number; queries and keys
are too, but for a factor, a norm, or a rotation by position. What does not check is refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from models.attention.fitted_rotation import Rotation, alike, rotation_between
from models.pretrained.observation import ModuleCall
from models.projections import Norm

Heads = Float[Tensor, "head token dim"]


@dataclass(frozen=True, eq=False)
class Linear:
    """A module that computes x W + b.

    Attributes:
        module: it has a `weight`, and a `bias` or None.
        transposed: whether the weight is W itself (GPT-2's Conv1D), not its transpose.
    """

    module: nn.Module
    transposed: bool

    @staticmethod
    def of(call: ModuleCall) -> "Linear | None":
        """That of a call, if the module's weight and bias give what it returned."""
        weight, bias = (getattr(call.module, name, None) for name in ("weight", "bias"))
        if not isinstance(weight, Tensor) or weight.ndim != 2 or not weight.is_floating_point():
            return None
        if weight.is_meta:
            raise ValueError(
                f"{call.path}: expected weights that are in memory, received weights on the meta"
                " device, where a library keeps those it has moved out"
            )
        for transposed in (False, True):
            matrix = weight.T if transposed else weight
            fits = (call.output.shape[-1], call.given.shape[-1]) == tuple(matrix.shape)
            if fits and alike(F.linear(call.given, matrix, bias), call.output):
                return Linear(call.module, transposed)
        return None

    @property
    def matrix(self) -> Float[Tensor, "out input"]:
        """As in `nn.Linear`."""
        weight: Tensor = self.module.weight  # pyright: ignore[reportAssignmentType]
        return weight.T if self.transposed else weight

    @property
    def bias(self) -> Float[Tensor, " out"] | None:
        return self.module.bias  # pyright: ignore[reportReturnType]


@dataclass(frozen=True, eq=False)
class HeadMap:
    """Where the matrices of the heads' queries, keys or values are.

    Attributes:
        linear: the module.
        starts: of each head, the first of its columns in what the module returns.
        dim: number of columns of a head.
        given: what the module read.
        factor: multiplied with what it returned.
        norm: of each head after the projection.
        rotation: by position, after all that; None if there is none.
    """

    linear: Linear
    starts: tuple[int, ...]
    dim: int
    given: Tensor
    factor: float = 1.0
    norm: Norm | None = None
    rotation: Rotation | None = None

    @property
    def matrices(self) -> Float[Tensor, "head input dim"]:
        """One for each head; a view where the heads lie one after another."""
        return self._scaled(self._heads(self.linear.matrix)).transpose(1, 2)

    @property
    def biases(self) -> Float[Tensor, "head dim"] | None:
        bias = self.linear.bias
        return None if bias is None else self._scaled(self._heads(bias))

    def _heads(self, rows: Tensor) -> Tensor:
        first, count = self.starts[0], len(self.starts)
        if self.starts == tuple(range(first, first + count * self.dim, self.dim)):
            return rows[first : first + count * self.dim].unflatten(0, (count, self.dim))
        return torch.stack([rows[start : start + self.dim] for start in self.starts])

    def _scaled(self, weights: Tensor) -> Tensor:
        return weights if self.factor == 1 else weights * self.factor


def find_values(calls: Sequence[ModuleCall], wanted: Heads) -> HeadMap | None:
    """The map whose output holds the values, number for number; the last call that does."""
    for call in reversed(calls):
        columns = _columns(call, wanted)
        starts = None if columns is None else _starts(columns, wanted)
        linear = None if starts is None else Linear.of(call)
        if linear is not None and starts is not None:
            return HeadMap(linear, starts, wanted.shape[2], call.given)
    return None


def find_rotated(
    calls: Sequence[ModuleCall], wanted: Heads, taken: Sequence[HeadMap] = ()
) -> HeadMap | None:
    """The map that makes queries or keys, but for a factor, a norm and a rotation.

    Args:
        calls: of the modules before the attention.
        wanted: the queries or keys.
        taken: maps of the same layer whose columns are others.
    """
    used = {(id(each.linear.module), start) for each in taken for start in each.starts}
    dim = wanted.shape[2]
    for call in reversed(calls):
        for normed, norm, columns in _normed(call, calls, wanted):
            free = [i for i, start in enumerate(columns) if (id(call.module), start) not in used]
            match = _with_rotation(normed, wanted, [i * dim for i in free])
            linear = None if match is None else Linear.of(call)
            if match is not None and linear is not None:
                starts, factor, rotation = match
                chosen = tuple(columns[start // dim] for start in starts)
                return HeadMap(linear, chosen, dim, call.given, factor, norm, rotation)
    return None


def find_output(
    calls: Sequence[ModuleCall], values: Float[Tensor, "head token dim"]
) -> tuple[Linear, ModuleCall] | None:
    """The map that reads the values of all heads side by side, and its call; the first that does.

    Args:
        calls: of the modules after the attention.
        values: of the heads.
    """
    heads, _, dim = values.shape
    for call in calls:
        if call.given.shape[-1] != heads * dim or call.given.numel() != values.numel():
            continue
        given = rearrange(call.given.flatten(0, -2), "token (head dim) -> head token dim", dim=dim)
        linear = Linear.of(call) if alike(given, values.to(given.dtype)) else None
        if linear is not None:
            return linear, call
    return None


def norm_of(call: ModuleCall) -> Norm | None:
    """The norm that a module is, if its weights give what it returned."""
    eps = next(
        (float(getattr(call.module, name)) for name in EPS if hasattr(call.module, name)), None
    )
    weight, bias = (getattr(call.module, name, None) for name in ("weight", "bias"))
    if call.given.shape != call.output.shape or eps is None:
        return None
    if weight is not None and weight.shape != call.output.shape[-1:]:
        return None
    candidates = [Norm("layer", weight, bias, eps), Norm("rms", weight, bias, eps)]
    if weight is not None:  # Gemma's weights are stored less 1
        candidates.append(Norm("rms", 1 + weight, bias, eps))
    given = call.given.float()
    return next((norm for norm in candidates if alike(norm(given), call.output.float())), None)


def factor_of(whole: Tensor, part: Tensor) -> float | None:
    """The number that one tensor is the multiple of another by; None if it is none."""
    square = float(part.double().square().sum())
    if not square:
        return None
    factor = float((whole.double() * part.double()).sum()) / square
    factor = 1.0 if abs(factor - 1) < 1e-5 else factor
    return factor if alike((part * factor).to(whole.dtype), whole) else None


EPS = ("eps", "variance_epsilon", "epsilon", "layer_norm_epsilon")


def _columns(call: ModuleCall, wanted: Heads) -> Float[Tensor, "token column"] | None:
    """What a module returned, a row for each token of the queries, keys or values."""
    output = call.output
    if output.ndim not in (2, 3) or output.shape[-1] < wanted.shape[0] * wanted.shape[2]:
        return None
    output = output.reshape(-1, output.shape[-1])
    return output if len(output) == wanted.shape[1] else None


def _starts(columns: Float[Tensor, "token column"], wanted: Heads) -> tuple[int, ...] | None:
    """First column of each head, where its columns are there number for number."""
    dim, starts = wanted.shape[2], []
    for head in wanted:
        same = (columns == head[:, :1]).all(0).nonzero().flatten().tolist()
        fits = (s for s in same if s not in starts and columns[:, s : s + dim].equal(head))
        start = next(fits, None)
        if start is None:
            return None
        starts.append(start)
    return tuple(starts)


def _normed(
    call: ModuleCall, calls: Sequence[ModuleCall], wanted: Heads
) -> Iterator[tuple[Float[Tensor, "token column"], Norm | None, Sequence[int]]]:
    """What a linear module returned, as it is and after a norm of each head."""
    columns, dim = _columns(call, wanted), wanted.shape[2]
    if columns is None:
        return
    every = range(0, columns.shape[1] - dim + 1, dim)
    yield columns, None, every
    for other in calls:
        if other is call:
            continue
        if other.given.numel() == columns.numel():
            rows = _as_rows(other.given, columns)
            norm = None if rows is None else norm_of(other)
            if norm is not None and rows is not None:
                yield _like(rows, other), norm, every
        elif other.given.ndim == 4 and other.given.numel() == wanted.numel():
            yield from _normed_part(columns, other, wanted)


def _normed_part(
    columns: Float[Tensor, "token column"], norm: ModuleCall, wanted: Heads
) -> Iterator[tuple[Float[Tensor, "token column"], Norm, Sequence[int]]]:
    """What a norm of each head returned, which reads some columns of a linear module."""
    for axes in ("batch token head dim", "batch head token dim"):
        heads = rearrange(norm.given, f"{axes} -> head (batch token) dim")
        starts = _starts(columns, heads) if heads.shape == wanted.shape else None
        norm_found = None if starts is None else norm_of(norm)
        if norm_found is not None and starts is not None:
            yield rearrange(norm.output, f"{axes} -> (batch token) (head dim)"), norm_found, starts
            return


def _as_rows(given: Tensor, columns: Float[Tensor, "token column"]) -> str | None:
    """How a tensor holds the rows of another, of as many numbers: as they are, or by heads."""
    if given.reshape(-1).equal(columns.reshape(-1)):
        return "token"
    if given.ndim == 4:
        merged = rearrange(given, "batch head token dim -> (batch token) (head dim)")
        if merged.equal(columns.reshape(merged.shape)):
            return "head"
    return None


def _like(order: str, call: ModuleCall) -> Float[Tensor, "token column"]:
    """What a norm returned, a row for each token."""
    if order == "head":
        return rearrange(call.output, "batch head token dim -> (batch token) (head dim)")
    tokens = call.output.shape[0] * call.output.shape[1]
    return call.output.reshape(tokens, -1)


def _with_rotation(
    columns: Float[Tensor, "token column"], wanted: Heads, free: Sequence[int]
) -> tuple[tuple[int, ...], float, Rotation | None] | None:
    """First column of each head, the factor, and the rotation; None if it is not so."""
    dim, starts = wanted.shape[2], []
    if len(free) < len(wanted):
        return None
    lengths = torch.stack([columns[:, s : s + dim].float().norm(dim=1) for s in free])
    for head in wanted.float().norm(dim=2):
        ratio = head / lengths.clamp_min(1e-30)
        even = (ratio.amax(1) - ratio.amin(1)) / ratio.mean(1)
        left = (i for i in range(len(free)) if free[i] not in starts)
        starts.append(free[min(left, key=lambda i: float(even[i]))])
    before = torch.stack([columns[:, start : start + dim] for start in starts])
    factor = float(wanted.float().norm() / before.float().norm().clamp_min(1e-30))
    factor = 1.0 if abs(factor - 1) < 1e-5 else factor
    if alike(before * factor, wanted):
        return tuple(starts), factor, None
    rotation = rotation_between(before.float() * factor, wanted.float())
    return None if rotation is None else (tuple(starts), factor, rotation)
