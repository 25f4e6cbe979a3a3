"""Cheap checks of every trace: what they find is refused rather than drawn."""

from collections.abc import Sequence
from itertools import groupby

from torch import Tensor

from models.attention.functional import values_of
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


def check_calls(calls: Sequence[Call], output: Tensor) -> None:
    """Checks the lengths of the axes, that the values are numbers where the last of the output are
    none, and that sampled rows sum to 1 over the item's own keys where there are others.

    Raises:
        ValueError: naming the layer.
    """
    check_once(calls)
    known = set()
    for call in calls:
        pattern, item = call.pattern, call.pattern.batch - 1
        sizes = (*map(id, call.axes), pattern.batch, pattern.queries, pattern.keys)
        if sizes not in known:
            _check_lengths(call)
        known.add(sizes)
        tokens, keys = (axis.tokens[item] for axis in call.axes)
        if len(tokens) and len(keys) != pattern.keys and not pattern.weights_edits:
            _check_rows(call, item)
    if not (output[-1, -1] if output.ndim == 3 else output).isfinite().all():
        for call in calls:
            if not values_of(call.pattern).isfinite().all():
                raise ValueError(f"{call.entry.path}: its values are not numbers")


def _check_lengths(call: Call) -> None:
    sizes, count = (call.pattern.queries, call.pattern.keys), call.pattern.batch
    for axis, length, what in zip(call.axes, sizes, WHAT, strict=True):
        if len(axis.tokens) != count:
            raise ValueError(
                f"{call.entry.path}: expected {count} items, received {len(axis.tokens)}"
            )
        for item in {0, count - 1}:
            places = axis.positions_of(item)
            if len(places) != len(axis.tokens[item]) or (
                len(places) and int(places.max()) >= length
            ):
                raise ValueError(
                    f"{call.entry.path}: expected at most {length} {what}, received"
                    f" {len(axis.tokens[item])}"
                )


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
