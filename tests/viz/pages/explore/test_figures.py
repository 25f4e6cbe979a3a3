"""The figures of the vision papers."""

import base64
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from analysis.similarity import grid_distances
from models.run import load, trace
from models.vit import ViTConfig
from tests.viz.pages import helpers
from viz.api import registry
from viz.pages.explore import figures as vision_figures
from viz.pages.explore import sizes
from viz.pages.explore.figures import SAYS, TITLES
from viz.pages.state import session

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


def test_a_network_without_positions_says_so() -> None:
    app = helpers.run("explore", {**SMALL, "figure": "positions", "positions": "none"})
    assert [each.value.replace("\\", "") for each in app.error] == [
        "ViT, 3 × 2 heads, width 32 adds no position vectors"
    ]
    assert not helpers.specs(app)


def test_the_other_side_is_coloured() -> None:
    def coloured(side: str) -> np.ndarray:
        (figure,) = figures(figure="features", object=side)
        return np.any(array(figure.data[0].z), axis=-1)

    def counted(side: str) -> int:
        (figure,) = figures(figure="features", object=side)
        return int(figure.layout.title.text.rsplit("; ")[-1].split(" of 16 patches are ")[0])

    above, below = coloured("above"), coloured("below")
    assert counted("above") + counted("below") == 16
    assert not (above & below).any()
    assert (above | below).sum() >= 4 * 4 - 2  # the darkest patch of each side may be black
    assert coloured("all").sum() >= 4 * 4 - 1


@pytest.mark.parametrize("side", ["above", "below"])
def test_the_threshold_of_the_foreground(side: str) -> None:
    """The first component by NumPy: patches beyond 0.75 of its deviation, on either side."""
    query = {"figure": "features", "object": side, "threshold": "0.75"}
    app = helpers.run("explore", {**SMALL, **query})
    centred = _hidden_of(app)
    centred = centred - centred.mean(0)
    first = centred @ np.linalg.svd(centred)[2][0]
    beyond = {int((sign * first > 0.75 * first.std()).sum()) for sign in (1, -1)}
    if side == "below":
        beyond = {16 - count for count in beyond}
    (chart,) = helpers.figures(app)
    title = chart.layout.title.text
    count, rest = title.rsplit("; ")[-1].split(" of 16 patches are ")
    assert int(count) in beyond
    assert rest == f"{side} 0.75 σ ({0.75 * first.std():.3g})"
    assert helpers.link(app)["threshold"] == "0.75"


def test_components_of_several_pictures_are_those_of_their_patches_together() -> None:
    """Coloured together, the photos differ from what each gets alone; the order is kept."""
    (alone,) = figures(figure="features", object="all")
    (both,) = figures(figure="features", object="all", components="all")
    assert [each.text for each in both.layout.annotations] == ["A flower", "A temple", "Coins"]
    colours = [array(each.z) for each in both.data[3:]]
    assert [each.shape for each in colours] == [(4, 4, 3)] * 3
    assert (colours[0] != array(alone.data[0].z)).any()
    together = np.concatenate([each.reshape(-1, 3) for each in colours])
    assert (together.min(0) == 0).all()
    assert (together.max(0) == 255).all()


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


def test_a_click_chooses_the_patch_that_others_are_compared_with() -> None:
    app = helpers.run("explore", {**SMALL, "figure": "similarity", "like": "6"})
    (figure,) = helpers.figures(app)
    values = array(figure.data[0].z)
    assert values.shape == (4, 4)
    assert values[1, 2] == pytest.approx(1, abs=1e-5)
    assert (np.abs(values) <= 1 + 1e-5).all()
    features = _hidden_of(app)
    lengths = np.linalg.norm(features, axis=1)
    expected = features @ features[6] / (lengths * lengths[6])
    np.testing.assert_allclose(values.flatten(), expected, atol=1e-5)
    app.session_state["explore_chart_similarity"] = {"picked": {"x": 3, "y": 0}}
    app.session_state["state/waiting"].append(
        session.Waiting(lambda: vision_figures._take(), None, 0)
    )
    helpers.checked(app.run())
    assert helpers.link(app)["like"] == "3"


def _hidden_of(app: Any) -> np.ndarray:
    """The final hidden states of the patches, from a pass of their own."""
    held = registry.get(helpers.view(app, "image")["trace"]).value
    settings = sizes.begin(sizes.VIT) | {"size": 64, "patch": 16, "heads": 2, "dim": 32, "depth": 3}
    model = load(ViTConfig(**sizes.of(sizes.VIT, settings)))
    image = Image.open(io.BytesIO(held.cut.picture.data))
    found = trace(model, image, hidden=True)
    return found.final()[found.prefix :].numpy()
