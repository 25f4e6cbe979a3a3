"""Plotly figures: their numbers, colours of the theme, literal text; how amounts are written."""

from typing import Any

import numpy as np
import pytest

from viz.amounts import short
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


@pytest.mark.parametrize(
    ("value", "quantity", "text"),
    [
        (0, "parameters", "0"),
        (999, "parameters", "999"),
        (1_000, "flops", "1.00 k"),
        (109_482_240, "parameters", "109 M"),
        (22_347_251_712, "flops", "22.3 G"),
        (999_600, "parameters", "1.00 M"),
        (1_023, "memory", "1.00 KiB"),
        (1_536, "memory", "1.50 KiB"),
        (844 * 2**20, "memory", "844 MiB"),
    ],
)
def test_three_digits_and_a_unit(value, quantity, text):
    assert short(value, quantity) == text
