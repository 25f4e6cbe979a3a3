"""The fixed scales of a corpus run: edges of histograms, and bins of positions and distances.

They depend on nothing but the measure, so that runs over any texts can be added and compared.
"""

from functools import cache
from itertools import pairwise

import numpy as np

from analysis.heads import ON_OWN
from analysis.measures import MEASURES, PICTURE_MEASURES, Measure

EQUAL_BINS = 40  # of a number with two bounds; 0.4, from which a habit counts, is an edge
STEPS = np.arange(57) / 4  # octaves above the lowest value of a number without an upper bound
BINS = 14  # of positions: 0, 1, 2, 3, 4 to 7, 8 to 15, … 4,096 and more
STRENGTHS = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 0.9])  # where each interval of strength begins
OF_WEIGHTS = ("copying", "copying of tokens", "matching")  # the same for every text
GRID = 8  # cells per side of the map of where on a picture weight goes
SIDE = 16  # cells per side of a head's mean maps


def measures(pictures: bool) -> tuple[Measure, ...]:
    """The numbers that a run takes of every text or picture.

    Args:
        pictures: whether the inputs are pictures, whose patches have no order along a line.
    """
    available = tuple(each for each in MEASURES if each.key not in OF_WEIGHTS)
    if not pictures:
        return available
    linear = set(ON_OWN) - {"same token"}
    return (*(each for each in available if each.key not in linear), *PICTURE_MEASURES)


@cache
def edges(measure: Measure) -> np.ndarray:
    """Edges of the bins of a measure's histogram; the last bin holds all larger values too."""
    if measure.high is None:
        return measure.low + 2**STEPS - 1
    return np.linspace(measure.low, measure.high, EQUAL_BINS + 1)


def bins_of(values: np.ndarray, measure: Measure) -> np.ndarray:
    """The bin of each value of a measure."""
    cut_points = edges(measure)
    return np.clip(np.searchsorted(cut_points, values, side="right") - 1, 0, len(cut_points) - 2)


def position_bins(positions: np.ndarray) -> np.ndarray:
    """The bin of each position, or of each distance without its sign."""
    powers = np.frexp(np.maximum(positions, 1).astype(float))[1]  # 1 for 1, 2 for 2 and 3, …
    return np.minimum(np.where(positions < 4, positions, powers + 1), BINS - 1)


def distance_bins(offsets: np.ndarray) -> np.ndarray:
    """The bin of each offset of a key from its query; the one in the middle is offset 0."""
    return BINS - 1 + np.sign(offsets) * position_bins(np.abs(offsets))


def bin_ranges() -> list[tuple[int, int | None]]:
    """The first and the last position of each bin; None for no end."""
    first = [0, 1, 2, 3, *(2**power for power in range(2, BINS - 2))]
    return [*((a, b - 1) for a, b in pairwise(first)), (first[-1], None)]
