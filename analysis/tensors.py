"""Summary statistics and histogram of a tensor."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

CHUNK = 2**22  # elements processed at a time: a copy of a large tensor may not fit in memory


class Summary(NamedTuple):
    """Summary statistics of a tensor; NaN for an empty one."""

    mean: float
    std: float
    low: float
    high: float


def summary(tensor: Tensor) -> Summary:
    """Mean, population standard deviation, smallest and largest element."""
    if not tensor.numel():
        return Summary(*(float("nan"),) * 4)
    total = square = 0.0
    low, high = float("inf"), float("-inf")
    for part in _parts(tensor):
        total += float(part.sum())
        low, high = min(low, float(part.min())), max(high, float(part.max()))
    mean = total / tensor.numel()
    for part in _parts(tensor):
        square += float((part - mean).square().sum())
    return Summary(mean, (square / tensor.numel()) ** 0.5, low, high)


def histogram(tensor: Tensor, bins: int = 61) -> tuple[Int[Tensor, " bin"], Float[Tensor, " edge"]]:
    """Histogram with evenly spaced edges.

    Returns:
        Counts, and one edge more than counts, from the smallest element to the largest.

    Raises:
        ValueError: for an empty tensor, or one with non-finite elements.
    """
    limits = summary(tensor)
    if not (abs(limits.low) < float("inf") and abs(limits.high) < float("inf")):
        raise ValueError(f"expected finite numbers, received {limits.low} to {limits.high}")
    wide = limits.high - limits.low or 1.0
    low = limits.low if limits.high > limits.low else limits.low - 0.5
    counts = torch.zeros(bins, dtype=torch.long)
    for part in _parts(tensor):
        place = ((part - low) / wide * bins).long().clamp(0, bins - 1)
        counts += torch.bincount(place, minlength=bins).cpu()
    return counts, torch.linspace(low, low + wide, bins + 1, dtype=torch.float64)


def _parts(tensor: Tensor) -> Iterator[Tensor]:
    for part in tensor.detach().flatten().split(CHUNK):
        yield part.double()
