"""The Positions page: its numbers are the models', and every control moves something."""

import json
import math

import numpy as np
import plotly.graph_objects as go
import pytest

from models.positional import alibi, relative_buckets, rotary_angles, rotate, sinusoidal
from models.run import load
from tests.viz.pages import helpers
from viz.chart_numbers import chart_csv
from viz.pages.positions import charts, compute, encodings, picks, texts
from viz.pages.positions.controls import PAGE, PARAMS, VIEWS_OF

ALL = [(scheme, view) for scheme, views in VIEWS_OF.items() for view in views]


def run(**query):
    return helpers.run(PAGE, query)


def array(held):
    import base64

    if isinstance(held, list):
        return np.array(held, dtype=float)
    shape = [int(size) for size in str(held.get("shape", "-1")).split(",")]
    raw = np.frombuffer(base64.b64decode(held["bdata"]), np.dtype(held["dtype"]))
    return raw.reshape(shape)


def decoded(part):
    """A chart as the browser reads it, with plain arrays."""
    if isinstance(part, dict):
        return array(part) if "bdata" in part else {k: decoded(v) for k, v in part.items()}
    return [decoded(each) for each in part] if isinstance(part, list) else part


def encoding(scheme, **changed):
    chosen = {
        "scheme": scheme,
        "length": 11,
        "width": 20,
        "base": 10_000.0,
        "rows": 3,
        "cols": 5,
        "heads": 3,
        "causal": False,
        "trained": False,
        "seed": 5,
        "device": "cpu",
    }
    return encodings.Encoding(**{**chosen, **changed})


@pytest.mark.parametrize(("scheme", "view"), ALL)
def test_every_view_has_figures_and_words(scheme, view):
    app = run(scheme=scheme, view=view, length="16")
    assert 1 <= len(helpers.specs(app)) <= 3
    assert texts.shows(scheme, view) in [element.value for element in app.markdown]
    assert texts.not_proved(scheme, view) in [element.value for element in app.caption]
    drawn = [go.Figure(decoded(spec)) for spec in helpers.specs(app)]
    assert chart_csv(drawn).count(b"\n") > 10
    assert not app.error
    for spec in helpers.specs(app):
        assert spec["layout"]["title"]["text"]
        visible = spec["layout"]["xaxis"].get("visible", True)
        assert not visible or "xaxis" in spec["layout"]


def test_the_first_screen_is_the_table_of_the_paper():
    app = run()
    table, wave, code = helpers.specs(app)
    expected = sinusoidal(64, 64).numpy()
    assert np.array_equal(array(table["data"][0]["z"]), expected)
    assert np.array_equal(array(wave["data"][0]["y"]), expected[:, 4])
    assert np.array_equal(array(code["data"][0]["y"]), expected[20])
    assert helpers.link(app) == {}


def test_the_learned_table_is_minilms_own():
    table, *_ = helpers.specs(run(scheme="learned", length="512"))
    own = load("minilm").network.get_parameter("positions.table").detach().numpy()
    assert np.array_equal(array(table["data"][0]["z"]), own)
    assert "MiniLM" in table["layout"]["title"]["text"]
    other, *_ = helpers.specs(run(scheme="learned", source="random", length="16", width="8"))
    assert array(other["data"][0]["z"]).shape == (16, 8)
    assert "untrained" in other["layout"]["title"]["text"]


def test_what_is_random_says_untrained():
    (spec,) = helpers.specs(run(scheme="relative", view="bias"))
    assert "untrained" in spec["layout"]["title"]["text"]
    again = compute.biases(encoding("relative"))
    assert np.array_equal(again, compute.biases(encoding("relative")))
    assert not np.array_equal(again, compute.biases(encoding("relative", seed=6)))


@pytest.mark.parametrize(
    ("scheme", "view", "name", "other"),
    [
        ("sinusoidal", "table", "length", 96),
        ("sinusoidal", "table", "base", "100"),
        ("sinusoidal", "table", "position", 3),
        ("sinusoidal", "similar", "scale", "own"),
        ("sinusoidal", "tiles", "rows", 3),
        ("learned", "table", "source", "random"),
        ("grid", "regrid", "newrows", 7),
        ("rotary", "pairs", "position", 5),
        ("rotary", "distance", "base", "10"),
        ("alibi", "bias", "heads", 3),
        ("alibi", "bias", "keys", "causal"),
        ("relative", "bias", "seed", 4),
        ("compare", "alone", "head", 2),
    ],
)
def test_a_control_changes_the_figure_and_the_link(scheme, view, name, other):
    app = run(scheme=scheme, view=view)
    before = helpers.specs(app)
    helpers.choose(app, PAGE, name, other)
    assert helpers.specs(app) != before
    assert helpers.link(app)[name] == str(other)


