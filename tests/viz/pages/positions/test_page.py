"""The Positions page: its numbers are the models', and every control moves something."""

import json
import math
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import start
from models.positional import alibi, relative_buckets, rotary_angles, rotate, sinusoidal
from models.run import load
from viz.pages import settings
from viz.pages.positions import encodings
from viz.pages.positions import texts as position_texts
from viz.pages.positions.controls import PARAMS, VIEWS_OF

SCRIPT = str(start.ROOT / "viz/pages/positions/page.py")
ALL = [(scheme, view) for scheme, views in VIEWS_OF.items() for view in views]
NUMPY = {"f4": np.float32, "f8": np.float64}


def run(**query):
    app = AppTest.from_file(SCRIPT, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return checked(app.run())


def checked(app):
    assert not app.exception, [element.message for element in app.exception]
    return app


def specs(app):
    return [json.loads(element.proto.spec) for element in app.get("plotly_chart")]


def array(held):
    import base64

    if isinstance(held, list):
        return np.array(held, dtype=float)
    shape = [int(size) for size in str(held.get("shape", "-1")).split(",")]
    raw = np.frombuffer(base64.b64decode(held["bdata"]), NUMPY[held["dtype"]])
    return raw.reshape(shape)


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
    assert 1 <= len(specs(app)) <= 3
    assert position_texts.shows(scheme, view) in [element.value for element in app.markdown]
    assert position_texts.not_proved(scheme, view) in [element.value for element in app.caption]
    assert not app.error
    for spec in specs(app):
        assert spec["layout"]["title"]["text"]
        visible = spec["layout"]["xaxis"].get("visible", True)
        assert not visible or "xaxis" in spec["layout"]


def test_the_first_screen_is_the_table_of_the_paper():
    app = run()
    table, wave, code = specs(app)
    expected = sinusoidal(64, 64).numpy()
    assert np.array_equal(array(table["data"][0]["z"]), expected)
    assert np.array_equal(array(wave["data"][0]["y"]), expected[:, 4])
    assert np.array_equal(array(code["data"][0]["y"]), expected[20])
    assert dict(app.query_params) == {}


def test_the_learned_table_is_minilms_own():
    table, *_ = specs(run(scheme="learned", length="512"))
    own = load("minilm").network.get_parameter("positions.table").detach().numpy()
    assert np.array_equal(array(table["data"][0]["z"]), own)
    assert "MiniLM" in table["layout"]["title"]["text"]
    other, *_ = specs(run(scheme="learned", source="random", length="16", width="8"))
    assert array(other["data"][0]["z"]).shape == (16, 8)
    assert "untrained" in other["layout"]["title"]["text"]


def test_what_is_random_says_untrained():
    (spec,) = specs(run(scheme="relative", view="bias"))
    assert "untrained" in spec["layout"]["title"]["text"]
    again = encodings.biases(encoding("relative"))
    assert np.array_equal(again, encodings.biases(encoding("relative")))
    assert not np.array_equal(again, encodings.biases(encoding("relative", seed=6)))


@pytest.mark.parametrize(
    ("scheme", "view", "name", "other"),
    [
        ("sinusoidal", "table", "length", 96),
        ("sinusoidal", "table", "width", 32),
        ("sinusoidal", "table", "base", "100"),
        ("sinusoidal", "table", "position", 3),
        ("sinusoidal", "table", "dim", 9),
        ("sinusoidal", "similar", "position", 7),
        ("sinusoidal", "similar", "scale", "own"),
        ("sinusoidal", "tiles", "rows", 3),
        ("learned", "table", "source", "random"),
        ("learned", "tiles", "cols", 4),
        ("grid", "table", "rows", 3),
        ("grid", "regrid", "newrows", 7),
        ("grid", "regrid", "newcols", 9),
        ("grid", "regrid", "dim", 2),
        ("rotary", "pairs", "position", 5),
        ("rotary", "pairs", "key", 2),
        ("rotary", "distance", "base", "10"),
        ("alibi", "bias", "heads", 3),
        ("alibi", "bias", "keys", "causal"),
        ("relative", "bias", "seed", 4),
        ("relative", "buckets", "keys", "causal"),
        ("compare", "alone", "head", 2),
        ("compare", "alone", "seed", 2),
        ("compare", "alone", "keys", "causal"),
    ],
)
def test_a_control_changes_the_figure_and_the_link(scheme, view, name, other):
    app = run(scheme=scheme, view=view)
    before = specs(app)
    _widget(app, name).set_value(other).run()
    checked(app)
    assert specs(app) != before
    assert app.query_params[name] == [str(other)] or app.query_params[name] == str(other)


def _widget(app, name) -> Any:
    kinds = (app.slider, app.select_slider, app.number_input, app.get("button_group"))
    key = f"positions_{name}"
    return next(element for kind in kinds for element in kind if element.key == key)


def test_a_scheme_without_the_view_takes_its_first():
    app = run(view="tiles")
    _widget(app, "scheme").set_value("rotary").run()
    assert app.session_state["positions_view"] == "pairs"
    _widget(app, "view").set_value("distance").run()
    assert dict(app.query_params) == {"scheme": "rotary", "view": "distance"}


def test_pointers_stay_within_what_there_is():
    app = run(position="400", dim="300", length="16", width="8")
    assert _widget(app, "position").value == 15
    assert _widget(app, "dim").value == 7
    checked(app)


def test_nonsense_in_the_link_is_one_line_each():
    app = run(scheme="magic", base="7", length="9", rows="99")
    assert len(app.error) == 4
    assert len(specs(app)) == 3


def test_every_setting_has_a_control():
    """No parameter in the link that nothing on the page can change."""
    seen = set()
    for scheme, view in ALL:
        for source in ("minilm", "random") if scheme == "learned" else ("minilm",):
            app = run(scheme=scheme, view=view, source=source)
            kinds = (app.slider, app.select_slider, app.number_input, app.get("button_group"))
            seen |= {element.key for kind in kinds for element in kind}
    assert seen == {f"positions_{param.name}" for param in PARAMS}


def test_rotary_products_are_the_closed_form():
    """A vector of ones, turned: 2 Σ cos(distance · rate), whatever the positions."""
    found = encodings.products(encoding("rotary"))
    rates = [10_000 ** (-2 * i / 20) for i in range(10)]
    expected = [2 * sum(math.cos(d * rate) for rate in rates) for d in range(11)]
    # sums of 20 float32 products below 2
    for part in (found.mean, found.low, found.high):
        np.testing.assert_allclose(part, expected, atol=2e-5)


def test_biases_by_distance_against_a_plain_loop():
    for scheme in ("alibi", "relative"):
        for causal in (False, True):
            chosen = encoding(scheme, causal=causal)
            matrices = encodings.biases(chosen)
            distance, lines = encodings.by_signed_distance(chosen)
            for place, away in enumerate(distance):
                for query in range(11):
                    if 0 <= query + away < 11:
                        assert (lines[:, place] == matrices[:, query, query + away]).all()
            assert np.isnan(matrices[:, 0, 1]).all() == causal
    assert np.array_equal(encodings.biases(encoding("alibi")), alibi(3, 11, 11).numpy())


def test_buckets_are_the_models():
    import torch

    at = torch.arange(11)
    expected = relative_buckets(at - at[:, None], bidirectional=True).numpy()
    assert np.array_equal(encodings.buckets(encoding("relative")), expected)


def test_position_alone_gives_attention_weights():
    import torch

    chosen = encoding("compare", causal=True)
    for scheme in ("sinusoidal", "learned", "rotary", "alibi", "relative", "none"):
        weights = encodings.alone(chosen, scheme, 1)
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
        assert (np.triu(weights, 1) == 0).all()
    even = encodings.alone(encoding("compare"), "none", 0)
    np.testing.assert_allclose(even, 1 / 11, atol=1e-7)
    turned = rotate(torch.ones(1, 1, 11, 20), rotary_angles(11, 20).float())[0, 0]
    expected = (turned @ turned.T / 20**0.5).softmax(-1).numpy()
    np.testing.assert_allclose(
        encodings.alone(encoding("compare"), "rotary", 0), expected, atol=1e-5
    )


def test_another_grid_keeps_what_it_had():
    """On the same grid resampling changes nothing; every picture has the size it says."""
    same = list(encodings.regridded(encoding("grid"), (3, 5), 2).values())
    for picture in same[1:3]:
        assert np.array_equal(picture, same[0])
    pictures = encodings.regridded(encoding("grid"), (7, 4), 2)
    assert [picture.shape for picture in pictures.values()] == [(3, 5), (7, 4), (7, 4)] * 2
    for name, picture in pictures.items():
        if name.endswith("cosine"):
            rows, cols = picture.shape
            assert picture[rows // 2, cols // 2] == pytest.approx(1, abs=1e-6)


def test_settings_are_kept_while_another_page_is_read(monkeypatch):
    """The menu's addresses say nothing: coming back is no wish for the defaults."""
    monkeypatch.setattr(settings, "LATE", 0)
    app = AppTest.from_file(str(start.ROOT / "app.py"), default_timeout=60)
    app.switch_page("viz/pages/positions/page.py").run()
    _widget(app, "scheme").set_value("rotary").run()
    _widget(app, "base").set_value("100").run()
    for page in ("text", "positions"):
        app.query_params.clear()
        app.switch_page(f"viz/pages/explore/{page}.py")
        checked(app.run())
    assert _widget(app, "scheme").value == "rotary"
    assert dict(app.query_params) == {"scheme": "rotary", "base": "100"}
