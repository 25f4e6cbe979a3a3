"""The figures of the papers on the Image page."""

import base64
from typing import Any

import numpy as np
import plotly.io
import pytest

from analysis.similarity import grid_distances
from tests.viz.pages import helpers
from viz.pages.image.figures import SAYS, TITLES

SMALL = {"model": "built", "size": "64", "patch": "16", "heads": "2", "dim": "32", "depth": "3"}


def figures(**query: str) -> list[Any]:
    app = helpers.run("image", {**SMALL, **query})
    assert [each.value for each in app.error] == []
    return [plotly.io.from_json(each.proto.spec) for each in app.get("plotly_chart")]


def array(values: Any) -> np.ndarray:
    """An array of a figure's message, where arrays are encoded."""
    if not isinstance(values, dict):
        return np.asarray(values)
    flat = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    shape = [int(size) for size in str(values.get("shape", len(flat))).split(",")]
    return flat.reshape(shape)


@pytest.mark.parametrize("name", SAYS)
def test_each_figure_names_the_model_and_that_it_is_untrained(name: str) -> None:
    (figure,) = figures(figure=name)
    assert "ViT, 3 × 2 heads, width 32, untrained (random weights)" in figure.layout.title.text


def test_no_figure_unless_one_is_chosen() -> None:
    assert figures() == []
    assert set(TITLES) == {"none", *SAYS}


def test_distances_of_every_head_in_pixels() -> None:
    (figure,) = figures(figure="distance")
    found = array(figure.data[0].y)
    assert len(found) == 3 * 2
    uniform = 16 * float(grid_distances(4, 4).mean())
    assert figure.layout.shapes[0].y0 == pytest.approx(uniform, abs=1e-4)
    assert (found < 16 * 3 * 2**0.5).all()


def test_a_network_without_positions_says_so() -> None:
    app = helpers.run("image", {**SMALL, "figure": "positions", "positions": "none"})
    assert [each.value.replace("\\", "") for each in app.error] == [
        "ViT, 3 × 2 heads, width 32 adds no position vectors"
    ]
    assert not app.get("plotly_chart")


def test_the_other_side_is_coloured() -> None:
    def coloured(side: str) -> np.ndarray:
        (figure,) = figures(figure="features", object=side)
        return np.any(array(figure.data[0].z), axis=-1)

    above, below = coloured("above"), coloured("below")
    assert not (above & below).any()
    assert (above | below).sum() >= 4 * 4 - 2  # the darkest patch of each side may be black
    assert coloured("all").sum() >= 4 * 4 - 1
