"""Judges a trace against a pass of the library: every map, the output, and what is not shown."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from benchmarks.coverage.library import Pass, tensors
from models.trace import Site, Trace

AIM = 1e-4  # float32, two layers, scores up to 50
ROWS = 512  # compared at most, of a map whose rows the library computes in another order


class MismatchError(Exception):
    """A difference between a trace and the library."""


def weights_apart(trace: Trace, expected: Pass) -> float:
    """The largest difference of any weight that is shown to the library's own.

    Raises:
        MismatchError: for a map without counterpart, and for one that is neither shown nor named.
    """
    sites: dict[str, list[Site]] = defaultdict(list)
    for site in trace.sites:
        sites[str(site.module)].append(site)
    hidden = {expected.kinds[path] for path in expected.weights.keys() - sites.keys()}
    notes = " ".join(trace.notes).replace("Sdpa", "")  # the same layer's class with eager attention
    silent = sorted(kind for kind in hidden | expected.fused if kind not in notes)
    if silent:
        raise MismatchError(f"the softmax of {', '.join(silent)} is neither shown nor named")
    apart = [0.0]
    for path, here in sites.items():
        calls = expected.weights.get(path, [])
        if not calls or len(here) not in (1, len(calls)):
            raise MismatchError(f"{path}: {len(here)} maps for {len(calls)} calls of the library")
        parts = [calls] if len(here) == 1 else [[call] for call in calls]
        apart += [site_apart(trace, *pair) for pair in zip(here, parts, strict=True)]
    return max(apart)


def site_apart(trace: Trace, site: Site, calls: Sequence[Tensor]) -> float:
    """The largest difference of one site's weights.

    Items are compared one by one; where the library cuts its input otherwise (into windows), each
    row with the nearest of the library's.
    """
    mine = [trace.weights(site, item=item) for item in range(len(trace.items(site)))]
    theirs = [each[..., : site.keys] for call in calls for each in call.flatten(0, -4)]  # no sink
    if any(len(each) != site.heads for each in theirs):
        raise MismatchError(f"{site.module}: {len(theirs[0])} heads are {site.heads}")
    sizes = [(each.shape, own.shape) for each, own in zip(theirs, mine, strict=False)]
    whole = all(all(a >= b for a, b in zip(*pair, strict=True)) for pair in sizes)
    if len(mine) != len(theirs) or not whole:
        return max(any_rows(each, theirs) for each in mine)
    return max(
        map_apart(shown, each, trace.positions(site, item))
        for item, (shown, each) in enumerate(zip(mine, theirs, strict=True))
    )


def map_apart(mine: Tensor, theirs: Tensor, positions: tuple[Tensor, Tensor]) -> float:
    """The largest difference of one item's map `head query key`, whose padding a trace leaves out.

    Raises:
        MismatchError: if rows or columns that the library uses are not shown.
    """
    rows, keys = positions
    part = theirs[:, rows][:, :, keys]
    if part.shape != mine.shape:
        raise MismatchError(f"{tuple(mine.shape)} of the library's {tuple(theirs.shape)} are shown")
    lost = float((theirs[:, rows].sum(-1) - part.sum(-1)).abs().max())
    if lost > AIM:
        raise MismatchError(f"columns that hold up to {lost:.1e} of a row are not shown")
    return float((mine - part).abs().max()) if mine.numel() else 0.0


def any_rows(mine: Tensor, theirs: Sequence[Tensor]) -> float:
    """The largest distance of a row to the nearest of the library's, their weights sorted."""
    width = max(each.shape[2] for each in (mine, *theirs))

    def ordered(rows: Tensor) -> Tensor:
        filled = torch.nn.functional.pad(rows, (0, width - rows.shape[-1]))
        return filled.sort(-1, descending=True).values

    some = ordered(mine[:, :: max(1, mine.shape[1] // ROWS)])
    every = torch.cat([ordered(each) for each in theirs], 1)
    return float(torch.cdist(some, every, p=torch.inf).min(-1).values.max())


def output_apart(trace: Trace, untouched: Any, inputs: Mapping[str, Any]) -> float:
    """The largest difference to the untouched model's output, over the largest number in it.

    Raises:
        MismatchError: if the untouched model has no such output.
    """
    mine, mask = trace.output.values, inputs.get("attention_mask")
    apart = []
    for theirs in tensors(untouched):
        if theirs.shape != mine.shape or not theirs.is_floating_point():
            continue
        off, scale = (mine - theirs).abs(), theirs.abs()
        if isinstance(mask, Tensor) and mine.shape[:2] == mask.shape:
            off, scale = off[mask.bool()], scale[mask.bool()]
        largest = max(1.0, float(scale.nan_to_num(0.0).max()))
        apart.append(float(off.nan_to_num(0.0).max()) / largest)
    if not apart:
        raise MismatchError(f"no output of the library is {tuple(mine.shape)}")
    return min(apart)
