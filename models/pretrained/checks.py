"""Cheap checks of every trace: what they find is refused rather than drawn."""

from collections.abc import Sequence
from itertools import groupby

import torch
from torch import Tensor

from models.attention import Dot, Pattern
from models.pretrained.recording import Call

WHAT = ("queries", "keys")
ROUNDING = 1e-3  # of a row's sum in float32, over thousands of keys


def check_once(calls: Sequence[Call]) -> None:
    """Checks that no layer attends several times in one pass, as differential attention does.

    Raises:
        ValueError: naming the layer.
    """
    for _, group in groupby(calls, lambda call: id(call.entry)):
        first, *others = group
        if others:
            raise ValueError(
                f"{first.entry.path} attends {1 + len(others)} times in one pass: what the layer"
                " makes of its maps is not known"
            )


def check_call(call: Call) -> None:
    """Checks the lengths of the axes, and that sampled rows sum to 1 over the item's own keys.

    Raises:
        ValueError: naming the layer.
    """
    pattern, where = call.pattern, f"{call.entry.path} (layer {call.entry.layer})"
    for axis, length, what in zip(call.axes, (pattern.queries, pattern.keys), WHAT, strict=True):
        count = pattern.batch
        if len(axis.tokens) != count:
            raise ValueError(f"{where}: expected {count} items, received {len(axis.tokens)}")
        for item in {0, count - 1}:
            places = axis.positions_of(item)
            if len(places) != len(axis.tokens[item]) or (
                len(places) and int(places.max()) >= length
            ):
                raise ValueError(
                    f"{where}: expected at most {length} {what}, received {len(axis.tokens[item])}"
                )
    item = pattern.batch - 1
    rows = call.axes[0].positions_of(item)
    if len(rows) and not pattern.weights_edits:
        sampled = rows[[0, len(rows) // 2, -1]]
        _check_rows(pattern, item, sampled, call.axes[1].positions_of(item), where)


def _check_rows(pattern: Pattern, item: int, rows: Tensor, keys: Tensor, where: str) -> None:
    weights = pattern.weights(pattern.heads - 1, rows, item=item).detach()
    total, own_total = weights.sum(-1), weights[:, keys.to(weights.device)].sum(-1)
    if not torch.isfinite(total).all():
        raise ValueError(f"{where}: its weights are not numbers")
    sink = isinstance(pattern.score, Dot) and pattern.score.sink is not None
    whole = (total - 1).abs() < ROUNDING
    if not bool((whole | (total == 0) | sink).all()):
        raise ValueError(f"{where}: expected rows that sum to 1, received {total.tolist()}")
    if bool(((total - own_total) > ROUNDING).any()):
        raise ValueError(
            f"{where} attends to padding or to tokens that cannot be named: a map of the"
            f" item's own {len(keys)} keys would leave out"
            f" {float((total - own_total).max()):.2f} of a row."
            " Trace the item alone, without padding"
        )