def test_a_scheme_without_the_view_takes_its_first():
    app = run(view="tiles")
    helpers.choose(app, PAGE, "scheme", "rotary")
    assert helpers.setting(app, PAGE, "view") == "pairs"
    helpers.choose(app, PAGE, "view", "distance")
    assert helpers.link(app) == {"scheme": "rotary", "view": "distance"}


def test_pointers_stay_within_what_there_is():
    app = run(position="400", dim="300", length="16", width="8")
    _pointer(app, "Position", 15)
    _pointer(app, "Dimension", 7)
    assert helpers.link(app) == {"position": "15", "dim": "7", "length": "16", "width": "8"}
    helpers.choose(app, PAGE, "length", 8)
    _pointer(app, "Position", 7)
    helpers.choose(app, PAGE, "length", 64)  # it stays where it was drawn
    assert helpers.setting(app, PAGE, "position") == 7
    helpers.choose(app, PAGE, "position", 63)
    titles = [spec["layout"]["title"]["text"] for spec in helpers.specs(app)]
    assert "The code of position 63" in titles


def _pointer(app, label, last):
    """The slider stands at its end."""
    (props,) = [each for each in helpers.views(app, "slider") if each["label"] == label]
    assert (props["value"], props["max"]) == (last, last)


def test_every_setting_has_a_control():
    """No parameter in the link that nothing on the page can change."""
    seen = set()
    for scheme, view in ALL:
        for source in ("minilm", "random") if scheme == "learned" else ("minilm",):
            app = run(scheme=scheme, view=view, source=source)
            seen |= {param.name for param in PARAMS if helpers.shown(app, PAGE, param.name)}
    assert seen == {param.name for param in PARAMS}


def test_rotary_products_are_the_closed_form():
    """A vector of ones, turned: 2 Σ cos(distance · rate), whatever the positions."""
    found = compute.products(encoding("rotary"))
    rates = [10_000 ** (-2 * i / 20) for i in range(10)]
    expected = [2 * sum(math.cos(d * rate) for rate in rates) for d in range(11)]
    # sums of 20 float32 products below 2
    for part in (found.mean, found.low, found.high):
        np.testing.assert_allclose(part, expected, atol=2e-5)


def test_biases_by_distance_against_a_plain_loop():
    for scheme in ("alibi", "relative"):
        for causal in (False, True):
            chosen = encoding(scheme, causal=causal)
            matrices = compute.biases(chosen)
            distance, lines = compute.by_signed_distance(chosen)
            for place, away in enumerate(distance):
                for query in range(11):
                    if 0 <= query + away < 11:
                        assert (lines[:, place] == matrices[:, query, query + away]).all()
            assert np.isnan(matrices[:, 0, 1]).all() == causal
    assert np.array_equal(compute.biases(encoding("alibi")), alibi(3, 11, 11).numpy())


def test_buckets_are_the_models():
    import torch

    at = torch.arange(11)
    expected = relative_buckets(at - at[:, None], bidirectional=True).numpy()
    assert np.array_equal(compute.buckets(encoding("relative")), expected)


def test_position_alone_gives_attention_weights():
    import torch

    chosen = encoding("compare", causal=True)
    for scheme in ("sinusoidal", "learned", "rotary", "alibi", "relative", "none"):
        weights = compute.alone(chosen, scheme, 1)
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
        assert (np.triu(weights, 1) == 0).all()
    even = compute.alone(encoding("compare"), "none", 0)
    np.testing.assert_allclose(even, 1 / 11, atol=1e-6)
    turned = rotate(torch.ones(1, 1, 11, 20), rotary_angles(11, 20).float())[0, 0]
    expected = (turned @ turned.T / 20**0.5).softmax(-1).numpy()
    np.testing.assert_allclose(compute.alone(encoding("compare"), "rotary", 0), expected, atol=1e-5)


