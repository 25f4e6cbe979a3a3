"""Pooling keeps every peak; a byte a cell keeps small weights apart."""

import numpy as np
import pytest

from viz.heatmap import max_pool, quantise


def test_max_pool_by_hand():
    weights = np.arange(35, dtype=np.float32).reshape(5, 7)
    # rows 0-0, 1-2, 3-4; columns 0-2, 3-6
    np.testing.assert_array_equal(max_pool(weights, 3, 2), [[2, 6], [16, 20], [30, 34]])


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (3, 5), (13, 17), (22, 28)])
def test_no_peak_is_lost(rows: int, cols: int):
    for row, col in ((0, 0), (22, 28), (11, 3), (7, 27)):
        weights = np.zeros((23, 29), dtype=np.float32)
        weights[row, col] = 1
        pooled = max_pool(weights, rows, cols)
        assert pooled.shape == (rows, cols)
        assert pooled.sum() == 1


def test_quantise_by_hand():
    weights = np.array([[0.0, 0.8], [0.2, 0.05]], dtype=np.float32)
    quantised, maximum = quantise(weights)
    # √(0.2/0.8) = 1/2, √(0.05/0.8) = 1/4
    np.testing.assert_array_equal(quantised, [[0, 255], [128, 64]])
    assert quantised.dtype == np.uint8
    assert maximum == np.float32(0.8)


def test_a_map_of_zeros_stays_zero():
    quantised, maximum = quantise(np.zeros((3, 5), dtype=np.float32))
    assert not quantised.any()
    assert maximum == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1e-6])
def test_what_is_no_weight_is_refused(bad: float):
    weights = np.full((3, 5), 0.2, dtype=np.float32)
    weights[1, 2] = bad
    with pytest.raises(ValueError, match="expected finite weights"):
        quantise(weights)


def test_rows_are_quantised_by_their_own_largest():
    weights = np.array([[[0.5, 0.125, 0.0], [0.01, 0.0025, 0.0]]], np.float32)
    quantised, maxima = quantise(weights, (-1,), 63)
    np.testing.assert_array_equal(quantised, [[[63, 32, 0], [63, 32, 0]]])
    np.testing.assert_array_equal(maxima, np.array([[0.5, 0.01]], np.float32))
