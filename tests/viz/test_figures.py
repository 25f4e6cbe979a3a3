"""Plotly figures: the numbers in them, numeric axes, fixed ranges, and text that stays text."""

from typing import Any

import numpy as np
import pytest

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


def test_curves_have_their_names_a_band_and_a_mark():
    at = np.arange(5)
    named = {TEXT: DRAW.random(5), "two": DRAW.random(5)}
    figure = lines(at, named, band=(at * 0.0, at * 2.0), mark=3)
    band, one, two = figure.data
    assert list(band.x) == [0, 1, 2, 3, 4, 4, 3, 2, 1, 0]
    assert list(band.y) == [0] * 5 + [8, 6, 4, 2, 0]
    assert np.array_equal(one.y, named[TEXT])
    assert np.array_equal(two.y, named["two"])
    assert one.name == LITERAL
    assert figure.layout.showlegend
    assert figure.layout.shapes[0].x0 == 3


def test_facets_share_one_scale_and_say_their_names():
    values = {TEXT: DRAW.random((3, 5)), "two": DRAW.random((3, 5)), "three": DRAW.random((2, 2))}
    figure: Any = figures.facets(
        values, title="t", x="key", y="query", bar="bias", low=-1, high=1, across=2
    )
    assert [trace.coloraxis for trace in figure.data] == ["coloraxis"] * 3
    for trace, matrix in zip(figure.data, values.values(), strict=True):
        assert np.array_equal(trace.z, matrix)
    assert [note.text for note in figure.layout.annotations] == [LITERAL, "two", "three"]
    assert figure.layout.yaxis3.range == (1.5, -0.5)
    with pytest.raises(ValueError, match="at least one"):
        figures.facets({}, title="t", x="key", y="query", bar="bias", low=-1, high=1)


def test_bars_keep_equal_names_apart_and_the_first_on_top():
    figure: Any = figures.bars(
        ["a", "a", "<b>"], [0.5, 0.25, 0.125], title="t <x>", x="probability"
    )
    (bar,) = figure.data
    assert list(bar.x) == [0.5, 0.25, 0.125]
    assert list(bar.y) == [0, 1, 2]
    assert list(figure.layout.yaxis.ticktext) == ["a", "a", "&lt;b&gt;"]
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.title.text == "t &lt;x&gt;"
    with pytest.raises(ValueError, match="a value for every name, received 1, 2"):
        figures.bars(["a"], [0.5, 0.25], title="t", x="p")
