"""Cheap checks of every trace: what they find is refused rather than drawn."""

from collections.abc import Sequence
from itertools import groupby
from math import isfinite

from torch import Tensor

from models.attention.functional import values_of
from models.pretrained.recording import Call

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


def check_calls(calls: Sequence[Call], output: Tensor) -> None:
    """Checks that the values are numbers where the last of the output are none, and that sampled
    rows sum to 1 over the item's own keys where there are others.

    Raises:
        ValueError: naming the layer.
    """
    check_once(calls)
    for call in calls:
        pattern, item = call.pattern, call.pattern.batch - 1
        tokens, keys = (axis.tokens[item] for axis in call.axes)
        if len(tokens) and len(keys) != pattern.keys and not pattern.weights_edits:
            _check_rows(call, item)
    last = output[-1, -1] if output.ndim == 3 else output
    if not isfinite(float(last.detach().float().sum())):
        for call in calls:
            if not values_of(call.pattern).isfinite().all():
                raise ValueError(f"{call.entry.path}: its values are not numbers")


def _check_rows(call: Call, item: int) -> None:
    pattern, (rows, keys) = call.pattern, (axis.positions_of(item) for axis in call.axes)
    sampled = rows[[0, len(rows) // 2, -1]]
    weights = pattern.weights(pattern.heads - 1, sampled, item=item).detach()
    lost = weights.sum(-1) - weights[:, keys.to(weights.device)].sum(-1)
    if not bool((lost <= ROUNDING).all()):  # which NaN is not either
        raise ValueError(
            f"{call.entry.path} attends to padding or to tokens that cannot be named: a map of the"
            f" item's own {len(keys)} keys would leave out {float(lost.max()):.2f} of a row."
            " Trace the item alone, without padding"
        )
