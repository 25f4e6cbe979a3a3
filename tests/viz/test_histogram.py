"""A histogram's bars stand where its edges say."""

from typing import Any

import numpy as np
import pytest

from viz.histogram import counts


def test_bars_are_between_their_edges() -> None:
    edges = np.array([0.0, 1.0, 3.0, 3.5])
    figure: Any = counts(np.array([2, 5, 7]), edges, title="<b> & b", x="value")
    (bar,) = figure.data
    assert np.array_equal(bar.y, [2, 5, 7])
    assert np.array_equal(bar.x - bar.width / 2, edges[:-1])
    assert np.array_equal(bar.x + bar.width / 2, edges[1:])
    assert figure.layout.title.text == "&lt;b&gt; &amp; b"


def test_one_edge_more_than_counts() -> None:
    with pytest.raises(ValueError, match="expected one edge more than counts"):
        counts(np.array([1, 2]), np.array([0.0, 1.0]), title="a", x="b")
