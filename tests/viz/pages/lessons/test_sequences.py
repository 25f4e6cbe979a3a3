"""Why attention: shown numbers against closed forms, and that they move."""

import re

import pytest

from tests.viz.pages.helpers import specs
from tests.viz.pages.lessons.pages import run, words


def ratio(said: str, kind: str) -> float:
    (found,) = re.findall(rf"{kind}, first token : last token ([\d.e+-]+)", said)
    return float(found)


@pytest.mark.parametrize(("tokens", "gain"), [(32, 1.2), (9, 0.5), (20, 1.0)])
def test_a_linear_recurrence_multiplies_by_the_gain(tokens: int, gain: float) -> None:
    said = words(run("sequences", tokens=tokens, gain=gain, activation="none"))
    assert ratio(said, "recurrence") == pytest.approx(gain ** (tokens - 1), rel=0.01)


def test_it_forgets_and_attention_does_not() -> None:
    app = run("sequences", tokens=64)
    said = words(app)
    assert ratio(said, "recurrence") < 1e-6
    assert ratio(said, "attention") > 0.05
    spec = specs(app)[0]
    assert spec["layout"]["yaxis"]["type"] == "log"
    assert [trace["name"] for trace in spec["data"]] == ["recurrence", "attention"]


@pytest.mark.parametrize(("length", "width"), [(32, 64), (2048, 64), (100, 7)])
def test_costs_move_with_the_sizes(length: int, width: int) -> None:
    said = words(run("sequences", length=length, width=width, kernel="5"))
    assert f"n² · d = {length**2 * width:,} 1 1" in said
    assert f"n · d² = {length * width**2:,} {length:,} {length:,}" in said
    assert f"k · n · d² = {5 * length * width**2:,} 1 {-(-(length - 1) // 2):,}" in said


@pytest.mark.parametrize(("layers", "at"), [(1, 8), (3, 2)])
def test_what_an_output_depends_on(layers: int, at: int) -> None:
    said = words(run("sequences", layers=layers, position=at))
    assert "attention: 17" in said
    assert f"recurrence, left to right: {at + 1}" in said
    assert f"convolution: {sum(abs(n - at) <= layers for n in range(17))}" in said
