"""Intervals of means: Wilson's of texts that give 0 or 1, the normal one of many, and coverage."""

import math

import numpy as np
import pytest

from analysis.corpus.intervals import NORMAL, interval


def ends(values: list[float], *, share: bool = True) -> tuple[float, float]:
    array = np.array(values, float)
    low, high = interval(array.mean(), array.var(ddof=1), float(len(array)), share=share)
    return float(low), float(high)


@pytest.mark.parametrize(("ones", "count"), [(1, 2), (3, 7), (64, 64), (0, 41), (199, 200)])
def test_texts_of_0_and_1_have_the_interval_that_wilson_s_equation_gives(ones, count) -> None:
    """Its ends p solve (p − k / n)² = z² p (1 − p) / n, a quadratic equation."""
    share, most = ones / count, NORMAL**2 / count
    roots = np.roots([1 + most, -(2 * share + most), share**2]).real
    assert ends([1.0] * ones + [0.0] * (count - ones)) == pytest.approx(sorted(roots), abs=1e-7)


def test_of_many_texts_it_is_the_normal_interval() -> None:
    values = np.random.default_rng(0).beta(4, 3, 100_000)
    error = NORMAL * values.std(ddof=1) / math.sqrt(len(values))
    normal = values.mean() - error, values.mean() + error
    assert ends(list(values)) == pytest.approx(normal, abs=error / 100)
    assert ends(list(9 * values), share=False) == pytest.approx([9 * each for each in normal])
