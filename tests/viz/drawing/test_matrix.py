"""A matrix on paper: cells that can be read, whatever its shape."""

import numpy as np
import pytest

from viz.drawing.matrix import READABLE, matrix
from viz.drawing.parts import Caption
from viz.drawing.scales import weight_scale
from viz.drawing.scene import Fill, Raster, Text

CAPTION = Caption("A title", (), "Headscope")


@pytest.mark.parametrize("shape", [(3, 400), (400, 3)])
def test_cells_of_a_long_narrow_matrix_are_high_enough_to_read(shape: tuple[int, int]) -> None:
    """Across it cells are `READABLE` points, and all of its length stays on the page."""
    weights = np.random.default_rng(0).dirichlet(np.ones(shape[1]), shape[0])
    queries, keys = ([f"{place / 50:.2f} s" for place in range(count)] for count in shape)
    scene = matrix([("head 0", weights)], queries, keys, CAPTION, scale=weight_scale(1.0))
    cells = [item.box for item in scene.items if isinstance(item, Raster)]
    cells += [box for item in scene.items if isinstance(item, Fill) for box in item.boxes]
    across = 3 if shape[0] < shape[1] else 2
    assert max(box[across] for box in cells) >= READABLE
    assert max(box[0] + box[2] for box in cells) <= scene.width
    said = {item.text for item in scene.items if isinstance(item, Text)}
    assert "0.00 s" in said  # moments stand for tokens that have no label
