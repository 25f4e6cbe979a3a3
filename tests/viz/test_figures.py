"""Plotly figures: the numbers in them, colours of the theme, and text that stays text."""

from typing import Any

import numpy as np

from viz.figures import curves

TEXT = "<b>a</b> & b"
LITERAL = "&lt;b&gt;a&lt;/b&gt; &amp; b"


def test_curves_have_their_numbers_and_names_and_no_colour_of_a_mode():
    at = np.arange(5)
    named = {TEXT: np.random.default_rng(7).random(5), "two": np.zeros(5)}
    figure: Any = curves(at, named, title=TEXT, x="key", y="weight")
    one, two = figure.data
    assert np.array_equal(one.y, named[TEXT])
    assert np.array_equal(two.y, named["two"])
    assert one.name == figure.layout.title.text == LITERAL
    assert figure.layout.showlegend
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("key", "weight")
    assert all(trace.line.color is None for trace in figure.data)  # that of a mode would stay