def test_another_grid_keeps_what_it_had():
    """On the same grid resampling changes nothing; every picture has the size it says."""
    same = list(compute.regridded(encoding("grid"), (3, 5), 2).values())
    for picture in same[1:3]:
        assert np.array_equal(picture, same[0])
    pictures = compute.regridded(encoding("grid"), (7, 4), 2)
    assert [picture.shape for picture in pictures.values()] == [(3, 5), (7, 4), (7, 4)] * 2
    for name, picture in pictures.items():
        if name.endswith("cosine"):
            rows, cols = picture.shape
            assert picture[rows // 2, cols // 2] == pytest.approx(1, abs=1e-6)


def test_the_outliers_of_a_learned_table_do_not_set_its_colours():
    app = run(scheme="learned", length="512")
    table, wave, code = helpers.specs(app)
    values = array(table["data"][0]["z"])
    ends = table["layout"]["coloraxis"]
    assert ends["cmax"] == -ends["cmin"] == pytest.approx(np.percentile(abs(values), 99))
    assert ends["cmax"] < 0.5 * abs(values).max()
    assert texts.clipped(ends["cmax"], float(abs(values).max())) in [
        element.value for element in app.caption
    ]
    for curve, numbers in ((wave, values[:, 4]), (code, values[20])):  # all of them are in view
        low, high = curve["layout"]["yaxis"]["range"]
        assert low < numbers.min() < numbers.max() < high
    assert not any("colour range ends" in element.value for element in run().caption)


def test_a_range_of_colours_without_outliers_is_that_of_the_numbers():
    assert charts.span(np.array([[0.0, 0.75]])) == (-1, 1)
    assert charts.span(np.array([[0.0, -3.0]])) == (-3, 3)
    assert charts.span(np.array([[0.0, -3.0]]), learned=True) == pytest.approx((-2.97, 2.97))
    nearly_empty = np.zeros((1, 1000))
    nearly_empty[0, 5] = 2
    assert charts.span(nearly_empty, learned=True) == (-2, 2)


# --- clicks and sizes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("view", "chart", "cell", "settings"),
    [
        ("table", "table", (9, 3), {"dim": 9, "position": 3}),
        ("table", "wave", (7, 0), {"position": 7}),
        ("table", "code", (5, 1), {"dim": 5}),
        ("similar", "similar", (2, 8), {"position": 8}),
        ("alone", "alone", (2, 12), {"position": 12}),
        ("table", "table", (None, -1), {}),
        ("table", "table", (None, 4), {"position": 4}),
        ("table", "table", (9000, 10**9), {}),
    ],
)
def test_a_click_stands_for_settings(view, chart, cell, settings):
    assert picks.chosen(picks.PICKS[view][chart], cell) == settings


@pytest.mark.parametrize("view", picks.PICKS)
def test_every_chart_that_can_be_clicked_is_there(view):
    scheme = next(scheme for scheme, views in VIEWS_OF.items() if view in views)
    app = run(scheme=scheme, view=view, length="16")
    assert texts.picking(view) in [element.value for element in app.caption]
    keys = {
        element.proto.id.rpartition("-")[2]
        for element in app.get("bidi_component")
        if json.loads(element.proto.json)[0].get("picks")
    }
    assert keys == {f"{PAGE}_chart_{chart}" for chart in picks.PICKS[view]}


@pytest.mark.parametrize(
    ("scheme", "view"), [("alibi", "bias"), ("relative", "bias"), ("compare", "alone")]
)
def test_many_large_matrices_are_drawn_at_the_resolution_of_their_pixels(scheme, view):
    app = run(scheme=scheme, view=view, length="512", heads="16")
    spec = helpers.specs(app)[0]
    assert len(json.dumps(spec)) < 2**21
    assert "1 in 4 queries" in spec["layout"]["title"]["text"]
    first = next(each for each in spec["data"] if each["type"] == "heatmap")
    assert (first["dx"], first["dy"], array(first["z"]).shape) == (4, 4, (128, 128))
    if scheme == "alibi":  # the slope of the first of 16 heads is 2^(−8/16)
        cells = array(first["z"])
        assert cells[5, 2] == pytest.approx(-(2**-0.5) * 4 * 3, rel=1e-6)
