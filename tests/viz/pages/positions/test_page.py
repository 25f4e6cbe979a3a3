"""The Positions page: its numbers are the models', and every control moves something."""

import base64
import math
from typing import Any

import numpy as np
import pytest

from models.positional import sinusoidal
from models.run import load
from tests.viz.pages import helpers
from viz.pages.positions import compute
from viz.pages.positions.page import NOT_PROVED, PAGE, SCHEMES, SHOWS


def run(**query: str) -> Any:
    return helpers.run(PAGE, query)


def array(packed: Any) -> np.ndarray:
    """Numbers of a figure, as the browser unpacks them."""
    shape = [int(size) for size in str(packed.get("shape", "-1")).split(",")]
    raw = np.frombuffer(base64.b64decode(packed["bdata"]), np.dtype(packed["dtype"]))
    return raw.reshape(shape)


def encoding(scheme: str, **changed: Any) -> compute.Encoding:
    sizes = {"length": 11, "width": 20, "base": 10_000.0, "grid": (3, 5), "heads": 3}
    drawn = {"causal": False, "trained": False, "seed": 5, "device": "cpu"}
    return compute.Encoding(**{"scheme": scheme, **sizes, **drawn, **changed})


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_has_figures_and_words(scheme: str) -> None:
    app = run(scheme=scheme, length="16")
    bias = scheme in ("alibi", "relative")
    assert len(helpers.specs(app)) == (2 if bias else 4)
    assert SHOWS[scheme] in [element.value for element in app.markdown]
    assert NOT_PROVED[bias] in [element.value for element in app.caption]
    assert not app.error


def test_the_first_screen_is_the_table_of_the_paper() -> None:
    app = run()
    table, similar, wave, row = helpers.specs(app)
    expected = sinusoidal(64, 64).numpy()
    assert np.array_equal(array(table["data"][0]["z"]), expected)
    assert np.array_equal(array(wave["data"][0]["y"]), expected[:, 4])
    length = np.linalg.norm(expected, axis=1)
    cosines = np.array([[a @ b for b in expected] for a in expected]) / length / length[:, None]
    np.testing.assert_allclose(array(similar["data"][0]["z"]), cosines, atol=1e-6)
    np.testing.assert_allclose(array(row["data"][0]["y"]), cosines[20], atol=1e-6)
    assert helpers.link(app) == {}


def test_the_learned_table_is_minilms_own_and_its_outliers_do_not_set_its_colours() -> None:
    table, *_ = helpers.specs(run(scheme="learned", length="512"))
    own = load("minilm").network.get_parameter("positions.table").detach().numpy()
    assert np.array_equal(array(table["data"][0]["z"]), own)
    ends = table["layout"]["coloraxis"]
    assert ends["cmax"] == -ends["cmin"] == pytest.approx(np.percentile(abs(own), 99))
    assert "clipped" in ends["colorbar"]["title"]["text"]


@pytest.mark.parametrize(
    ("scheme", "name", "other"),
    [
        ("sinusoidal", "length", 96),
        ("sinusoidal", "base", "100"),
        ("sinusoidal", "position", 3),
        ("rotary", "width", 8),
        ("learned", "source", "random"),
        ("grid", "rows", 3),
        ("alibi", "heads", 3),
        ("alibi", "keys", "causal"),
        ("relative", "seed", 4),
        ("relative", "head", 2),
    ],
)
def test_a_control_changes_the_figure_and_the_link(scheme: str, name: str, other: Any) -> None:
    app = run(scheme=scheme)
    before = helpers.specs(app)
    helpers.choose(app, PAGE, name, other)
    assert helpers.specs(app) != before
    assert helpers.link(app)[name] == str(other)


def test_pointers_stay_within_what_there_is() -> None:
    app = run(position="400", dim="300", length="16", width="8")
    last = {each["label"]: (each["value"], each["max"]) for each in helpers.views(app, "slider")}
    assert (last["Position"], last["Dimension"]) == ((15, 15), (7, 7))
    assert helpers.link(app) == {"position": "15", "dim": "7", "length": "16", "width": "8"}


def test_rotary_products_are_the_closed_form() -> None:
    """The mean of cos(distance · rate), whatever the positions."""
    rates = [10_000 ** (-2 * i / 20) for i in range(10)]
    expected = [
        [sum(math.cos((m - n) * rate) for rate in rates) / 10 for n in range(11)] for m in range(11)
    ]
    # sums of 20 float32 products below 1
    np.testing.assert_allclose(compute.similarity(encoding("rotary")), expected, atol=2e-6)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scheme", ["alibi", "relative"])
def test_biases_by_distance_against_a_plain_loop(scheme: str, causal: bool) -> None:
    matrices = compute.biases(encoding(scheme, causal=causal))
    distance, lines = compute.by_distance(matrices)
    assert [*distance] == [*range(-10, 1 if causal else 11)]
    for place, away in enumerate(distance):
        for query in range(11):
            if 0 <= query + away < 11:
                assert (lines[:, place] == matrices[:, query, query + away]).all()
    assert np.isnan(matrices[:, 0, 1]).all() == causal
