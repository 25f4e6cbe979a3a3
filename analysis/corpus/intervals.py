"""95 % intervals of means over texts; those of shares are not normal near 0 and 1."""

import numpy as np

NORMAL = 1.959963984540054  # standard errors on either side that hold 95 %


Numbers = np.ndarray | float


def interval(
    mean: Numbers, variance: Numbers, count: Numbers, *, share: bool
) -> tuple[Numbers, Numbers]:
    """The ends of the 95 % interval of some means.

    A number without bounds gets mean ± 1.96 √(variance / count). Of a share, 0 to 1, that interval
    would leave the bounds, and would be empty where all texts give 0 or all give 1. It gets
    Wilson's interval instead, for count / ρ texts that each give 0 or 1, where ρ is the variance in
    parts of the variance that such texts would have. For texts of 0 and 1 it is Wilson's own, and
    for many texts it is the normal one. One text of which nothing is known, half 0 and half 1, is
    added to both variances, so that few equal texts do not count as certain.

    Args:
        mean: of the texts.
        variance: likewise, divided by count − 1; NaN for a single text.
        count: of texts.
        share: whether the number is a share, 0 to 1.

    Source: Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    if not share:
        half = NORMAL * np.sqrt(variance / count)
        return mean - half, mean + half
    mean = np.clip(mean, 0.0, 1.0)
    middle = (count * mean + 0.5) / (count + 1)
    unknown = middle * (1 - middle)
    binary = mean * (1 - mean)
    ratio = np.minimum(((count - 1) * variance + unknown) / (count * binary + unknown), 1.0)
    most = NORMAL**2 * ratio / count
    centre = (mean + most / 2) / (1 + most)
    half = np.sqrt(most * binary + most**2 / 4) / (1 + most)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
