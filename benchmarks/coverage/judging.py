"""Judges a trace against the library's eager attention: maps, output, and what is not shown."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.coverage.eager import Call, Seen, eager, tensors
from benchmarks.coverage.model_inputs import Inputs
from benchmarks.coverage.tiny import WINDOW, reason_of
from models.run import Trace

AIM = 1e-4  # float32, two layers, scores up to 50
# classes whose whole maps have their tokens window by window
IN_WINDOW_ORDER = ("LwDetrViTAttention", "RfDetrDinov2Attention")
ROWS = 512  # compared at most, of a map whose rows the library computes in another order


class MismatchError(Exception):
    """A difference between a trace and the library."""


# --- maps -----------------------------------------------------------------------------------------


def sinks_of(reference: nn.Module) -> frozenset[str]:
    """Paths of attention modules with a learned sink."""
    return frozenset(n for n, m in reference.named_modules() if hasattr(m, "sinks"))


def maps(
    trace: Trace, expected: Seen, inputs: Inputs, sinks: frozenset[str] = frozenset()
) -> tuple[float, list[str]]:
    """Largest difference of any weight, and remarks.

    Raises:
        MismatchError: for a map without counterpart, or of another shape.
    """
    if not expected.calls:
        raise MismatchError("the trace has maps, the library's eager pass none")
    largest, remarks = 0.0, []
    paths = {call.path for call in expected.calls}
    sites, modules = len(trace.sites), len(paths)
    if sites != modules:
        remarks.append(f"{modules} attention modules are {sites} layers")
    for site, calls in paired(trace, expected.calls):
        items = range(len(trace.items(site)))
        mine = [of_site(trace, site, item) for item in items]
        check_heads(site, calls)
        if calls[0].places is not None:
            largest = max(largest, *(in_windows(mine[item], calls[0], item) for item in items))
        elif len(calls) == 1 and is_whole(site, calls[0]):
            theirs = replace(calls[0], weights=calls[0].weights[..., : site.keys])
            off, more = whole_maps(mine, theirs, inputs, sinks)
            if off > AIM and theirs.kind in IN_WINDOW_ORDER:
                off = max(any_rows(each, [theirs]) for each in mine)
                remarks.append("windows: rows compared in any order")
            largest, remarks = max(largest, off), remarks + more
        else:
            off = in_order(mine, calls)
            if off > AIM:
                off = max(any_rows(each, calls) for each in mine)
                remarks.append("windows: rows compared in any order")
            largest = max(largest, off)
    return largest, remarks


def of_site(trace: Trace, site: Any, item: int) -> Tensor:
    """The weights of a site, `head query key`."""
    try:
        return trace.weights(site, item=item)
    except TimeoutError:
        raise
    except Exception as error:
        raise MismatchError(
            f"layer {site.layer} {site.kind} item {item}: {reason_of(error)}"
        ) from error


def paired(trace: Trace, calls: Sequence[Call]) -> Iterator[tuple[Any, list[Call]]]:
    """Each site with its calls of the library.

    Raises:
        MismatchError: if they cannot be told.
    """
    if len(trace.sites) == len(calls):
        yield from ((site, [call]) for site, call in zip(trace.sites, calls, strict=True))
        return
    by_path: dict[str, list[Call]] = {}
    for call in calls:
        by_path.setdefault(call.path, []).append(call)
    places = [getattr(site, "module", None) for site in trace.sites]
    if all(place in by_path for place in places):
        yield from ((site, by_path[str(at)]) for site, at in zip(trace.sites, places, strict=True))
        return
    if len(trace.sites) != len(by_path):
        raise MismatchError(
            f"{len(trace.sites)} maps for {len(calls)} calls of {len(by_path)} modules"
        )
    yield from zip(trace.sites, by_path.values(), strict=True)


def check_heads(site: Any, calls: Sequence[Call]) -> None:
    """Raises MismatchError if heads are not as many."""
    for call in calls:
        if call.weights.ndim != 4:
            raise MismatchError(
                f"{call.path}: the library's weights are {tuple(call.weights.shape)}"
            )
        if call.weights.shape[1] != site.heads:
            raise MismatchError(f"{call.path}: {call.weights.shape[1]} heads are {site.heads}")


def is_whole(site: Any, call: Call) -> bool:
    """Whether a call has the rows and columns of a site; a column more may be a sink."""
    rows, keys = call.weights.shape[2:]
    return rows == site.queries and keys in (site.keys, site.keys + 1)


def whole_maps(
    mine: Sequence[Tensor], call: Call, inputs: Inputs, sinks: frozenset[str]
) -> tuple[float, list[str]]:
    """Largest difference of the maps of all items to those of one call, and remarks.

    Raises:
        MismatchError: if there are more or fewer items.
    """
    if len(mine) != len(call.weights):
        raise MismatchError(f"{call.path}: {len(call.weights)} items are {len(mine)}")
    largest, remarks = 0.0, []
    for item, matrix in enumerate(mine):
        theirs = call.weights[item]
        off = one_map(matrix, theirs, inputs, item)
        if off > AIM and call.path in sinks:
            without = one_map(matrix / matrix.sum(-1, keepdim=True), theirs, inputs, item)
            if without < off:
                off = without
                remarks.append("the library's eager weights leave the sink's share out")
        largest = max(largest, off)
    return largest, remarks


def one_map(mine: Tensor, theirs: Tensor, inputs: Inputs, item: int) -> float:
    """Largest difference of one item's map, whose padding the trace leaves out.

    Raises:
        MismatchError: if rows or columns that the library uses are not shown.
    """
    theirs = theirs.float()
    filled = ~even_rows(theirs)
    used = (theirs[:, filled].sum((0, 1)) > 0).nonzero().flatten()
    square = theirs.shape[1] == theirs.shape[2]
    rows = real_positions(mine.shape[1], theirs.shape[1], inputs, item, used if square else None)
    keys = real_positions(mine.shape[2], theirs.shape[2], inputs, item, used)
    if rows is None or keys is None:
        raise MismatchError(f"{tuple(mine.shape)} of the library's {tuple(theirs.shape)} are shown")
    part = theirs[:, rows][:, :, keys]
    empty = int(((mine.sum(-1) == 0) & (part.sum(-1) > 0)).any(0).sum())
    if empty:
        raise MismatchError(f"{empty} rows are drawn empty that the library fills")
    lost = float((theirs[:, rows].sum(-1) - part.sum(-1)).abs().max())
    if lost > AIM:
        raise MismatchError(f"columns that hold up to {lost:.1e} of a row are not shown")
    return _off(mine, part)


def even_rows(weights: Tensor) -> Tensor:
    """True at rows of a map `head row key` with equal weights throughout: no key was visible.

    Eager attention adds the lowest number to the scores of hidden keys, which leaves a row of
    padding that sees nothing with equal weights.
    """
    even = (weights - 1 / weights.shape[-1]).abs() < 1e-2 / weights.shape[-1]
    return even.all(-1).all(0) & (weights.shape[-1] > 1)


def _off(mine: Tensor, theirs: Tensor) -> float:
    if not mine.numel():
        return 0.0
    both = torch.isnan(mine) & torch.isnan(theirs)
    off = torch.where(both, torch.zeros_like(mine), (mine - theirs).abs())
    return float(off.nan_to_num(torch.inf).max())


def real_positions(
    count: int, length: int, inputs: Inputs, item: int, used: Tensor | None
) -> Tensor | None:
    """Positions of an item's own tokens on an axis, by their number.

    Args:
        count: of tokens that are shown.
        length: of the axis.
        inputs: of the model.
        item: of the batch.
        used: positions that hold weight of rows with a visible key.
    """
    if count == length:
        return torch.arange(length)
    for name, mask in inputs.items():
        is_mask = isinstance(mask, Tensor) and "mask" in name and mask.ndim == 2
        if is_mask and mask.shape[1] == length and len(mask) > item:
            real = mask[item].nonzero().flatten()
            if len(real) == count:
                return real
    return used if used is not None and len(used) == count < length else None


def in_windows(mine: Tensor, call: Call, item: int) -> float:
    """Largest difference of a map of an image to the library's windows of it.

    What lies outside of the image has columns at the end, whose weights are compared as sums.

    Raises:
        MismatchError: for a map of another size.
    """
    places = call.places
    if places is None or mine.shape[1] != int(places.max()) + 1:
        raise MismatchError(f"{call.path}: {tuple(mine.shape)} is not the size of the image")
    expected, outside = torch.zeros_like(mine[..., : mine.shape[1]]), torch.zeros(mine.shape[:2])
    windows = call.weights[item * len(places) : (item + 1) * len(places)].float()
    for place, window in zip(places, windows, strict=True):
        inside = place >= 0
        inside_places = place[inside]
        expected[:, inside_places[:, None], inside_places] = window[:, inside][..., inside]
        outside[:, inside_places] = window[:, inside][..., ~inside].sum(-1)
    rest = mine[..., mine.shape[1] :].sum(-1)
    return max(_off(mine[..., : mine.shape[1]], expected), _off(rest, outside))


def in_order(mine: Sequence[Tensor], calls: Sequence[Call]) -> float:
    """Largest difference to maps of consecutive segments of all items; infinite if they are not."""
    parts = [call.weights.float() for call in calls]
    rows = sum(each.shape[1] for each in mine)
    square = all(len(part) == 1 and part.shape[2] == part.shape[3] for part in parts)
    if not square or sum(part.shape[2] for part in parts) != rows:
        return torch.inf
    heads = range(parts[0].shape[1])
    whole = torch.stack([torch.block_diag(*(part[0, head] for part in parts)) for head in heads])
    largest, start = 0.0, 0
    for each in mine:
        span = slice(start, start + each.shape[1])
        start += each.shape[1]
        if each.shape[1] != each.shape[2]:
            return torch.inf
        largest = max(largest, _off(each, whole[:, span, span]))
    return largest


def any_rows(mine: Tensor, calls: Sequence[Call]) -> float:
    """Largest distance of a row to the nearest of the library's, their weights sorted.

    For attention in windows, whose rows and columns the trace puts in the order of the tokens.
    """
    largest = 0.0
    for head in range(len(mine)):
        rows = mine[head]
        rows = rows[:: max(1, len(rows) // ROWS)].sort(-1, descending=True).values
        theirs = [call.weights[:, head].float().flatten(0, 1) for call in calls]
        width = max(rows.shape[1], *(part.shape[1] for part in theirs))
        sorted_ = [_wide(part.sort(-1, descending=True).values, width) for part in theirs]
        distance = torch.cdist(_wide(rows, width), torch.cat(sorted_), p=torch.inf)
        largest = max(largest, float(distance.min(1).values.max()))
    return largest


def _wide(rows: Tensor, width: int) -> Tensor:
    return torch.nn.functional.pad(rows, (0, width - rows.shape[1]))


# --- output ---------------------------------------------------------------------------------------


def output_apart(trace: Trace, untouched: Any, expected: Seen, inputs: Inputs) -> float:
    """Difference of the traced output to the untouched one, over the largest number in it.

    Raises:
        MismatchError: if the untouched model has no such output.
    """
    real = _real(trace.output.values, expected, inputs)
    return _output_off(trace.output.values, untouched, real)


def disagree(trace: Trace, untouched: Any, expected: Seen, inputs: Inputs) -> bool:
    """Whether the trace gives the untouched output and the library's eager pass another."""
    mine = trace.output.values
    real = _real(mine, expected, inputs)
    near = _output_off(mine, untouched, real) <= 10 * AIM
    return near and _output_off(mine, expected.output, real) > 10 * AIM


