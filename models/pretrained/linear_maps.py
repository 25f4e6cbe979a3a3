"""The linear maps of a transformers network, found by comparing what its modules returned.

Families lay their weights out in many ways: one module each for queries, keys and values, or one
for all three, head by head or one after another. No layout is looked up by name: a head's queries,
keys or values are some consecutive columns of what a linear module returned, but for a factor, a
norm, or a rotation by position. What does not check is refused.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from models.attention.fitted_rotation import alike, rotation_between
from models.attention.functional import values_of
from models.inputs.sequences import text_config
from models.pretrained.observation import ModuleCall
from models.pretrained.recording import Call
from models.projections import Norm, Projections, Readout, Residual, split_columns

Heads = Float[Tensor, "head token dim"]
Columns = Float[Tensor, "token column"]
EPS = ("eps", "variance_epsilon", "epsilon", "layer_norm_epsilon")
LOGITS = ("logits", "prediction_logits")


class SiteMaps(NamedTuple):
    """The linear maps of one attention call, and the module that makes its queries."""

    projections: Projections
    queries: nn.Module


@torch.no_grad()
def site_maps(
    call: Call, index: int, calls: Sequence[ModuleCall], ids: Tensor | None = None
) -> SiteMaps:
    """The linear maps of one attention call.

    Args:
        call: of the attention.
        index: of the call in its pass.
        calls: of every module without parts.
        ids: that its tower reads; None if it reads no tokens.

    Raises:
        ValueError: where one is not found.
    """
    path, pattern = call.entry.path, call.pattern
    if call.slots is not None:
        raise ValueError(f"{path} attends in windows: expected one row for each token of its input")
    before = [each for each in calls if each.before == index]
    after = [each for each in calls if each.before == index + 1]
    maps = (_find_heads(before, _rows(x)) for x in (pattern.q, pattern.k, pattern.v))
    query, key, value = map(partial(_known, path), ("queries", "keys", "values"), maps)
    same = key.given.equal(value.given)
    if not (same and (call.kind == "cross" or key.given.equal(query.given))):
        raise ValueError(f"{path}: expected queries, keys and values of the same input")
    output_match = _find_output(after, _rows(values_of(pattern)))
    if output_match is None:
        raise ValueError(
            f"{path}: expected an output that one linear module makes of its values, without a gate"
        )
    output, written = output_match
    norm, read = next(norms_into(before, query.given), (None, None))
    stream = query.given if read is None else read.given
    residual = _residual(after, query.given, stream, written)
    if norm is not None and query.given.shape == written.shape:
        added = query.given + written
        if any(alike(each.given, added) for each in after):
            norm = None  # post-norm: what the norm returned is the residual stream
    return SiteMaps(
        Projections(
            query=query.matrices,
            key=key.matrices,
            value=value.matrices,
            output=split_columns(output.matrix, len(query.starts)),
            query_bias=query.biases,
            key_bias=key.biases,
            value_bias=value.biases,
            output_bias=output.bias,
            norm=norm,
            residual=residual,
            query_norm=query.norm,
            key_norm=key.norm,
            rotated=query.rotated or key.rotated,
            embedding=_embedding(calls, ids, query.given.shape[-1]),
        ),
        query.linear.module,
    )


def _known(path: str, name: str, head_map: "HeadMap | None") -> "HeadMap":
    if head_map is None:
        raise ValueError(f"{path}: expected {name} that one linear module makes of its input")
    return head_map


def _rows(heads: Tensor) -> Heads:
    return rearrange(heads, "batch head token dim -> head (batch token) dim")


def _residual(
    calls: Sequence[ModuleCall], given: Tensor, read: Tensor, output: Tensor
) -> Residual | None:
    """How the output joins the input: by the norm that reads their sum."""
    if given.numel() != output.numel():
        return None
    for call in calls:
        for stream, normed in ((given, True), (read, False)):
            norm = next(norms_of([call], stream + output.reshape(stream.shape)), None)
            if norm is not None:
                return Residual(norm if normed else None)
    return None


def _embedding(calls: Sequence[ModuleCall], ids: Tensor | None, dim: int) -> Tensor | None:
    """The table that ids are looked up in, if its vectors are as wide as the tower."""
    looked = (call for call in calls if ids is not None and call.given.equal(ids))
    weight = next((getattr(call.module, "weight", None) for call in looked), None)
    return weight if _is_wide(weight, dim) else None


def _is_wide(weight: object, dim: int) -> bool:
    return isinstance(weight, Tensor) and weight.ndim == 2 and weight.shape[1] == dim


# --- one map ------------------------------------------------------------------------------------


class Linear(NamedTuple):
    """A module that computes x W + b.

    Attributes:
        module: itself.
        matrix: as in `nn.Linear`; GPT-2's Conv1D holds its transpose.
        bias: None if there is none.
    """

    module: nn.Module
    matrix: Float[Tensor, "out input"]
    bias: Float[Tensor, " out"] | None


def _linear(call: ModuleCall) -> Linear | None:
    """That of a call, if the module's weight and bias give what it returned."""
    weight, bias = (getattr(call.module, name, None) for name in ("weight", "bias"))
    if not isinstance(weight, Tensor) or weight.ndim != 2 or not weight.is_floating_point():
        return None
    if weight.is_meta:
        raise ValueError(
            f"{call.path}: expected weights that are in memory, received weights on the meta"
            " device, where a library keeps those it has moved out"
        )
    for matrix in (weight, weight.T):
        fits = (call.output.shape[-1], call.given.shape[-1]) == tuple(matrix.shape)
        if fits and alike(F.linear(call.given, matrix, bias), call.output):
            return Linear(call.module, matrix, bias)
    return None


