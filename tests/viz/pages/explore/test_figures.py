"""The figures of the vision papers."""

import base64
from typing import Any

import numpy as np
import pytest

from analysis.similarity import grid_distances
from tests.viz.pages import helpers
from viz.api import registry
from viz.pages.explore.figures import SAYS, TITLES

SMALL = {"model": "built-vit", "size": "64", "patch": "16", "heads": "2", "dim": "32", "depth": "3"}


def figures(**query: str) -> list[Any]:
    app = helpers.run("explore", {**SMALL, **query})
    assert [each.value for each in app.error] == []
    return helpers.figures(app)


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


def test_entropy_of_every_head_against_a_plain_sum() -> None:
    (figure,) = figures(figure="entropy")
    app = helpers.run("explore", SMALL)
    weights = registry.get(helpers.view(app, "image")["trace"]).value.view.weights
    expected = [
        -(row * row.log()).sum(-1).mean(-1) for row in (weights(layer) for layer in range(3))
    ]
    found = array(figure.data[0].y)
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-5)
    assert figure.layout.shapes[0].y0 == pytest.approx(np.log(17), abs=1e-6)
    assert "mean entropy of the rows, nats" in figure.layout.yaxis.title.text