def _real(output: Tensor, expected: Seen, inputs: Inputs) -> Tensor | None:
    """True at the output of real tokens; None if all are.

    Where the model appends tokens to those of the mask, padding is what sees no key.
    """
    mask = inputs.get("attention_mask")
    if not isinstance(mask, Tensor) or mask.bool().all():
        return None
    if output.shape[:2] == mask.shape:
        return mask.bool()
    last = expected.calls[-1].weights.float()
    if output.shape[:2] != (len(last), last.shape[2]):
        return None
    return torch.stack([~even_rows(item) for item in last])


def _output_off(mine: Tensor, out: Any, real: Tensor | None) -> float:
    best = None
    for theirs in tensors(out):
        if theirs.shape == mine.shape and theirs.is_floating_point():
            off, scale = (mine - theirs).abs(), theirs.abs()
            if real is not None:
                off, scale = off[real], scale[real]
            here = float(off.nan_to_num(0.0).max()) / max(1.0, float(scale.nan_to_num(0.0).max()))
            best = here if best is None else min(best, here)
    if best is None:
        raise MismatchError(f"no output of the library is {tuple(mine.shape)}")
    return best


# --- what a pass has ------------------------------------------------------------------------------


def sees_padding(expected: Seen, inputs: Inputs) -> bool:
    """Whether real tokens attend to padding in the library's own pass."""
    mask = inputs.get("attention_mask")
    if not isinstance(mask, Tensor) or mask.ndim != 2:
        return False
    real = mask.bool()
    for weights in (call.weights for call in expected.calls):
        if (len(weights), *weights.shape[2:]) == (*mask.shape, mask.shape[1]):
            across = real[:, None, :, None] & ~real[:, None, None, :]
            if float(weights.float().masked_fill(~across, 0.0).max()) > AIM:
                return True
    return False


