"""The linear maps of one attention call, from what the modules around it returned."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from einops import rearrange
from torch import Tensor

from models.attention.fitted_rotation import alike
from models.attention.functional import values_of
from models.pretrained.linear_maps import (
    HeadMap,
    Linear,
    find_output,
    find_rotated,
    find_values,
    norm_of,
)
from models.pretrained.observation import ModuleCall
from models.pretrained.recording import Call
from models.projections import Norm, Residual


@dataclass(frozen=True, eq=False)
class SiteMaps:
    """The linear maps of one attention call.

    Attributes:
        query: of the heads' queries.
        key: of the key heads' keys.
        value: of their values.
        output: reads the values of all heads.
        norm: between the residual stream and the queries.
        residual: how the output joins the input.
        embedding: vectors of the tokens that the tower reads; None if it reads none.
        unembedding: vectors that its output is multiplied with for its logits.
        final_norm: before these.
    """

    query: HeadMap
    key: HeadMap
    value: HeadMap
    output: Linear
    norm: Norm | None
    residual: Residual | None
    embedding: Tensor | None
    unembedding: Tensor | None = None
    final_norm: Norm | None = None


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
    if call.blocks is not None or call.packing is not None:
        raise ValueError(f"{path} attends in windows: expected one row for each token of its input")
    before = [each for each in calls if each.before == index]
    after = [each for each in calls if each.before == index + 1]
    value = find_values(before, _rows(pattern.v))
    if value is None:
        raise ValueError(f"{path}: expected values that one linear module makes of its input")
    key = find_rotated(before, _rows(pattern.k), [value])
    if key is None:
        raise ValueError(f"{path}: expected keys that one linear module makes of its input")
    query = find_rotated(before, _rows(pattern.q), [value, key])
    if query is None:
        raise ValueError(f"{path}: expected queries that one linear module makes of its input")
    if not (
        key.given.equal(value.given) and (call.kind == "cross" or key.given.equal(query.given))
    ):
        raise ValueError(
            f"{path}: expected queries, keys and values of the same input. {_inputs(key, value)}"
        )
    place = find_output(after, _rows(values_of(pattern)))
    if place is None:
        raise ValueError(
            f"{path}: expected an output that one linear module makes of its values, without a gate"
        )
    output, call_of_output = place
    norm, read = _norm_and_input(before, query.given)
    residual = _residual(after, query.given, read, call_of_output.output)
    if norm is not None and _adds(after, query.given, call_of_output.output):
        norm = None  # post-norm: what the norm returned is the residual stream
    embedding = _embedding(calls, ids, query.given.shape[-1])
    return SiteMaps(query, key, value, output, norm, residual, embedding)


def _inputs(key: HeadMap, value: HeadMap) -> str:
    """How the inputs of the keys differ from the inputs of the values."""
    lengths = [each.given.float().norm(dim=-1) for each in (key, value)]
    if not key.given.equal(value.given) and alike(*lengths):
        return "Here it is rotated by position before queries and keys are made of it"
    return "Here they are made of different ones"


def _rows(heads: Tensor) -> Tensor:
    return rearrange(heads, "batch head token dim -> head (batch token) dim")


def _norm_and_input(calls: Sequence[ModuleCall], x: Tensor) -> tuple[Norm | None, Tensor]:
    """The norm whose output a tensor is, and what the norm reads; None and the tensor itself."""
    for call in reversed(calls):
        if call.output.shape == x.shape and call.output.equal(x):
            norm = norm_of(call)
            if norm is not None:
                return norm, call.given
    return None, x


def _residual(
    calls: Sequence[ModuleCall], given: Tensor, read: Tensor, output: Tensor
) -> Residual | None:
    """How the output joins the input: by the norm that reads their sum."""
    if given.numel() != output.numel():
        return None
    for call in calls:
        for stream, normed in ((given, True), (read, False)):
            total = stream + output.reshape(stream.shape)
            if call.given.shape == total.shape and alike(call.given, total):
                norm = norm_of(call)
                if norm is not None:
                    return Residual(norm if normed else None)
    return None


def _adds(calls: Sequence[ModuleCall], x: Tensor, y: Tensor) -> bool:
    """Whether a module reads the sum of two tensors."""
    if x.shape != y.shape:
        return False
    same = (call.given for call in calls if call.given.shape == x.shape)
    return any(alike(given, x + y) for given in same)


def _embedding(calls: Sequence[ModuleCall], ids: Tensor | None, dim: int) -> Tensor | None:
    """The table that ids are looked up in, if its vectors are as wide as the tower."""
    for call in calls:
        if ids is not None and call.given.equal(ids):
            weight = getattr(call.module, "weight", None)
            return weight if is_wide(weight, dim) else None
    return None


def is_wide(weight: object, dim: int) -> bool:
    return isinstance(weight, Tensor) and weight.ndim == 2 and weight.shape[1] == dim
