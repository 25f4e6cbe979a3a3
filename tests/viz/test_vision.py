"""The figures of vision transformers, against plain loops."""

from typing import Any

import numpy as np
import pytest

from viz import vision

DRAW = np.random.default_rng(11)
TEXT = "<b>a</b> & b"
LITERAL = "&lt;b&gt;a&lt;/b&gt; &amp; b"


def test_every_head_is_a_dot_at_its_layer() -> None:
    values = DRAW.random((3, 5))
    values[1, 2] = np.nan
    figure: Any = vision.distances(values, title=TEXT, uniform=0.5, unit="pixels")
    dots = figure.data[0]
    for place, (layer, head) in enumerate(np.ndindex(3, 5)):
        assert (dots.x[place], dots.customdata[place]) == (layer, head)
        np.testing.assert_equal(dots.y[place], values[layer, head])
    assert figure.layout.shapes[0].y0 == 0.5
    assert figure.layout.title.text == LITERAL


@pytest.mark.parametrize("channels", [1, 3])
def test_filters_lie_on_a_sheet(channels: int) -> None:
    kernels = DRAW.standard_normal((9, channels, 2, 3))
    shares = np.linspace(0.5, 0.01, 9)
    figure: Any = vision.filters(kernels, shares, title=TEXT)
    sheet = np.asarray(figure.data[0].z)
    assert sheet.shape == (2 * 3 - 1, 7 * 4 - 1, 4)
    for number, kernel in enumerate(kernels):
        for row in range(2):
            for col in range(3):
                y, x = number // 7 * 3 + row, number % 7 * 4 + col
                for channel in range(3):
                    value = kernel[channel % channels, row, col] / np.abs(kernel).max()
                    assert sheet[y, x, channel] == round(127.5 + 127.5 * value)
                assert sheet[y, x, 3] == 255
                assert figure.data[0].customdata[y][x].startswith(f"component {number + 1}: ")
    assert (sheet[..., 3] == 0).sum() == sheet[..., 3].size - 9 * 6  # the gaps
    with pytest.raises(ValueError, match="expected 1 or 3 channels, received 2"):
        vision.filters(np.zeros((1, 2, 2, 2)), shares, title="t")


def test_outliers_have_a_frame() -> None:
    values = DRAW.random((3, 4))
    outliers = np.zeros((3, 4), dtype=bool)
    outliers[1, 3] = outliers[2, 0] = True
    figure: Any = vision.norms(values, outliers, ["[CLS]", TEXT, "b", "c"], title=TEXT)
    assert np.array_equal(figure.data[0].z, values)
    assert list(figure.data[0].customdata[2]) == ["[CLS]", TEXT, "b", "c"]
    assert list(zip(figure.data[1].y, figure.data[1].x, strict=True)) == [(1, 3), (2, 0)]
    without: Any = vision.norms(values, outliers & False, ["a"] * 4, title="t")
    assert len(without.data) == 1


def test_several_pictures_stand_above_the_colours_of_their_patches() -> None:
    pictures = DRAW.integers(0, 256, (3, 4, 6, 3)).astype(np.uint8)
    colours = DRAW.random((3, 6, 3))
    names = ["<b>one</b>", "two", "three"]
    figure: Any = vision.patch_colours_of(list(colours), list(pictures), names, 2, 3, title=TEXT)
    assert [each.text for each in figure.layout.annotations] == [
        "&lt;b&gt;one&lt;/b&gt;",
        *names[1:],
    ]
    for index in range(3):
        above, below = figure.data[index], figure.data[3 + index]
        assert np.array_equal(above.z, pictures[index])
        expected = np.rint(255 * colours[index]).reshape(2, 3, 3)
        assert np.array_equal(below.z, expected)
        assert above.xaxis != below.xaxis
