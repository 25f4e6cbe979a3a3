"""A number of every head as dots."""

from typing import Any

import numpy as np

from viz import vision

DRAW = np.random.default_rng(11)
TEXT = "<b>a</b> & b"
LITERAL = "&lt;b&gt;a&lt;/b&gt; &amp; b"


def test_every_head_is_a_dot_at_its_layer() -> None:
    values = DRAW.random((3, 5))
    values[1, 2] = np.nan
    figure: Any = vision.of_heads(values, title=TEXT, uniform=0.5, unit="pixels", name="distance")
    dots = figure.data[0]
    for place, (layer, head) in enumerate(np.ndindex(3, 5)):
        assert (dots.x[place], dots.customdata[place]) == (layer, head)
        np.testing.assert_equal(dots.y[place], values[layer, head])
    assert figure.layout.shapes[0].y0 == 0.5
    assert figure.layout.title.text == LITERAL
