"""Plotly figures: the numbers in them, numeric axes, fixed ranges, and text that stays text."""

from typing import Any

import numpy as np

from viz import figures

DRAW = np.random.default_rng(7)
TEXT = "<b>a</b> & b"
LITERAL = "&lt;b&gt;a&lt;/b&gt; &amp; b"


def heat(values, **options) -> Any:
    told = {"title": TEXT, "x": "key", "y": "query", "bar": "weight", "low": 0, "high": 1}
    return figures.heatmap(values, **{**told, **options})


def lines(at, named, **options) -> Any:
    return figures.curves(at, named, **{"title": TEXT, "x": "key", "y": "weight", **options})


def test_a_heatmap_has_the_numbers_and_says_what_they_are():
    values = DRAW.random((5, 7))
    figure = heat(values, mark=(3, 2))
    (trace,) = figure.data
    assert np.array_equal(trace.z, values)
    assert figure.layout.title.text == LITERAL
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("key", "query")
    assert figure.layout.coloraxis.colorbar.title.text == "weight"
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert figure.layout.xaxis.range == (-0.5, 6.5)
    assert figure.layout.yaxis.range == (4.5, -0.5)  # the first row on top
    assert {(line.x0, line.y0) for line in figure.layout.shapes} == {(0, 3), (2, 0)}


def test_colours_are_left_to_the_theme():
    """A colour written into the figure would be the other mode's after a switch."""
    figure = heat(DRAW.random((3, 5)), low=-1)
    assert figure.layout.coloraxis.autocolorscale
    assert figure.layout.coloraxis.colorscale is None
    assert figure.data[0].coloraxis == "coloraxis"
    curve = lines(np.arange(3), {"one": np.ones(3), "two": np.zeros(3)})
    assert all(trace.line.color is None for trace in curve.data)


def test_curves_have_their_names_and_a_mark():
    at = np.arange(5)
    named = {TEXT: DRAW.random(5), "two": DRAW.random(5)}
    figure = lines(at, named, mark=3)
    one, two = figure.data
    assert np.array_equal(one.y, named[TEXT])
    assert np.array_equal(two.y, named["two"])
    assert one.name == LITERAL
    assert figure.layout.showlegend
    assert figure.layout.shapes[0].x0 == 3
