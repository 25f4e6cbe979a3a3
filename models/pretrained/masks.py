"""Converts attention masks of transformers to `Mask` rules, dense only where no rule fits.

Libraries hand attention a matrix of tokens × tokens, True or 0 where a query may attend and False
or a very low number where it may not. The rule behind it is found by guessing it from the matrix
and comparing the two cell by cell, so that a wrong guess costs nothing but the saving.

Where the library asks how a mask is to be made, it is given a `LazyMask`: a tensor that is a rule
until somebody computes with it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool
from torch import Tensor
from torch.utils._pytree import tree_map
from transformers.masking_utils import (
    bidirectional_mask_function,
    causal_mask_function,
    eager_mask,
    sdpa_mask,
)

from models.attention import Mask

HIDDEN = -1e4  # lower scores give zero weight in any dtype


class MaskAndBias(NamedTuple):
    """A mask and the rest of the matrix it was read from.

    Attributes:
        mask: the rule.
        bias: what the matrix adds to the scores of visible keys; None if nothing.
    """

    mask: Mask
    bias: Tensor | None = None


class LazyMask(Tensor):
    """A mask matrix, of booleans or numbers, allocated only when something computes with it."""

    mask: Mask

    @staticmethod
    def __new__(
        cls, rule: Mask, shape: tuple[int, int, int, int], dtype: torch.dtype, device: torch.device
    ) -> "LazyMask":
        tensor = Tensor._make_wrapper_subclass(cls, shape, dtype=dtype, device=device)
        tensor.mask = rule
        return tensor

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is torch.ops.aten.detach.default:
            return args[0]
        return func(*tree_map(_materialize, args), **tree_map(_materialize, kwargs or {}))

    def materialize(self) -> Tensor:
        """The matrix: True at visible keys, or 0 there and the lowest number elsewhere."""
        batch, _, queries, keys = self.shape
        rows = torch.arange(queries, device=self.device)
        seen = self.mask.visible(rows, keys, range(1))
        shape = (batch, 1, queries, keys)
        hidden = torch.zeros(shape, dtype=torch.bool, device=self.device)
        hidden = hidden if seen is None else (~seen).expand(shape)
        if self.dtype == torch.bool:
            return ~hidden
        matrix = torch.zeros(shape, dtype=self.dtype, device=self.device)
        return matrix.masked_fill(hidden, torch.finfo(self.dtype).min)


def _materialize(value: Any) -> Any:
    return value.materialize() if isinstance(value, LazyMask) else value


def parse_mask(
    matrix: Tensor | None,
    batch: int,
    keys: int,
    padding: Bool[Tensor, "batch query"] | None = None,
) -> MaskAndBias:
    """Splits a mask matrix into a rule and a bias.

    Under the lowest finite number in every cell, the row of a real token is no hidden row: all
    its scores round to that number, so the model attends to all keys evenly, except to those under
    −∞. Such a row is kept as it is, in the bias.

    Args:
        matrix: True where a query may attend, or numbers to add to the scores; `batch head query
            key`, axes of size 1 broadcast.
        batch: batch size.
        keys: number of keys; further columns are dropped.
        padding: True at queries that are padding; None takes tokens for padding that see no key and
            that no other token sees.
    """
    if matrix is None:
        return MaskAndBias(Mask())
    if isinstance(matrix, LazyMask):
        return MaskAndBias(matrix.mask)
    matrix = matrix if matrix.shape[-1] <= keys else matrix[..., :keys]
    if matrix.dtype == torch.bool:
        return MaskAndBias(infer_mask(matrix, batch))
    hidden = matrix <= HIDDEN
    if not hidden.any():
        return MaskAndBias(Mask(), matrix if matrix.any() else None)
    even = _even_rows(matrix, hidden, padding)
    if even is not None:
        hidden = hidden & ~even
    bias = matrix.masked_fill(hidden, 0.0)
    return MaskAndBias(infer_mask(~hidden, batch), bias if bias.any() else None)


def _even_rows(matrix: Tensor, hidden: Tensor, padding: Tensor | None) -> Tensor | None:
    """True at finite cells of low rows of real tokens; None if there is none."""
    low = hidden.all(-1, keepdim=True) & matrix.isfinite()
    if not low.any():
        return None
    if padding is not None and padding.shape[1] == matrix.shape[2]:
        unused = padding.to(matrix.device)[:, None, :, None]
    elif matrix.shape[2] == matrix.shape[3]:
        unused = hidden.all(-2, keepdim=True).mT
    else:
        unused = torch.zeros_like(low)
    even = low & ~unused
    return even if even.any() else None


def infer_mask(seen: Bool[Tensor, "#batch #head #query key"], batch: int) -> Mask:
    """The simplest mask equal to the matrix in every cell."""
    alike = seen[:, :1]
    if seen.shape[1] > 1 and seen.stride(1) != 0 and not (seen == alike).all():
        return Mask(dense=seen)
    rows = torch.arange(seen.shape[2], device=seen.device)
    for guess in _candidates(alike[:, 0], batch):
        inferred = guess.visible(rows, seen.shape[3], range(1))
        if inferred is None:
            if alike.all():
                return guess
        elif (inferred == alike).all():
            return guess
    return Mask(dense=alike)


def _candidates(seen: Bool[Tensor, "#batch #query key"], batch: int) -> Iterator[Mask]:
    """Candidate rules, simplest first."""
    queries, keys = seen.shape[1:]
    unseen = ~seen.any(1)
    plain = Mask(padding=unseen.expand(batch, keys) if unseen.any() else None)
    if (seen == seen.any(1, keepdim=True)).all():
        yield plain
        return
    offset = max(0, keys - queries)
    row = torch.arange(queries, device=seen.device, dtype=torch.int32)[:, None] + offset
    distance = row - torch.arange(keys, device=seen.device, dtype=torch.int32)[None]
    near = distance[seen.any(0)]
    causal = int(near.min()) >= 0
    if causal:
        yield replace(plain, causal=True, offset=offset)
    window = int(near.abs().max()) + 1
    yield replace(plain, causal=causal, window=window, offset=offset)


def create_mask(asked: Mapping[str, Any], *, additive: bool) -> Tensor | None:
    """The mask for attention layers, as a rule instead of a matrix where possible.

    Of the type that the model gets outside of a trace, since some compute with it; and none where
    the fused kernel would leave a plain causal mask to the layers, not all of which are causal.

    Args:
        asked: the arguments of `transformers.masking_utils.eager_mask`.
        additive: whether it is to hold 0 and the lowest number, as for eager attention, rather than
            True and False.

    Returns:
        A `LazyMask`, the library's own matrix, or None where nothing is hidden.
    """
    offset, build = asked.get("q_offset", 0), eager_mask if additive else sdpa_mask
    if asked.get("use_vmap") or asked.get("kv_offset") or not isinstance(offset, int):
        return build(**asked)
    rule = _rule(asked, offset)
    if rule.dense is not None:
        return build(**asked)
    hides = rule.causal or rule.window is not None or rule.padding is not None
    if not hides and asked.get("allow_is_bidirectional_skip"):
        return None
    square = asked["q_length"] == asked["kv_length"]
    whole = rule.only_causal and (asked.get("local_size") or torch.inf) > asked["kv_length"]
    if not additive and asked.get("allow_is_causal_skip", True) and square and whole:
        return None
    return LazyMask(
        rule,
        (asked["batch_size"], 1, asked["q_length"], asked["kv_length"]),
        asked.get("dtype", torch.float32) if additive else torch.bool,
        torch.device(asked.get("device", "cpu")),
    )


def _rule(asked: Mapping[str, Any], offset: int) -> Mask:
    """The mask that the library's mask function describes."""
    function = asked.get("mask_function", causal_mask_function)
    keys, given = asked["kv_length"], asked.get("attention_mask")
    if function not in (causal_mask_function, bidirectional_mask_function):
        whole = {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
        matrix = sdpa_mask(**{**asked, **whole})
        return Mask() if matrix is None else infer_mask(matrix, asked["batch_size"])
    padding = None
    if given is not None and not (given.shape[1] >= keys and given[:, :keys].all()):
        mask = torch.zeros(len(given), keys, dtype=torch.bool, device=given.device)
        mask[:, : given.shape[1]] = given[:, :keys].bool()
        padding = ~mask.expand(asked["batch_size"], -1)
    causal = function is causal_mask_function
    return Mask(causal=causal, padding=padding, offset=offset if causal else 0)
