"""Scale and softmax: what is shown follows from the settings, in closed form where there is one."""

import math

import pytest

from models.lessons.scaling import spread
from tests.viz.pages.helpers import choose
from tests.viz.pages.lessons.pages import chosen, errors, numbers, whole, words
from viz.pages.lessons.scale.texts import TEMPERATURE_TRIES


def test_weights_and_slopes_in_closed_form() -> None:
    found = numbers(whole("scale"))
    exps = [math.exp(score) for score in (2, 1, 0.5, -1)]
    weights = [each / sum(exps) for each in exps]
    assert found[:4] == pytest.approx(weights, abs=5.1e-5)  # printed to four decimals
    assert found[4:8] == pytest.approx([w * (1 - w) for w in weights], abs=5.1e-5)
    here = spread(64)
    assert found[8:14] == pytest.approx(
        [
            *(here.variance, here.scaled_variance, here.largest),
            *(here.scaled_largest, here.slope, here.scaled_slope),
        ],
        abs=5.1e-5,
    )


@pytest.mark.parametrize(
    ("name", "other", "moved"),
    [
        ("scores", "1 2 3 4", range(8)),
        ("temperature", 2.0, range(8)),
        ("width", 256, range(8, 14)),
        ("seed", 7, range(8, 14)),
    ],
)
def test_a_control_moves_its_numbers(name: str, other: object, moved: range) -> None:
    app = whole("scale")
    before = numbers(app)
    choose(app, "scale", name, other)
    after = numbers(app)
    assert {n for n in range(14) if before[n] != after[n]} == set(moved)
    assert chosen(app) == {name: str(other)}


def test_costs_are_counted() -> None:
    said = words(whole("scale", tokens=7, hidden=11, width=4))
    assert "dot product 196 49" in said
    assert "additive 1,155 539" in said  # 2·7·4·11 + 49·11


def test_half_precision_overflows_where_it_says() -> None:
    said = words(whole("scale", size=32.0))
    assert "q·k in 16 bits ∞ (q·k) / √d in 16 bits ∞" in said
    assert "exactly 8192.0" in said
    assert "q·k in 16 bits 1024.0 (q·k) / √d in 16 bits 128.0" in words(whole("scale", size=4.0))


@pytest.mark.parametrize("scores", ["one two", "1", "1 2 3 4 5 6 7 8 9", "1 2000", "1 nan"])
def test_what_makes_no_sense_is_one_line_and_the_rest_stays(scores: str) -> None:
    app = whole("scale", scores=scores)
    (line,) = errors(app)
    assert line.startswith("scores: expected")
    assert "exactly 8192.0" in words(app)


def test_the_scaled_scores_of_the_link_are_the_others_over_the_root() -> None:
    plain, scaled = (
        [float(score) for score in each.settings["scores"].split()]
        for each in TEMPERATURE_TRIES
        if "scores" in each.settings
    )
    assert [score / math.sqrt(1024) for score in plain] == scaled