class HeadMap(NamedTuple):
    """Where the matrices of the heads' queries, keys or values are.

    Attributes:
        linear: the module.
        starts: of each head, the first of its columns in what the module returns.
        dim: number of columns of a head.
        given: what the module read.
        factor: multiplied with what it returned.
        norm: of each head after the projection.
        rotated: whether by position, after all that.
    """

    linear: Linear
    starts: tuple[int, ...]
    dim: int
    given: Tensor
    factor: float = 1.0
    norm: Norm | None = None
    rotated: bool = False

    @property
    def matrices(self) -> Float[Tensor, "head input dim"]:
        """One for each head; a view where the heads lie one after another."""
        return self._heads(self.linear.matrix).transpose(1, 2)

    @property
    def biases(self) -> Float[Tensor, "head dim"] | None:
        return None if self.linear.bias is None else self._heads(self.linear.bias)

    def _heads(self, rows: Tensor) -> Tensor:
        first, count = self.starts[0], len(self.starts)
        if self.starts == tuple(range(first, first + count * self.dim, self.dim)):
            heads = rows[first : first + count * self.dim].unflatten(0, (count, self.dim))
        else:
            heads = torch.stack([rows[start : start + self.dim] for start in self.starts])
        return heads if self.factor == 1 else heads * self.factor


def _find_heads(calls: Sequence[ModuleCall], wanted: Heads) -> HeadMap | None:
    """The map that makes queries, keys or values, but for a factor, a norm and a rotation."""
    dim = wanted.shape[2]
    for index, call in reversed([*enumerate(calls)]):
        for read, columns in _forms(call, wanted):
            starts, factor, rotated = _with_rotation(columns, wanted) or ((), 1.0, False)
            if not starts:
                continue
            linear = _linear(call)
            if linear is not None:
                return HeadMap(linear, starts, dim, call.given, factor, None, rotated)
            norm = norm_of(call)
            if norm is None:
                continue
            heads = torch.stack([read[:, start : start + dim] for start in starts])
            plain = _find_heads(calls[:index], heads)
            if plain is not None and (plain.factor, plain.norm, plain.rotated) == (1, None, False):
                return plain._replace(factor=factor, norm=norm, rotated=rotated)
    return None


def _forms(call: ModuleCall, wanted: Heads) -> Iterator[tuple[Columns, Columns]]:
    """What a module with weights read and returned, a row for each token; also where the heads come
    before the tokens."""
    has_weights = isinstance(getattr(call.module, "weight", None), Tensor)
    tokens, least = wanted.shape[1], wanted.shape[0] * wanted.shape[2]
    pairs = [(call.given, call.output)]
    if call.given.ndim == call.output.ndim == 4:
        pairs.append((call.given.transpose(1, 2), call.output.transpose(1, 2)))
    for pair in pairs if has_weights or _eps(call.module) is not None else ():
        if all(x.numel() % tokens == 0 for x in pair) and pair[1].numel() >= tokens * least:
            yield pair[0].reshape(tokens, -1), pair[1].reshape(tokens, -1)


def _find_output(calls: Sequence[ModuleCall], values: Heads) -> tuple[Linear, Tensor] | None:
    """The map that reads the values of all heads side by side, and what it made of them; the first
    that does."""
    merged = rearrange(values, "head token dim -> token (head dim)")
    for call in calls:
        if call.given.shape[-1:] == merged.shape[-1:]:
            given = call.given.reshape(-1, merged.shape[-1])
            linear = _linear(call) if alike(given, merged.to(given.dtype)) else None
            if linear is not None:
                return linear, call.output
    return None