def unshown(trace: Trace, expected: Seen, reference: nn.Module) -> tuple[str, ...]:
    """Classes whose attention bypasses the interface.

    Raises:
        MismatchError: if the trace does not say that it is not shown.
    """
    classes = tuple(sorted({call.kind for call in expected.others} | expected.fused))
    parts = {name: {name} for name in classes}
    for module in reference.modules():  # some put a part in while they run
        if type(module).__name__ in parts:
            parts[type(module).__name__] |= {type(part).__name__ for part in module.modules()}
    said = " ".join(trace.notes).replace("Sdpa", "")  # the class of the same layer with eager
    silent = [name for name in classes if not any(part in said for part in parts[name])]
    if silent:
        raise MismatchError(f"softmax of {', '.join(silent)} is neither shown nor named")
    return classes


def windowed(expected: Seen, inputs: Inputs) -> bool:
    """Whether some row sees no more keys than a window, and others see as many."""
    for call in expected.calls:
        seen = (call.weights > 0).sum(-1)
        if call.weights.shape[-1] > 2 * WINDOW + 1 and int(seen.max()) <= 2 * WINDOW + 1:
            return True
    return False


def inexact(reference: nn.Module, inputs: Inputs, expected: Seen) -> float:
    """Largest difference of the library's own weights in float32 to those in float64."""
    try:
        exact = eager(reference.double(), cast(inputs, torch.float64))
    except Exception:
        return 0.0
    finally:
        reference.float()
    return between(exact, expected)


def cast(inputs: Inputs, dtype: torch.dtype) -> Inputs:
    """The inputs with floats of a dtype."""
    return {
        name: value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value
        for name, value in inputs.items()
    }


def between(one: Seen, other: Seen) -> float:
    """Largest difference of weights between two passes."""
    return max(
        (
            float((a.weights.float() - b.weights.float()).abs().nan_to_num(0.0).max())
            for a, b in zip(one.calls, other.calls, strict=False)
            if a.weights.shape == b.weights.shape and a.weights.numel()
        ),
        default=0.0,
    )
