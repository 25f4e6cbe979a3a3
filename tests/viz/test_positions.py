"""The figures of positional encodings, against plain loops."""

from typing import Any

import numpy as np
import pytest

from viz import positions

DRAW = np.random.default_rng(11)
TEXT = "<b>a</b> & b"
LITERAL = "&lt;b&gt;a&lt;/b&gt; &amp; b"


def test_tiles_against_a_plain_loop():
    rows, cols = 3, 5
    values = DRAW.random((rows * cols, rows * cols)).astype(np.float32)
    figure: Any = positions.tiles(values, rows, cols, title=TEXT, bar="cosine", low=-1, high=1)
    picture, names = figure.data[0].z, figure.data[0].customdata
    assert picture.shape == (rows * (rows + 1) - 1, cols * (cols + 1) - 1)
    seen = 0
    for r in range(rows):
        for c in range(cols):
            for i in range(rows):
                for j in range(cols):
                    y, x = r * (rows + 1) + i, c * (cols + 1) + j
                    assert picture[y, x] == values[r * cols + c, i * cols + j]
                    assert tuple(names[y, x]) == (r, c, i, j)
                    seen += 1
    assert np.isnan(picture).sum() == picture.size - seen  # all else is the gap
    assert figure.layout.xaxis.tickvals[1] == (cols + 1) + (cols - 1) / 2
    with pytest.raises(ValueError, match="expected 6 × 6"):
        positions.tiles(values, 2, 3, title="t", bar="cosine", low=-1, high=1)


def test_hands_of_rotary_pairs_end_at_their_angles():
    query, key = np.array([0, np.pi / 2, 1.0]), np.array([np.pi, 0, 2.0])
    figure: Any = positions.pairs(query, key, ["a", TEXT, "c"], title="t")
    for trace, angles in zip(figure.data[1:], (query, key), strict=True):
        x, y = (np.asarray(line, dtype=float).reshape(3, 3) for line in (trace.x, trace.y))
        np.testing.assert_allclose(x[:, 1] - x[:, 0], np.cos(angles), atol=1e-12)
        np.testing.assert_allclose(y[:, 1] - y[:, 0], np.sin(angles), atol=1e-12)
        assert np.isnan(x[:, 2]).all()  # hands are not joined up
    assert [note.text for note in figure.layout.annotations] == ["a", LITERAL, "c"]
    with pytest.raises(ValueError, match="as many pairs"):
        positions.pairs(query, key[:2], ["a"], title="t")