def _with_rotation(columns: Columns, wanted: Heads) -> tuple[tuple[int, ...], float, bool] | None:
    """First column of each head, the factor, and whether they are rotated; None if it is not so."""
    dim, starts = wanted.shape[2], []
    free = range(0, columns.shape[1] - dim + 1, dim)
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
        return tuple(starts), factor, False
    rotation = rotation_between(before.float() * factor, wanted.float())
    return None if rotation is None else (tuple(starts), factor, True)


# --- norms and factors --------------------------------------------------------------------------


def norm_of(call: ModuleCall) -> Norm | None:
    """The norm that a module is, if its weights give what it returned."""
    eps = _eps(call.module)
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


def _eps(module: nn.Module) -> float | None:
    return next((float(getattr(module, name)) for name in EPS if hasattr(module, name)), None)


def norms_into(calls: Sequence[ModuleCall], x: Tensor) -> Iterator[tuple[Norm, ModuleCall]]:
    """The norms that return a tensor, the last one first."""
    for call in reversed(calls):
        norm = norm_of(call) if call.output.shape == x.shape and call.output.equal(x) else None
        if norm is not None:
            yield norm, call


def norms_of(calls: Sequence[ModuleCall], x: Tensor) -> Iterator[Norm]:
    """The norms that read a tensor, the first one first."""
    for call in calls:
        norm = norm_of(call) if alike(call.given, x.to(call.given.dtype)) else None
        if norm is not None:
            yield norm


def factor_of(whole: Tensor, part: Tensor) -> float | None:
    """The number that one tensor is the multiple of another by; None if it is none."""
    square = float(part.double().square().sum())
    if not square:
        return None
    factor = float((whole.double() * part.double()).sum()) / square
    factor = 1.0 if abs(factor - 1) < 1e-5 else factor
    return factor if alike((part * factor).to(whole.dtype), whole) else None


# --- to logits ----------------------------------------------------------------------------------


def readout_of(
    network: Any, calls: Sequence[ModuleCall], blocks: Sequence[ModuleCall], out: Any
) -> Readout:
    """What is between the last block and the logits: one norm and one linear map at most.

    Args:
        network: of the library.
        calls: of its modules without parts, in one pass.
        blocks: calls of its blocks in that pass.
        out: what the network returned.

    Raises:
        ValueError: where anything else is between them; it names the module.
    """
    head = network.get_output_embeddings()
    call = next((each for each in reversed(calls) if each.module is head), None)
    if call is None:
        raise ValueError(f"{type(network).__name__} has no linear map to logits of tokens")
    weight, bias = (getattr(head, name, None) for name in ("weight", "bias"))
    if not isinstance(weight, Tensor) or not _is_wide(weight, call.given.shape[-1]):
        raise ValueError(f"{call.path}: expected a linear map with one vector for each token")
    if not alike(F.linear(call.given, weight, bias), call.output):
        raise ValueError(f"{call.path}: expected a linear map of what it reads")
    norm, before = _norm_and_factor(call, calls, blocks)
    after, softcap = _factor_and_cap(call, out, text_config(network.config))
    bias = None if bias is None else bias.detach() * after
    return Readout(weight, norm, bias, before * after, softcap)


def _norm_and_factor(
    head: ModuleCall, calls: Sequence[ModuleCall], blocks: Sequence[ModuleCall]
) -> tuple[Norm | None, float]:
    """The norm between what leaves a block and the map, and the factor after it."""
    x = head.given
    streams = [block.output for block in reversed(blocks) if block.output.shape == x.shape]
    for stream in streams:
        factor = factor_of(x, stream)
        if factor is not None:
            return None, factor
    between = ""
    for call in reversed(calls):
        factor = factor_of(x, call.output) if call.output.shape == x.shape else None
        if factor is None:
            continue
        between = between or call.path
        norm = norm_of(call)
        if norm is not None and any(alike(call.given, stream) for stream in streams):
            return norm, factor
    raise ValueError(
        f"{between or head.path}: expected one norm between what leaves the last block and"
        f" {head.path}"
    )


def _factor_and_cap(head: ModuleCall, out: Any, config: Any) -> tuple[float, float | None]:
    """What is done to what the map made: a factor, or a cap."""
    logits = next((x for x in (getattr(out, name, None) for name in LOGITS) if x is not None), None)
    if isinstance(logits, Tensor) and logits.shape == head.output.shape:
        factor = factor_of(logits, head.output)
        if factor is not None:
            return factor, None
        cap = getattr(config, "final_logit_softcapping", None)
        if cap is not None and alike(cap * torch.tanh(head.output / cap), logits):
            return 1.0, float(cap)
    raise ValueError(f"{head.path}: expected logits that are what it returns, times a factor")
